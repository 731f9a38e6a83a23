"""Whether what was given can be a log at all; if not, what it is and what was expected."""

from __future__ import annotations

import math
import os
from pathlib import Path

from semibandit._util.checks import is_number, shortened
from semibandit.data.catalogue import SOURCE
from semibandit.data.open_bandit import LOGS, NAME, is_open_bandit
from semibandit.errors import FileError, InputError

__all__ = ["check_log", "check_times"]

EXPECTED = (
    "the log of a service: its store (a folder or postgresql://...), or a .jsonl or .parquet file "
    "of `semibandit export`"
)
KNOWN = {
    ".npz": "the file of a learner or of a data set (a learner can be judged: --policy {})",
    ".csv": "a table",
    ".html": "a page",
    ".png": "a picture",
    ".svg": "a picture",
    ".json": "a JSON file, not JSON Lines",
}


def check_log(log: object) -> None:
    """Raise an error if this cannot be a log.

    Raises
    ------
    InputError
        If it is no name of a log, or that of something else.
    FileError
        If it is a file of another kind, or an empty one.
    MissingFile
        If it is a name of nothing.
    """
    if not isinstance(log, str | os.PathLike):
        raise InputError(f"log = {shortened(log)}, but it must be {EXPECTED}")
    name = os.fspath(log)
    if not isinstance(name, str):
        raise InputError(f"log = {shortened(name)}, but it must be {EXPECTED}")
    path = Path(name)
    if is_open_bandit(name):
        if name.lower() not in LOGS:
            raise InputError(f"{name!r} is no log of {NAME}: there are {', '.join(LOGS)}")
    elif path.is_file():
        _check_file(path)
    elif not path.exists() and name.lower() in SOURCE.names:
        raise InputError(
            f"{name} is a data set with the relevant labels of each row, not a log: replay it "
            f"(`semibandit replay {name}`). Expected {EXPECTED}"
        )


def check_times(**times: float | None) -> None:
    """Raise an `InputError` if one of these is not a time in seconds since 1970."""
    for name, at in times.items():
        if at is not None and (not is_number(at) or math.isnan(at)):
            raise InputError(
                f"{name} = {shortened(at)}, but it must be a time in seconds since 1970, such as "
                "time.time() - 86400"
            )


def _check_file(path: Path) -> None:
    if path.suffix not in (".jsonl", ".parquet"):
        what = KNOWN.get(path.suffix, "a file of another kind").format(path)
        raise FileError(f"{path} is {what}. Expected {EXPECTED}")
    if not path.stat().st_size:
        raise FileError(f"{path} is empty: not even the head of a log is in it")
