"""The extreme-classification text format: "n d K", then "label,label feature:value ..." a row."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from semibandit._util.arrays import Ints
from semibandit.data.dataset import Dataset, Matrix
from semibandit.data.formats.text import Rows, at, called, held_out
from semibandit.errors import InputError

__all__ = ["read_extreme"]


def read_extreme(
    path: str | os.PathLike[str],
    *,
    split: int = 0,
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
) -> Dataset:
    """The data set of such a file; X and Y sparse, both counted from 0.

    split  which column of the split files (x_trSplit.txt and x_tstSplit.txt, beside x_data.txt) to
           take; without such files everything is for training
    test   a second file, the test part; by default test.txt for train.txt
    """
    path = Path(path)
    X, Y = _rows(path)
    beside = Path(test) if test is not None else held_out(path)
    if beside is not None:
        X_test, Y_test = _rows(beside)
        parts, source = (X, Y, X_test, Y_test), f"{path.name} and {beside.name}"
    elif splits := _split_files(path):
        train, held = (_places(file, split, X.shape[0]) for file in splits)
        parts, source = (X[train], Y[train], X[held], Y[held]), f"{path.name}, split {split}"
    else:
        parts, source = (X, Y, None, None), path.name
    return Dataset(name or called(path), *parts, source=source)


def _rows(path: Path) -> tuple[Matrix, Matrix]:
    with path.open(encoding="utf-8-sig") as file:
        header = file.readline().split()
        try:
            n, d, K = (int(word) for word in header)
        except ValueError:
            at(path, 1, f"expected 'rows features labels', found {' '.join(header)[:40]!r}")
        X, Y = Rows(), Rows()
        for number, line in enumerate(file, 2):
            if len(X) == n:
                if line.strip():
                    at(path, number, f"more rows than the {n} that the first line says")
                continue
            try:
                labels, columns, values = _row(line)
                Y.add(labels, (1 for _ in labels))
                X.add(columns, values)
            except ValueError as why:
                at(path, number, str(why))
            for rows, width, what in ((X, d, "feature"), (Y, K, "label")):
                if rows.width > width:
                    at(path, number, f"{what} {rows.width - 1}, but the first line says {width}")
    if len(X) < n:
        raise InputError(f"{path.name} is cut off: {len(X)} rows of the {n} that it says")
    return X.matrix(d), Y.matrix(K, np.uint8)


def _row(line: str) -> tuple[list[int], list[int], list[float]]:
    words = line.split()
    first = words.pop(0) if words and ":" not in words[0] else ""
    try:
        labels = [int(label) for label in first.split(",") if label]
        pairs = [word.split(":") for word in words]
        columns, values = [int(c) for c, _ in pairs], [float(v) for _, v in pairs]
    except ValueError:
        raise InputError(
            f"expected 'label,label feature:value ...', found {line.strip()[:60]!r}"
        ) from None
    if min(labels, default=0) < 0 or min(columns, default=0) < 0:
        raise InputError("labels and features are counted from 0, found one below")
    return labels, columns, values


def _split_files(path: Path) -> tuple[Path, Path] | None:
    """The files that say which rows are for training and which for testing."""
    stem = called(path).lower()
    found = {}
    for part, words in (("train", "tr|trn|train"), ("test", "ts|tst|test")):
        pattern = re.compile(rf"(.*?)[-_. ]?({words})[-_]?splits?\.txt")
        for file in sorted(path.parent.iterdir()):
            match = pattern.fullmatch(file.name.lower())
            if match and match[1] in (stem, ""):
                found[part] = file
    return (found["train"], found["test"]) if len(found) == 2 else None


def _places(path: Path, split: int, n: int) -> Ints:
    """The rows that column `split` names; the file counts from 1."""
    chosen = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if not 0 <= split < len(words):
            at(path, number, f"split = {split}, but there are {len(words)}, counted from 0")
        if not words[split].isdigit() or not 1 <= int(words[split]) <= n:
            at(path, number, f"expected a row from 1 to {n}, found {words[split]!r}")
        chosen.append(int(words[split]) - 1)
    return np.array(chosen, dtype=np.intp)
