"""What the readers share: finding and naming files, saying where a mistake is, the data set."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from semibandit.data.dataset import Columns, Dataset, Matrix
from semibandit.errors import FileError, InputError, MissingFile

__all__ = [
    "check_columns",
    "dataset_from",
    "dataset_name",
    "existing_file",
    "find_test_file",
    "line_error",
    "read_text",
    "train_and_test",
]


MOST_COLUMNS = 1 << 24  # that any file may have; a larger file may have one for each of its bytes


def check_columns(path: Path, columns: int, what: str) -> None:
    """Raise a `FileError` if a file has more columns than can be meant: learners make room for all.

    Parameters
    ----------
    path : path
        The file.
    columns : int
        How many it says that there are, or the number of the last one.
    what : str
        What they are: "features" or "labels".
    """
    most = max(MOST_COLUMNS, path.stat().st_size)
    if columns > most:
        raise FileError(f"{path.name} has {columns} {what}, and no more than {most} are read")


def existing_file(path: str | os.PathLike[str]) -> Path:
    """The path, or `MissingFile` if there is no such file."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder, expected a file")
    if not path.exists():
        raise MissingFile(f"there is no file {path}")
    return path


def train_and_test(
    path: str | os.PathLike[str], test: str | os.PathLike[str] | None
) -> tuple[Path, ...]:
    """The file, and the file for testing: the given one, or the one whose name says so, if any."""
    train = existing_file(path)
    other = existing_file(test) if test is not None else find_test_file(train)
    return (train,) if other is None else (train, other)


def find_test_file(path: Path) -> Path | None:
    """x-test.arff beside x-train.arff, test.txt beside train.txt; None if there is none."""
    stem = re.sub(r"train(?!.*train)|trn(?!.*trn)", "test", path.stem, flags=re.IGNORECASE)
    for name in (stem, stem.replace("test", "tst")):
        other = path.with_name(name + path.suffix)
        if name != path.stem and other.exists():
            return other
    return None


def dataset_name(path: Path) -> str:
    """The name for a file's data set: x for x-train.arff, the folder's name for train.txt."""
    stem = re.sub(r"[-_. ]?(train|trn|data)$", "", path.stem, flags=re.IGNORECASE)
    return stem or path.resolve().parent.name or path.stem


def read_text(path: Path) -> str:
    """The file's text as UTF-8, or as Latin-1 if it is not UTF-8."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def line_error(path: Path, line: int, what: object) -> FileError:
    """The error that names the file, the line and the mistake."""
    return FileError(f"{path.name}, line {line}: {what}")


def dataset_from(
    paths: Sequence[Path],
    matrices: Sequence[tuple[Matrix, Matrix]],
    *,
    name: str | None = None,
    feature_names: tuple[str, ...] = (),
    label_names: tuple[str, ...] = (),
    source: str | None = None,
    columns: Sequence[Columns] = (),
) -> Dataset:
    """The data set of (X, Y) for training and, if there is a second pair, (X, Y) for testing.

    What `Dataset` refuses came out of the files here, so that it is a `FileError` that names them.
    """
    files = " and ".join(path.name for path in paths)
    X_test, Y_test = matrices[1] if len(matrices) == 2 else (None, None)
    try:
        return Dataset(
            name or dataset_name(paths[0]),
            *matrices[0],
            X_test,
            Y_test,
            feature_names=feature_names,
            label_names=label_names,
            source=source or files,
            columns_train=columns[0] if columns else None,
            columns_test=columns[1] if len(columns) == 2 else None,
        )
    except InputError as error:
        raise FileError(f"{files}: {error}") from None
