"""Multilabel svmlight: "label,label feature:value ... # comment", a row each."""

from __future__ import annotations

import os
from array import array
from pathlib import Path

import numpy as np

from semibandit.data.dataset import Dataset
from semibandit.data.formats.text import Rows, at, called, held_out
from semibandit.errors import InputError

__all__ = ["read_svmlight"]


def read_svmlight(
    path: str | os.PathLike[str],
    *,
    test: str | os.PathLike[str] | None = None,
    n_features: int | None = None,
    zero_based: bool | None = None,
    name: str | None = None,
) -> Dataset:
    """The data set of such a file; X sparse. The labels that occur become columns, in order.

    test        a second file, the test part; by default x-test.svm for x-train.svm
    n_features  how many there are; by default as many as occur
    zero_based  whether features are counted from 0; by default, if a 0 occurs

    `qid:` words are passed over.
    """
    paths = [Path(path)]
    beside = Path(test) if test is not None else held_out(paths[0])
    if beside is not None:
        paths.append(beside)
    parts = [_rows(p) for p in paths]
    found = [c for X, _ in parts for c in X.columns]
    first = 0 if (min(found, default=1) == 0 if zero_based is None else zero_based) else 1
    if found and min(found) < first:
        raise InputError("feature 0 occurs, but zero_based=False says that they start at 1")
    d = max(found, default=first) + 1 - first
    if n_features is not None and n_features < d:
        raise InputError(f"n_features = {n_features}, but {d} occur")
    names = sorted({label for _, rows in parts for row in rows for label in row}, key=_order)
    if not names:
        raise InputError(f"{paths[0].name} has no labels at all")
    column = {label: j for j, label in enumerate(names)}
    X = [_shifted(rows, first).matrix(n_features or d) for rows, _ in parts]
    Y = [np.zeros((len(rows), len(names)), dtype=np.uint8) for _, rows in parts]
    for matrix, (_, rows) in zip(Y, parts, strict=True):
        for t, row in enumerate(rows):
            matrix[t, [column[label] for label in row]] = 1
    return Dataset(
        name or called(paths[0]),
        X[0],
        Y[0],
        X[1] if len(X) == 2 else None,
        Y[1] if len(Y) == 2 else None,
        label_names=tuple(names),
        source=" and ".join(p.name for p in paths),
    )


def _shifted(rows: Rows, first: int) -> Rows:
    """Columns counted from 0."""
    rows.columns = array("q", (c - first for c in rows.columns))
    return rows


def _rows(path: Path) -> tuple[Rows, list[list[str]]]:
    X, labels = Rows(), []
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            row = line.partition("#")[0].rstrip()
            if not row:
                continue  # a comment, or nothing
            words = row.split()
            first = words.pop(0) if ":" not in words[0] else ""
            try:
                pairs = [word.split(":") for word in words if not word.startswith("qid:")]
                columns, values = [int(c) for c, _ in pairs], [float(v) for _, v in pairs]
            except ValueError:
                at(path, number, f"expected 'label,label feature:value ...', found {row[:60]!r}")
            if min(columns, default=0) < 0:
                at(path, number, f"feature {min(columns)}; they are counted from 0 or 1")
            try:
                X.add(columns, values)
            except ValueError as why:
                at(path, number, str(why))
            labels.append([_plain(label) for label in first.split(",") if label])
    if not labels:
        raise InputError(f"{path.name} has no rows")
    return X, labels


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
