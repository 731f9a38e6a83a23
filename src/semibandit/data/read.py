"""Any data set, by its name or from a file: the reader is chosen by what the file is."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from semibandit.data import catalogue
from semibandit.data.dataset import Dataset
from semibandit.data.download import fetch
from semibandit.data.formats import arff, dump, extreme, npz, svmlight, table
from semibandit.data.formats.dump import Watch
from semibandit.data.formats.text import called, held_out
from semibandit.errors import InputError

__all__ = ["kind_of", "read_dataset"]

Reader: TypeAlias = Callable[..., Dataset]
READERS: dict[str, tuple[Reader, tuple[str, ...]]] = {  # and the options that each takes
    "npz": (npz.read_npz, ()),
    "arff": (arff.read_arff, ("name", "labels", "test", "xml")),
    "extreme": (extreme.read_extreme, ("name", "test", "split")),
    "svmlight": (svmlight.read_svmlight, ("name", "test")),
    "csv": (table.read_csv, ("name", "labels", "test", "split")),
    "parquet": (table.read_parquet, ("name", "labels", "test", "split")),
    "dump": (dump.read_dump, ("watch",)),
    "archive": (dump.read_archive, ("name", "watch")),
}
MAGIC = {b"PK\x03\x04": "npz", b"PAR1": "parquet", b"BZh": "dump", b"\x1f\x8b": "archive"}
SUFFIXES = {
    **dict.fromkeys((".txt", ".svm", ".svmlight", ".libsvm"), ("extreme", "svmlight")),
    ".npz": ("npz",),
    ".arff": ("arff",),
    ".csv": ("csv",),
    ".tsv": ("csv",),
    ".parquet": ("parquet",),
    ".bz2": ("dump",),
    ".gz": ("archive",),
}


def read_dataset(
    what: str | os.PathLike[str],
    *,
    name: str | None = None,
    labels: Sequence[str] | str | int | None = None,
    test: str | os.PathLike[str] | None = None,
    split: str | int | None = None,
    xml: str | os.PathLike[str] | None = None,
    watch: Watch | None = None,
) -> Dataset:
    """The data set that `what` names: one of the catalogue's (fetched once), a file, or a folder.

    what    "mediamill" or another name of `semibandit data list`; or a file: .npz, Mulan's ARFF,
            the extreme-classification text format, multilabel svmlight, CSV or Parquet, the source
            package or one of its members; or a folder with one of these
    name    what to call it; of an archive or a folder with several, which one to take
    labels  ARFF, CSV, Parquet: which columns are labels: names, patterns, or how many (the last)
    test    the test part, where it is another file that is not called like the first
    split   CSV, Parquet: the column that says train or test; extreme: which of the splits, from 0
    xml     ARFF: the file that names the labels, where it is not called like the first
    watch   called with what is being done, how far, and of how much
    """
    given = {"labels": labels, "test": test, "split": split, "xml": xml}
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    path = Path(what)
    if not path.exists():
        if isinstance(what, str) and what.lower() in [k.name for k in catalogue.SOURCE.sets]:
            _refuse(options, what, "a set of the catalogue", ())
            return fetch.get(what, watch)
        names = ", ".join(known.name for known in catalogue.SOURCE.sets)
        raise InputError(f"{os.fspath(what)!r} is neither a file nor one of {names}")
    if path.is_dir():
        path = _in_folder(path, name)
    kind = kind_of(path)
    reader, takes = READERS[kind]
    _refuse(options, path.name, f"read as {kind}", takes)
    if kind == "archive" and name is None:
        raise InputError(f"{path.name} holds several data sets: say which with name=")
    if kind in ("csv", "parquet") and labels is None:
        raise InputError(f"{path.name} is a table: say which columns are labels with labels=")
    if kind == "arff" and isinstance(labels, str):
        options["labels"] = [labels]
    options |= {k: v for k, v in (("name", name), ("watch", watch)) if k in takes and v is not None}
    return reader(path, **options)


def kind_of(path: Path) -> str:
    """What the file is, by what is in it: a key of READERS."""
    with path.open("rb") as file:
        head = file.read(65536)
    for magic, kind in MAGIC.items():
        if head.startswith(magic):
            return kind
    text = head.decode("utf-8-sig", errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    if b"\0" in head or not lines:
        raise InputError(f"{path.name} is {'empty' if not lines else 'of no format known here'}")
    if lines[0].lstrip().lower().startswith(("%", "@relation", "@attribute")):
        return "arff"
    if len(lines[0].split()) == 3 and all(word.isdigit() for word in lines[0].split()):
        return "extreme"
    rows = [line for line in lines if not line.startswith("#")]
    words = rows[0].partition("#")[0].split() if rows else []
    if any(":" in word for word in words) and all(":" in word for word in words[1:]):
        return "svmlight"
    if any(separator in lines[0] for separator in ",;\t"):
        return "csv"
    raise InputError(f"{path.name} is of no format known here: it starts {lines[0][:40]!r}")


def _refuse(options: dict[str, Any], what: str, kind: str, takes: tuple[str, ...]) -> None:
    for key in options:
        if key not in takes:
            raise InputError(f"{key}= does not apply: {what} is {kind}")


def _in_folder(folder: Path, name: str | None) -> Path:
    """The one data set in a folder, or the one called `name`; those with a test part come first."""
    found = [path for path in sorted(folder.iterdir()) if _is_data(path)]
    tests = {_partner(path) for path in found} - {None}
    found = [path for path in found if path not in tests]
    if any(_partner(path) for path in found):
        found = [path for path in found if _partner(path) or path.name.endswith(dump.TRAIN)]
    if name is not None and len(found) > 1:
        found = [path for path in found if _called(path) == name.lower()] or found
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(f"{folder} holds no data set of a format known here")
    names = ", ".join(path.name for path in found[:9])
    raise InputError(f"{folder} holds several data sets ({names}): name one, or its file")


def _is_data(path: Path) -> bool:
    allowed = SUFFIXES.get(path.suffix.lower(), ())
    try:
        return path.is_file() and bool(allowed) and kind_of(path) in allowed
    except ValueError:
        return False


def _partner(path: Path) -> Path | None:
    if path.name.endswith(dump.TRAIN):
        other = path.with_name(path.name.replace(dump.TRAIN, dump.TEST))
        return other if other.exists() else None
    return held_out(path)


def _called(path: Path) -> str:
    return called(Path(path.name.removesuffix(dump.SUFFIX))).lower()
