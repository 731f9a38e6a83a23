"""Many contexts at once, feature by feature: what `FeatureEncoder` does row by row, but faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, TypeVar

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import shortened
from semibandit.errors import InputError
from semibandit.policies.features.feature import Feature
from semibandit.policies.features.value import read_members, read_number, read_text
from semibandit.policies.features.vocabulary import Vocabulary

__all__ = ["as_list", "encode_columns", "read_columns", "transposed"]

Value = TypeVar("Value")


def encode_columns(
    items: Iterable[tuple[str, Feature]],
    vocabularies: Mapping[str, Vocabulary],
    columns: Mapping[str, Any],
    first: int,
) -> tuple[Floats, dict[str, Vocabulary]]:
    """The encoded rows of a table, and the vocabularies after the last row."""
    items = list(items)
    table = read_columns(columns)
    rows = len(next(iter(table.values())))
    X = np.full((rows, sum(feature.size for _, feature in items)), np.nan)
    after, start = dict(vocabularies), 0
    for name, feature in items:
        block = X[:, start : start + feature.size]
        if name not in table:
            pass
        elif feature.kind == "number":
            block[:, 0] = _numbers(name, table[name], first)
        else:
            after[name] = _fill(block, after[name], table[name], first)
        start += feature.size
    return X, after


def read_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns as lists, or as arrays of numbers; an error if their lengths differ."""
    if not columns:
        raise InputError("the table has no columns")
    table = {name: _column(name, column) for name, column in columns.items()}
    lengths = {name: len(column) for name, column in table.items()}
    one, *others = lengths
    for name in others:
        if lengths[name] != lengths[one]:
            raise InputError(
                f"column {name!r} has {lengths[name]} rows, but {one!r} has {lengths[one]}"
            )
    return table


def transposed(rows: Sequence[Mapping[str, Any]], names: Iterable[str]) -> dict[str, list[Any]]:
    """The rows as columns with these names; what a row leaves out is None."""
    return {name: [row.get(name) for row in rows] for name in names}


def as_list(column: Any) -> list[Any]:
    """The values of a column, those of an array as Python has them."""
    return column.tolist() if isinstance(column, np.ndarray) else column  # type: ignore[no-any-return]


def _column(name: str, column: Any) -> Any:
    if isinstance(column, list):
        return column
    if isinstance(column, str) or not hasattr(column, "__iter__"):
        raise InputError(f"column {name!r} = {shortened(column)}, but it must be a list of values")
    if not hasattr(column, "dtype"):
        return list(column)
    array = np.asarray(column)
    if array.ndim != 1:
        raise InputError(f"column {name!r} must be a list, got an array of shape {array.shape}")
    if np.ma.is_masked(column):
        return column.tolist()  # what is masked is None: unknown
    return array if array.dtype.kind in "biuf" else array.tolist()


def _numbers(name: str, column: Any, first: int) -> Floats:
    plain = isinstance(column, np.ndarray) or set(map(type, column)) <= {float, NoneType}
    numbers = np.array(column, dtype=np.float64) if plain else None  # None becomes NaN
    unknown = column.count(None) if isinstance(column, list) else 0
    if numbers is not None and np.count_nonzero(np.isfinite(numbers)) + unknown == len(numbers):
        return numbers
    return np.array(_read(name, as_list(column), read_number, first), dtype=np.float64)


def _fill(block: Floats, vocabulary: Vocabulary, column: Any, first: int) -> Vocabulary:
    """Write the columns of a category or set, and return the vocabulary after the last row."""
    name, values = vocabulary.name, as_list(column)
    if vocabulary.feature.kind == "set":
        members = _read(name, values, read_members, first)
        known = [t for t, texts in enumerate(members) if texts is not None]
        rows = [t for t in known for _ in members[t] or ()]
        texts = [text for t in known for text in members[t] or ()]
    else:
        found = _read(name, values, read_text, first)
        known = rows = [t for t, text in enumerate(found) if text is not None]
        texts = [text for text in found if text is not None]
    after = _extended(vocabulary, dict(zip(reversed(texts), reversed(rows), strict=True)), first)
    block[known] = 0.0
    block[rows, [after.columns[text] for text in texts]] = 1.0
    return after


def _extended(vocabulary: Vocabulary, first_row: Mapping[str, int], first: int) -> Vocabulary:
    """The vocabulary with all values, in the order in which rows bring them."""
    new = [text for text in first_row if text not in vocabulary.columns]
    if not new:
        return vocabulary
    new.sort(key=lambda text: (first_row[text], text))  # as it would be row by row
    try:
        return vocabulary.extended(new)
    except InputError as why:
        row = first + first_row[new[vocabulary.room]]
        raise InputError(f"row {row}: {why}") from None


def _read(
    name: str, column: Iterable[Any], read: Callable[[str, Any], Value], first: int
) -> list[Value | None]:
    """Each value as the feature takes it, None as it is; an error names the row."""
    if read is read_text and set(map(type, column)) <= {str, NoneType}:
        return list(column)
    values: list[Value | None] = []
    for value in column:
        try:
            values.append(None if value is None else read(name, value))
        except InputError as why:
            raise InputError(f"row {first + len(values)}: {why}") from None
    return values
