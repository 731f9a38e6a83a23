"""Multilabel svmlight: "label,label feature:value ... # comment", one row per line."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from semibandit.data.dataset import Dataset, Matrix
from semibandit.data.formats.files import check_columns, dataset_from, line_error, train_and_test
from semibandit.data.formats.sparse_rows import SparseRows, dense_labels, parse_row
from semibandit.errors import FileError, InputError

__all__ = ["read_svmlight"]


def read_svmlight(
    path: str | os.PathLike[str],
    *,
    test: str | os.PathLike[str] | None = None,
    n_features: int | None = None,
    zero_based: bool | None = None,
    name: str | None = None,
) -> Dataset:
    """Read a multilabel svmlight file. X is sparse; `qid:` words are ignored.

    Parameters
    ----------
    path : path
        The file, with the rows for training.
    test : path, optional
        The file with the rows for testing. By default x-test.svm for x-train.svm, if it is there.
    n_features : int, optional
        The number of features. By default the largest that occurs.
    zero_based : bool, optional
        Whether features are counted from 0. By default they are if feature 0 occurs.
    name : str, optional
        The name of the data set. By default it follows from the file's name.

    Returns
    -------
    Dataset
        Its labels are those that occur, ordered as numbers, then as words.

    Raises
    ------
    FileError
        If a line is not of this format, or there are no rows or no labels.
    MissingFile
        If there is no such file.
    InputError
        If `n_features` or `zero_based` contradict the file.
    """
    paths = train_and_test(path, test)
    tables = [_read_rows(p) for p in paths]
    used = [c for X, _ in tables for c in X.columns]
    first = 0 if (min(used, default=1) == 0 if zero_based is None else zero_based) else 1
    if used and min(used) < first:
        raise InputError("zero_based = False, but feature 0 occurs")
    d = max(used, default=first) + 1 - first
    if n_features is not None and n_features < d:
        raise InputError(f"n_features = {n_features}, but {d} occur")
    if n_features is None:
        for path, (X, _) in zip(paths, tables, strict=True):
            check_columns(path, X.width - first, "features")
    names = sorted({label for _, rows in tables for row in rows for label in row}, key=_order)
    if not names:
        raise FileError(f"{paths[0].name} has no labels at all")
    labels = dense_labels([_label_matrix(rows, names) for _, rows in tables])
    contexts = [X.matrix(n_features or d, first=first) for X, _ in tables]
    return dataset_from(
        paths,
        [*zip(contexts, labels, strict=True)],
        name=name,
        label_names=tuple(names),
    )


def _read_rows(path: Path) -> tuple[SparseRows, list[list[str]]]:
    X, labels = SparseRows(), []
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            row = line.partition("#")[0].rstrip()
            if not row:
                continue  # a comment, or nothing
            try:
                words = [word for word in row.split() if not word.startswith("qid:")]
                first, columns, values = parse_row(words)
                X.add(columns, values)
            except FileError as error:
                raise line_error(path, number, error) from None
            labels.append([_plain(label) for label in first.split(",") if label])
    if not labels:
        raise FileError(f"{path.name} has no rows")
    return X, labels


def _label_matrix(rows: list[list[str]], names: list[str]) -> Matrix:
    column = {label: j for j, label in enumerate(names)}
    Y = SparseRows()
    for row in rows:
        places = sorted({column[label] for label in row})
        Y.add(places, [1.0] * len(places))
    return Y.matrix(len(names), np.uint8)


def _plain(label: str) -> str:
    """1 for +1 and 1.0: the same label, however it is written."""
    try:
        number = float(label)
    except ValueError:
        return label
    return str(int(number)) if number.is_integer() else label


def _order(label: str) -> tuple[int, float, str]:
    try:
        return 0, float(label), label
    except ValueError:
        return 1, 0.0, label
