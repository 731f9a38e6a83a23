"""Tables with label columns: CSV, and Parquet if pyarrow is installed."""

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
from semibandit._util.checks import nearest
from semibandit.data.dataset import Dataset
from semibandit.data.formats.files import (
    dataset_from,
    existing_file,
    line_error,
    read_text,
    train_and_test,
)
from semibandit.errors import FileError, InputError, MissingExtra

__all__ = ["read_csv", "read_parquet"]

Columns: TypeAlias = dict[str, Array]
LabelColumns: TypeAlias = Sequence[str] | str | int
TRUTH_VALUES = {"true": 1.0, "false": 0.0}


def read_csv(
    path: str | os.PathLike[str], *, labels: LabelColumns, split: str | None = None,
    test: str | os.PathLike[str] | None = None, name: str | None = None,
) -> Dataset:  # fmt: skip
    """Read a table whose first line names the columns, separated by commas, semicolons or tabs.

    Parameters
    ----------
    path : path
        The file. Every column that is not a label is a feature, and must hold numbers.
    labels : names, patterns or int
        Which columns are labels (0 and 1, or true and false): their names, patterns such as
        "label_*", or how many of the last columns.
    split : str, optional
        The column that has "train" or "test" in each row.
    test : path, optional
        The file with the rows for testing. By default x-test.csv for x-train.csv, if it is there
        and there is no `split`.
    name : str, optional
        The name of the data set. By default it follows from the file's name.

    Returns
    -------
    Dataset
        The data set, with the names of its features and labels.

    Raises
    ------
    FileError
        If the file is not such a table.
    MissingFile
        If there is no such file.
    InputError
        If a column in `labels` or `split` does not exist, or both `split` and `test` are given.
    """
    return _read_table(path, _csv_columns, labels, split, test, name)


def read_parquet(
    path: str | os.PathLike[str], *, labels: LabelColumns, split: str | None = None,
    test: str | os.PathLike[str] | None = None, name: str | None = None,
) -> Dataset:  # fmt: skip
    """Read a Parquet file; it needs pyarrow (`pip install 'semibandit[data]'`).

    The parameters, the result and the errors are those of `read_csv`.

    Raises
    ------
    MissingExtra
        If pyarrow is not installed.
    """
    return _read_table(path, _parquet_columns, labels, split, test, name)


def _read_table(
    path: str | os.PathLike[str],
    read: Callable[[Path, str | None], Columns],
    labels: LabelColumns,
    split: str | None,
    test: str | os.PathLike[str] | None,
    name: str | None,
) -> Dataset:
    """`read` gives the columns of a file; the one called `split` may hold words."""
    if split is not None and test is not None:
        raise InputError(f"split = {split!r} and test = {os.fspath(test)!r}: give one of them")
    paths = train_and_test(path, test) if split is None else (existing_file(path),)
    tables = [read(p, split) for p in paths]
    columns = [column for column in tables[0] if column != split]
    if split is not None:
        tables = list(_divide(paths[0], tables[0], split))
    elif len(tables) == 2 and set(tables[0]) != set(tables[1]):
        odd = sorted(set(tables[0]) ^ set(tables[1]))[0]
        raise FileError(f"{paths[0].name} and {paths[1].name} differ in column {odd!r}")
    chosen = _choose(paths[0], columns, labels)
    features = [column for column in columns if column not in set(chosen)]
    if not features:
        raise InputError(f"{paths[0].name} has no columns but labels: there are no features")
    return dataset_from(
        paths,
        [(_stack(table, features), _stack(table, chosen)) for table in tables],
        name=name,
        feature_names=tuple(features),
        label_names=tuple(chosen),
    )


def _stack(table: Columns, columns: list[str]) -> Array:
    return np.column_stack([table[column] for column in columns])


def _choose(path: Path, columns: list[str], labels: LabelColumns) -> list[str]:
    """The label columns: those of a pattern in the file's order, others as they were named."""
    if isinstance(labels, int):
        if not 0 < labels < len(columns):
            raise InputError(f"labels = {labels}, but {path.name} has {len(columns)} columns")
        return columns[-labels:]
    chosen: list[str] = []
    for label in [labels] if isinstance(labels, str) else labels:
        found = [label] if label in columns else [c for c in columns if fnmatchcase(c, label)]
        if not found:
            some = ", ".join(columns[:8]) + (", ..." if len(columns) > 8 else "")
            suggestion = nearest(label, columns)
            raise InputError(f"{path.name} has no column {label!r}; it has {some}{suggestion}")
        chosen += [column for column in found if column not in chosen]
    return chosen


def _divide(path: Path, table: Columns, split: str) -> tuple[Columns, Columns]:
    """The rows for training and those for testing, without the column that says which."""
    if split not in table:
        raise InputError(f"{path.name} has no column {split!r} to split by{nearest(split, table)}")
    part = np.char.lower(table[split].astype(str))
    wrong = part[(part != "train") & (part != "test")]
    if wrong.size:
        raise FileError(f"{path.name}: {split!r} holds {str(wrong[0])!r}, expected train or test")
    rest = {name: column for name, column in table.items() if name != split}
    train, test = (
        {name: column[part == word] for name, column in rest.items()} for word in ("train", "test")
    )
    return train, test


def _csv_columns(path: Path, split: str | None) -> Columns:
    text = read_text(path)
    separator = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    try:
        header = [name.strip() for name in next(reader, [])]
        if not header or len(set(header)) != len(header):
            raise FileError(f"{path.name} needs a first line with a name for each column")
        for row in reader:
            if row and len(row) != len(header):
                what = f"{len(row)} values for {len(header)} columns"
                raise line_error(path, reader.line_num, what)
            if row:
                rows.append(row)
    except csv.Error as error:
        raise line_error(path, reader.line_num, error) from None
    if not rows:
        raise FileError(f"{path.name} has no rows")
    columns = zip(header, zip(*rows, strict=True), strict=True)
    return {
        name: np.array(values) if name == split else _numbers(path, name, values)
        for name, values in columns
    }


def _numbers(path: Path, name: str, values: Sequence[str]) -> Array:
    numbers = []
    for row, text in enumerate(values, 1):
        word = text.strip().lower()
        try:
            numbers.append(TRUTH_VALUES[word] if word in TRUTH_VALUES else float(word))
        except ValueError:
            found = repr(text) if word else "empty"
            raise FileError(
                f"{path.name}, row {row}: column {name!r} is {found}, expected a number"
            ) from None
    return np.array(numbers)


def _parquet_columns(path: Path, split: str | None) -> Columns:
    try:
        import pyarrow.parquet
        from pyarrow import ArrowException
    except ImportError:
        raise MissingExtra(
            f"{path.name} is Parquet, which needs pyarrow: pip install 'semibandit[data]'"
        ) from None
    try:
        table = pyarrow.parquet.read_table(path)
    except (ArrowException, OSError) as error:
        raise FileError(f"{path.name} is not a complete Parquet file: {error}") from None
    columns: Columns = {}
    for name in table.column_names:
        column = table.column(name)
        if column.null_count:
            raise FileError(f"{path.name}: column {name!r} has {column.null_count} empty values")
        values = column.to_numpy()
        if name != split and values.dtype.kind not in "biuf":
            raise FileError(f"{path.name}: column {name!r} is {column.type}, expected numbers")
        columns[name] = values.astype(str) if name == split else values
    return columns
