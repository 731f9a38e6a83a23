"""The extreme-classification text format: "n d K", then "label,label feature:value ..." per row."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from semibandit._util.arrays import Ints
from semibandit._util.checks import shortened
from semibandit.data.dataset import Dataset, Matrix
from semibandit.data.formats.files import (
    check_columns,
    dataset_from,
    dataset_name,
    line_error,
    read_text,
    train_and_test,
)
from semibandit.data.formats.sparse_rows import SparseRows, parse_row
from semibandit.errors import FileError, InputError

__all__ = ["read_extreme"]


def read_extreme(
    path: str | os.PathLike[str],
    *,
    split: int = 0,
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
) -> Dataset:
    """Read a file of the extreme-classification repository. X and Y are sparse.

    Parameters
    ----------
    path : path
        The file, with labels and features counted from 0.
    split : int
        Which column of the split files (x_trSplit.txt and x_tstSplit.txt, beside x_data.txt) to
        use. If there are no such files, all rows are for training.
    test : path, optional
        The file with the rows for testing. By default test.txt for train.txt, if it is there.
    name : str, optional
        As for `read_csv`.

    Returns
    -------
    Dataset
        Without names: the format has none.

    Raises
    ------
    FileError
        If a line is not of this format, or the file has other numbers than its first line says.
    MissingFile
        If there is no such file.
    InputError
        If the split files have no column `split`.
    """
    paths = train_and_test(path, test)
    matrices = [_read_rows(p) for p in paths]
    source = None
    if len(paths) == 1 and (splits := _split_files(paths[0])):
        X, Y = matrices[0]
        chosen = [_split_rows(file, split, X.shape[0]) for file in splits]
        matrices = [(X[rows], Y[rows]) for rows in chosen]
        source = f"{paths[0].name}, split {split}"
    return dataset_from(paths, matrices, name=name, source=source)


def _read_rows(path: Path) -> tuple[Matrix, Matrix]:
    X, Y = SparseRows(), SparseRows()
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        n, d, K = _sizes(path, file.readline())
        for number, line in enumerate(file, 2):
            if len(X) == n:
                if line.strip():
                    raise line_error(path, number, f"more rows than the {n} of the first line")
                continue
            try:
                _add_row(line, X, Y)
            except FileError as error:
                raise line_error(path, number, error) from None
            for rows, width, what in ((X, d, "feature"), (Y, K, "label")):
                if rows.width > width:
                    what = f"{what} {rows.width - 1}, but the first line says {width}"
                    raise line_error(path, number, what)
    if len(X) < n:
        raise FileError(f"{path.name} is cut off: {len(X)} rows of the {n} that it says")
    return X.matrix(d), Y.matrix(K, np.uint8)


def _sizes(path: Path, header: str) -> tuple[int, int, int]:
    words = header.split()
    if len(words) != 3 or not all(map(_is_count, words)):
        found = " ".join(words)[:40]
        raise line_error(path, 1, f"expected 'rows features labels', found {found!r}")
    n, d, K = map(int, words)
    check_columns(path, d, "features")
    check_columns(path, K, "labels")
    return n, d, K


def _is_count(word: str) -> bool:
    return word.isdecimal() and len(word) < 19  # so that it fits into 64 bits


def _add_row(line: str, X: SparseRows, Y: SparseRows) -> None:
    first, columns, values = parse_row(line.split())
    words = [word for word in first.split(",") if word]
    try:
        labels = [int(word) for word in words]
    except ValueError:
        raise FileError(
            f"expected 'label,label feature:value ...', found {shortened(first)}"
        ) from None
    if min(labels, default=0) < 0 or min(columns, default=0) < 0:
        raise FileError("labels and features are counted from 0, found a negative number")
    Y.add(labels, [1.0] * len(labels))
    X.add(columns, values)


def _split_files(path: Path) -> tuple[Path, Path] | None:
    """The files that say which rows are for training and which for testing."""
    stem = dataset_name(path).lower()
    found = {}
    for part, words in (("train", "tr|trn|train"), ("test", "ts|tst|test")):
        pattern = re.compile(rf"(.*?)[-_. ]?({words})[-_]?splits?\.txt")
        for file in sorted(path.parent.iterdir()):
            match = pattern.fullmatch(file.name.lower())
            if match and match[1] in (stem, ""):
                found[part] = file
    return (found["train"], found["test"]) if len(found) == 2 else None


def _split_rows(path: Path, split: int, n: int) -> Ints:
    """The rows that column `split` names; the file counts from 1."""
    chosen = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if not 0 <= split < len(words):
            raise InputError(
                f"split = {split}, but {path.name}, line {number}, has {len(words)} columns, "
                "counted from 0"
            )
        if not _is_count(words[split]) or not 1 <= int(words[split]) <= n:
            raise line_error(
                path, number, f"expected a row from 1 to {n}, found {words[split][:40]!r}"
            )
        chosen.append(int(words[split]) - 1)
    return np.array(chosen, dtype=np.intp)
