"""Cells of a table as values of named features: text becomes what the feature takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from semibandit._util.cells import parse_number, split_members
from semibandit.errors import FileError, InputError
from semibandit.policies.features.feature import Feature

__all__ = ["read_cells"]


def read_cells(
    declared: Sequence[tuple[str, Feature]], columns: Mapping[str, Sequence[Any]]
) -> dict[str, list[Any]]:
    """The columns of these features, with texts turned into numbers and sets."""
    found: dict[str, list[Any]] = {}
    for name, feature in declared:
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
        raise FileError(
            f"row {row}: column {name!r} is {text!r}, expected a number; "
            "if it is a category or a set, declare it as one"
        ) from None


def _members(name: str, row: int, text: str) -> list[str]:
    return split_members(text)
