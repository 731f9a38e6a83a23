"""Cells of a table as values of named features: text becomes what the feature takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from semibandit._util.cells import parse_number, split_members
from semibandit.errors import FileError, InputError
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.features.feature import Feature
from semibandit.policies.features.hashed import Hashed

__all__ = ["read_cells"]


def read_cells(features: NamedFeatures, columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns of a table as `replay` takes them.

    Parameters
    ----------
    features : Features or Hashed
        What the columns are. `Hashed` takes them as they are.
    columns : mapping
        The cells by the column. A text in the column of a number is parsed, one in the column of a
        set is split at bars: a|b. None is unknown.

    Raises
    ------
    FileError
        If a text is no number; the text names the column and the row, counted from 1.
    InputError
        If a feature has no column.

    Examples
    --------
    >>> from semibandit.policies.features.features import Features
    >>> read_cells(Features(hour="number", tags="set"), {"hour": ["7", None], "tags": ["a|b", "|"]})
    {'hour': [7.0, None], 'tags': [['a', 'b'], []]}
    """
    if isinstance(features, Hashed):
        return dict(columns)
    found: dict[str, list[Any]] = {}
    for name, feature in features.declared:
        if name not in columns:
            raise InputError(f"the table has no column {name!r}, which is a feature")
        read = _reader(feature)
        found[name] = [
            read(name, row, cell) if read is not None and isinstance(cell, str) else cell
            for row, cell in enumerate(columns[name], 1)
        ]
    return found


def _reader(feature: Feature) -> Callable[[str, int, str], Any] | None:
    """What turns a text into a value of this feature; None if it is one."""
    return {"number": _number, "set": _members}.get(feature.kind)


def _number(name: str, row: int, text: str) -> float:
    try:
        return parse_number(text)
    except ValueError:
        raise FileError(f"row {row}: column {name!r} is {text!r}, expected a number") from None


def _members(name: str, row: int, text: str) -> list[str]:
    return split_members(text)
