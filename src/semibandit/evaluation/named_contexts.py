"""Contexts with names for a replay: a table of columns, or a list of dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandit.policies.features.table import read_columns

__all__ = ["NamedContexts", "NamedRows", "NamedTable", "named_contexts"]


@dataclass(frozen=True, eq=False)
class NamedTable:
    """Contexts by the column: lists or arrays of equal length."""

    content: Mapping[str, Any]  # as `Learner.encode_contexts` takes it

    @property
    def shape(self) -> tuple[int]:
        """How many rows there are."""
        return (len(next(iter(self.content.values()))),)

    def __getitem__(self, some: slice) -> NamedTable:
        return NamedTable({name: column[some] for name, column in self.content.items()})

    def row(self, t: int) -> dict[str, Any]:
        """The context of row t."""
        return {name: _item(column, t) for name, column in self.content.items()}


@dataclass(frozen=True, eq=False)
class NamedRows:
    """Contexts one after the other."""

    content: Sequence[Any]  # as `Learner.encode_contexts` takes it

    @property
    def shape(self) -> tuple[int]:
        """How many rows there are."""
        return (len(self.content),)

    def __getitem__(self, some: slice) -> NamedRows:
        return NamedRows(self.content[some])

    def row(self, t: int) -> Any:
        """The context of row t."""
        return self.content[t]


NamedContexts = NamedTable | NamedRows


def named_contexts(data: Any) -> NamedContexts | None:
    """The contexts, if they have names; None if they are a matrix of numbers.

    Raises
    ------
    InputError
        If there is no column, or columns differ in length.
    """
    if isinstance(data, Mapping):
        return NamedTable(read_columns(data))
    if isinstance(data, list | tuple) and data and isinstance(data[0], Mapping):
        return NamedRows(list(data))
    return None


def _item(column: Any, t: int) -> Any:
    value = column[t]
    return value.item() if isinstance(value, np.generic) else value
