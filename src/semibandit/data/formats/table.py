"""Tables with label columns: CSV, and Parquet if pyarrow is installed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from semibandit._util.arrays import Array, Bools
from semibandit._util.checks import listed, nearest, shortened
from semibandit.data.dataset import Dataset
from semibandit.data.formats.columns import Cells, csv_cells, parquet_cells
from semibandit.data.formats.files import dataset_from, existing_file, train_and_test
from semibandit.errors import FileError, InputError

__all__ = ["read_csv", "read_parquet"]

Table: TypeAlias = dict[str, Cells]
Part: TypeAlias = tuple[Array, Array, dict[str, list[Any]]]  # X, Y and columns that were kept
LabelColumns: TypeAlias = Sequence[str] | str | int
NOT_NUMBERS = "columns= (--features on the command line) reads categories, sets and empty cells"
JSON_VALUES = (str, int, float, bool, type(None))


def read_csv(
    path: str | os.PathLike[str], *, labels: LabelColumns, split: str | None = None,
    test: str | os.PathLike[str] | None = None, name: str | None = None,
    columns: Sequence[str] | str | None = None,
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
    columns : sequence of str or "all", optional
        These columns, or all that are not labels, are kept as they are, in `columns_train`, for a
        learner with named features; an empty cell is None. The others are ignored. With "all",
        a CSV column of numbers alone holds numbers, and a cell with a bar, a|b, is a list.

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
        If a column in `labels`, `split` or `columns` does not exist, or both `split` and `test` are
        given.
    """
    return _read_table(path, csv_cells, labels, split, test, name, columns)


def read_parquet(
    path: str | os.PathLike[str], *, labels: LabelColumns, split: str | None = None,
    test: str | os.PathLike[str] | None = None, name: str | None = None,
    columns: Sequence[str] | str | None = None,
) -> Dataset:  # fmt: skip
    """Read a Parquet file; it needs pyarrow (`pip install 'semibandit[data]'`).

    The parameters, the result and the errors are those of `read_csv`; null is None.

    Raises
    ------
    MissingExtra
        If pyarrow is not installed.
    """
    return _read_table(path, parquet_cells, labels, split, test, name, columns)


def _read_table(
    path: str | os.PathLike[str],
    read: Callable[[Path], Table],
    labels: LabelColumns,
    split: str | None,
    test: str | os.PathLike[str] | None,
    name: str | None,
    kept: Sequence[str] | str | None,
) -> Dataset:
    """`read` gives the columns of a file, as they are in it."""
    if split is not None and test is not None:
        raise InputError(f"split = {split!r} and test = {os.fspath(test)!r}: give one of them")
    paths = train_and_test(path, test) if split is None else (existing_file(path),)
    tables = [read(p) for p in paths]
    columns = [column for column in tables[0] if column != split]
    if len(tables) == 2 and set(tables[0]) != set(tables[1]):
        odd = sorted(set(tables[0]) ^ set(tables[1]))[0]
        raise FileError(f"{paths[0].name} and {paths[1].name} differ in column {odd!r}")
    chosen = _choose(paths[0], columns, labels)
    features = [column for column in columns if column not in set(chosen)]
    if kept is not None and kept != "all":
        features = _existing(paths[0], features, kept)
    if not features:
        raise InputError(f"{paths[0].name} has no columns but labels: there are no features")
    parts = [
        _part(p, table, features, chosen, kept) for p, table in zip(paths, tables, strict=True)
    ]
    if split is not None:
        parts = _divide(paths[0], parts[0], split, tables[0])
    return dataset_from(
        paths,
        [(X, Y) for X, Y, _ in parts],
        name=name,
        feature_names=() if kept is not None else tuple(features),
        label_names=tuple(chosen),
        columns=[] if kept is None else [columns for _, _, columns in parts],
    )


def _part(
    path: Path, table: Table, features: list[str], labels: list[str],
    kept: Sequence[str] | str | None,
) -> Part:  # fmt: skip
    """X, Y and the columns that are kept as they are, of one file."""
    Y = _matrix(path, table, labels)
    if kept is None:
        try:
            return _matrix(path, table, features), Y, {}
        except FileError as error:
            raise FileError(f"{error}; {NOT_NUMBERS}") from None
    return np.empty((len(Y), 0)), Y, _columns(path, table, features, guess=kept == "all")


def _matrix(path: Path, table: Table, columns: list[str]) -> Array:
    """These columns as numbers."""
    return np.column_stack([table[column].numbers(path, column) for column in columns])


def _columns(path: Path, table: Table, names: list[str], guess: bool) -> dict[str, list[Any]]:
    """These columns as they are, if JSON can hold them."""
    columns = {name: table[name].guessed() if guess else table[name].values() for name in names}
    for name, values in columns.items():
        for row, value in enumerate(values, 1):
            members = value if isinstance(value, list) else [value]
            wrong = [one for one in members if not isinstance(one, JSON_VALUES)]
            if wrong:
                raise FileError(
                    f"{path.name}, row {row}: column {name!r} is {shortened(wrong[0])}, "
                    "expected a number, a text, true or false, or a list of these"
                )
    return columns


def _existing(path: Path, columns: list[str], names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in columns:
            raise InputError(
                f"{path.name} has no column {name!r} that is not a label{nearest(name, columns)} "
                f"(it has {listed(columns)})"
            )
    return list(names)


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


def _divide(path: Path, part: Part, split: str, table: Table) -> list[Part]:
    """The rows for training and those for testing."""
    if split not in table:
        raise InputError(f"{path.name} has no column {split!r} to split by{nearest(split, table)}")
    words = np.array([str(value).lower() for value in table[split].values()])
    wrong = words[(words != "train") & (words != "test")]
    if wrong.size:
        raise FileError(f"{path.name}: {split!r} holds {str(wrong[0])!r}, expected train or test")
    return [_rows_of(part, words == word) for word in ("train", "test")]


def _rows_of(part: Part, rows: Bools) -> Part:
    X, Y, columns = part
    some = {name: [values[i] for i in np.flatnonzero(rows)] for name, values in columns.items()}
    return X[rows], Y[rows], some
