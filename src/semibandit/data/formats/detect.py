"""Which format a file has, by its content, and which file of a folder is its data set."""

from __future__ import annotations

from pathlib import Path

from semibandit.data.formats.dump import SUFFIX, TRAIN, find_test_dump
from semibandit.data.formats.files import dataset_name, existing_file, find_test_file
from semibandit.errors import FileError, InputError

__all__ = ["detect_format", "find_in_folder"]

MAGIC = {b"PK\x03\x04": "npz", b"PAR1": "parquet", b"BZh": "dump", b"\x1f\x8b": "archive"}
SUFFIXES = {  # in a folder, files with these suffixes and formats are data
    **dict.fromkeys((".txt", ".svm", ".svmlight", ".libsvm"), ("extreme", "svmlight")),
    ".npz": ("npz",),
    ".arff": ("arff",),
    ".csv": ("csv",),
    ".tsv": ("csv",),
    ".parquet": ("parquet",),
    ".bz2": ("dump",),
    ".gz": ("archive",),
}


def detect_format(path: Path) -> str:
    """The format of a file, by its content: a key of `read.READERS`.

    Raises
    ------
    FileError
        If it is empty, or of no known format.
    MissingFile
        If there is no such file.
    """
    with existing_file(path).open("rb") as file:
        head = file.read(65536)
    for magic, format_ in MAGIC.items():
        if head.startswith(magic):
            return format_
    lines = [
        line for line in head.decode("utf-8-sig", errors="replace").splitlines() if line.strip()
    ]
    if b"\0" in head or not lines:
        raise FileError(f"{path.name} is {'empty' if not lines else 'of no known format'}")
    found = _detect_text(lines)
    if found is None:
        raise FileError(f"{path.name} is of no known format: it starts {lines[0][:40]!r}")
    return found


def _detect_text(lines: list[str]) -> str | None:
    if lines[0].lstrip().lower().startswith(("%", "@relation", "@attribute")):
        return "arff"
    if len(lines[0].split()) == 3 and all(word.isdigit() for word in lines[0].split()):
        return "extreme"
    rows = [line for line in lines if not line.startswith("#")]
    words = rows[0].partition("#")[0].split() if rows else []
    if any(":" in word for word in words) and all(":" in word for word in words[1:]):
        return "svmlight"
    return "csv" if any(separator in lines[0] for separator in ",;\t") else None


def find_in_folder(folder: Path, name: str | None) -> Path:
    """The one data set in a folder, or the one called `name`; those with a test file come first.

    Raises
    ------
    FileError
        If no file has a known format.
    InputError
        If there are several data sets, and `name` is of none of them.
    """
    found = [path for path in sorted(folder.iterdir()) if _is_data(path)]
    tests = {_test_file(path) for path in found} - {None}
    found = [path for path in found if path not in tests]
    if any(_test_file(path) for path in found):
        found = [path for path in found if _test_file(path) or path.name.endswith(TRAIN)]
    if name is not None and len(found) > 1:
        found = [path for path in found if _name(path) == name.lower()] or found
    if len(found) == 1:
        return found[0]
    if not found:
        raise FileError(f"{folder} holds no data set of a known format")
    names = ", ".join(path.name for path in found[:9])
    raise InputError(f"{folder} holds several data sets ({names}): give name=, or the file")


def _is_data(path: Path) -> bool:
    allowed = SUFFIXES.get(path.suffix.lower(), ())
    try:
        return path.is_file() and bool(allowed) and detect_format(path) in allowed
    except FileError:
        return False


def _test_file(path: Path) -> Path | None:
    return find_test_dump(path) if path.name.endswith(TRAIN) else find_test_file(path)


def _name(path: Path) -> str:
    return dataset_name(Path(path.name.removesuffix(SUFFIX))).lower()
