"""Tables with label columns: CSV, and Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

import numpy as np

from semibandit._util.arrays import Array
from semibandit.data.dataset import Dataset
from semibandit.data.formats.text import at, called, decode, held_out
from semibandit.errors import InputError

__all__ = ["read_csv", "read_parquet"]

Columns: TypeAlias = dict[str, Array]
WORDS = {"true": 1.0, "false": 0.0}


def read_csv(
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] | str | int,
    split: str | None = None,
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
) -> Dataset:
    """The data set of a table with a header; separated by commas, semicolons or tabs.

    labels  which columns are labels (0 and 1, true and false): their names, patterns such as
            "label_*", or how many (the last ones)
    split   a column that says "train" or "test"
    test    a second file, the test part; by default x-test.csv for x-train.csv

    Every other column is a feature, and must hold numbers.
    """
    return _dataset(Path(path), _csv, labels, split, test, name)


def read_parquet(
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] | str | int,
    split: str | None = None,
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
) -> Dataset:
    """The same of a Parquet file; needs pyarrow (`pip install 'semibandit[data]'`)."""
    return _dataset(Path(path), _parquet, labels, split, test, name)


def _dataset(
    path: Path,
    read: Callable[[Path, str | None], Columns],
    labels: Sequence[str] | str | int,
    split: str | None,
    test: str | os.PathLike[str] | None,
    name: str | None,
) -> Dataset:
    beside = Path(test) if test is not None else (None if split else held_out(path))
    table = read(path, split)
    parts = [table]
    if split is not None:
        parts = list(_divided(path, table, split))
    elif beside is not None:
        parts.append(read(beside, None))
        if set(parts[1]) != set(table):
            odd = sorted(set(parts[1]) ^ set(table))[0]
            raise InputError(f"{path.name} and {beside.name} differ in column {odd!r}")
    columns = [column for column in table if column != split]
    chosen = _chosen(path, columns, labels)
    features = [column for column in columns if column not in set(chosen)]
    if not features:
        raise InputError(f"{path.name} has no columns but labels: there are no features")
    X = [np.column_stack([part[c] for c in features]) for part in parts]
    Y = [np.column_stack([part[c] for c in chosen]) for part in parts]
    source = path.name if beside is None else f"{path.name} and {beside.name}"
    return Dataset(
        name or called(path),
        X[0],
        Y[0],
        X[1] if len(X) == 2 else None,
        Y[1] if len(Y) == 2 else None,
        feature_names=tuple(features),
        label_names=tuple(chosen),
        source=source,
    )


def _chosen(path: Path, columns: list[str], labels: Sequence[str] | str | int) -> list[str]:
    """The label columns, in the file's order for a pattern, else as they were named."""
    if isinstance(labels, int):
        if not 0 < labels < len(columns):
            raise InputError(f"labels = {labels}, but {path.name} has {len(columns)} columns")
        return columns[-labels:]
    chosen: list[str] = []
    for wanted in [labels] if isinstance(labels, str) else labels:
        found = [wanted] if wanted in columns else [c for c in columns if fnmatchcase(c, wanted)]
        if not found:
            shown = ", ".join(columns[:8]) + (", ..." if len(columns) > 8 else "")
            raise InputError(f"{path.name} has no column {wanted!r}; it has {shown}")
        chosen += [column for column in found if column not in chosen]
    return chosen


def _divided(path: Path, table: Columns, split: str) -> tuple[Columns, Columns]:
    if split not in table:
        raise InputError(f"{path.name} has no column {split!r} to split by")
    part = np.char.lower(table[split].astype(str))
    wrong = part[(part != "train") & (part != "test")]
    if wrong.size:
        raise InputError(f"{path.name}: {split!r} holds {str(wrong[0])!r}, expected train or test")
    rest = {name: column for name, column in table.items() if name != split}
    train, test = (
        {name: column[part == word] for name, column in rest.items()} for word in ("train", "test")
    )
    return train, test


def _csv(path: Path, words: str | None) -> Columns:
    text = decode(path)
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        if not header or len(set(header)) != len(header):
            raise InputError(f"{path.name} needs a first line with a name for each column")
        rows: list[list[str]] = []
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                at(path, reader.line_num, f"{len(row)} values for {len(header)} columns")
            rows.append(row)
    except csv.Error as why:
        at(path, reader.line_num, str(why))
    if not rows:
        raise InputError(f"{path.name} has no rows")
    columns = zip(header, zip(*rows, strict=True), strict=True)
    return {n: np.array(v) if n == words else _numbers(path, n, v) for n, v in columns}


def _numbers(path: Path, name: str, values: Sequence[str]) -> Array:
    numbers = []
    for row, text in enumerate(values, 1):
        try:
            word = text.strip().lower()
            numbers.append(WORDS[word] if word in WORDS else float(word))
        except ValueError:
            what = repr(text) if text.strip() else "empty"
            raise InputError(
                f"{path.name}, row {row}: column {name!r} is {what}, expected a number"
            ) from None
    return np.array(numbers)


def _parquet(path: Path, words: str | None) -> Columns:
    try:
        import pyarrow.parquet
        from pyarrow import ArrowException
    except ImportError:
        raise InputError(
            f"{path.name} is Parquet, which needs pyarrow: pip install 'semibandit[data]'"
        ) from None
    try:
        table = pyarrow.parquet.read_table(path)
    except (ArrowException, OSError) as why:
        raise InputError(f"{path.name} is not a whole Parquet file: {why}") from None
    columns: Columns = {}
    for name in table.column_names:
        column = table.column(name)
        if column.null_count:
            raise InputError(f"{path.name}: column {name!r} has {column.null_count} empty values")
        values = column.to_numpy()
        if name != words and values.dtype.kind not in "biuf":
            raise InputError(f"{path.name}: column {name!r} is {column.type}, expected numbers")
        columns[name] = values.astype(str) if name == words else values
    return columns
