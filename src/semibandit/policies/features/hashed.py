"""Hashed features: any names and values, in a fixed number of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from semibandit._util.checks import shortened, whole_number
from semibandit._util.stable_hash import stable_hash
from semibandit.errors import FileError, InputError
from semibandit.models.model import Sparse
from semibandit.policies.features.encoded import Encoded, NewValues
from semibandit.policies.features.table import as_list, read_columns
from semibandit.policies.features.value import (
    check_mapping,
    is_bool,
    is_set,
    read_members,
    read_number,
)

__all__ = ["Hashed"]

REMEMBERED = 1 << 16  # hashes of texts that come again and again
LARGEST = 1 << 31  # columns: scipy's sparse matrices count them in 32 bits


@dataclass(frozen=True, repr=False)
class Hashed:
    """Features of any name, for vocabularies that have no end: words, pages, users.

    Every pair of a name and a value has one of `size` columns, which its hash says, and a sign; two
    pairs may share a column. The hash is the same in every process, version and machine.

    - A number is in the column of its name, "price", with its value.
    - A string, True or False is a 1 in the column of "device=phone", "member=true".
    - A list or set of strings has a 1 for each of them. Numbers in it count as strings.

    Give identifiers as strings: a number is an amount. What is left out, None or 0 adds nothing.

    Parameters
    ----------
    size : int
        How many columns there are: more of them, fewer collisions.

    Raises
    ------
    InputError
        If the size is not a whole number of at least 1.

    Examples
    --------
    >>> hashed = Hashed(256)
    >>> x, _ = hashed.encode({"price": 9.5, "device": "phone", "tags": ["new", "sale"]})
    >>> x.index, x.value
    (array([177, 192, 225, 228]), array([ 1. , -1. ,  9.5,  1. ]))
    """

    size: int

    def __post_init__(self) -> None:
        size = whole_number("size", self.size, least=1)
        if size >= LARGEST:
            raise InputError(f"size = {size}, but it must be below {LARGEST}")
        object.__setattr__(self, "size", size)

    @property
    def words(self) -> str:
        """The words that `parse_features` turns back into it: "hashed:256"."""
        return f"hashed:{self.size}"

    @property
    def columns(self) -> list[str]:
        """A name for each column: "hashed[0]", "hashed[1]", ..."""
        return [f"hashed[{i}]" for i in range(self.size)]

    def read_cells(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """The columns of a table, as they are: `Features` has something to read in them."""
        return dict(columns)

    def encoder(self, known: Mapping[str, Any] | None = None) -> Hashed:
        """What turns contexts into numbers: this, since nothing is learned about values."""
        if known:
            raise FileError(f"there are values of {next(iter(known))!r}, which is no open feature")
        return self

    def encode(self, context: Any) -> Encoded:
        """The context as numbers.

        Parameters
        ----------
        context : mapping
            {name: value} with any names.

        Returns
        -------
        Encoded
            Its nonzero columns, in order, as `Sparse`; no value is ever new.

        Raises
        ------
        InputError
            If a value is not a finite number, a string, True or False, or a list of these.
        """
        check_mapping(context)
        total: dict[int, float] = {}
        for name in sorted(context, key=str):  # sums do not depend on the order of a dict
            for text, amount in _entries(name, context[name]):
                column, sign = _place(text, self.size)
                total[column] = total.get(column, 0.0) + sign * amount
        index = sorted(column for column, amount in total.items() if amount)
        value = np.array([total[column] for column in index], dtype=np.float64)
        return Encoded(Sparse(np.array(index, dtype=np.intp), value, self.size), {})

    def including(self, new: NewValues) -> Hashed:
        """This: nothing is learned about values."""
        return self

    def encode_columns(self, columns: Mapping[str, Any], first: int = 0) -> tuple[Any, Hashed]:
        """Encode a table: columns of equal length by the name of the feature.

        Returns
        -------
        X : scipy csr_array
            A row for each row of the table.
        encoder : Hashed
            This.
        """
        table = read_columns(columns)
        lists = [as_list(column) for column in table.values()]
        rows = [dict(zip(table, values, strict=True)) for values in zip(*lists, strict=True)]
        return self.encode_rows(rows, first)

    def encode_rows(self, rows: Sequence[Any], first: int = 0) -> tuple[Any, Hashed]:
        """Encode a list of contexts; see `encode_columns`."""
        from scipy.sparse import csr_array  # here: `import semibandit` stays light

        encoded: list[Any] = []
        for t, row in enumerate(rows, first):
            try:
                encoded.append(self.encode(row).x)
            except InputError as why:
                raise InputError(f"row {t}: {why}") from None
        ends = np.cumsum([0, *(len(x.index) for x in encoded)])
        index = np.concatenate([np.empty(0, dtype=np.intp), *(x.index for x in encoded)])
        value = np.concatenate([np.empty(0), *(x.value for x in encoded)])
        return csr_array((value, index, ends), shape=(len(encoded), self.size)), self

    def to_json(self) -> dict[str, dict[str, int]]:
        """Nothing: no values are learned."""
        return {}

    def __repr__(self) -> str:
        return f"Hashed({self.size})"


def _entries(name: object, value: Any) -> list[tuple[str, float]]:
    """The texts by which this name and value are hashed, and the amount of each."""
    if not isinstance(name, str):
        raise InputError(f"context names {shortened(name)}, but a name must be a string")
    if value is None:
        return []
    if isinstance(value, str):
        return [(f"{name}={value}", 1.0)]
    if is_bool(value):
        return [(f"{name}={'true' if value else 'false'}", 1.0)]
    if is_set(value):
        return [(f"{name}={member}", 1.0) for member in sorted(set(read_members(name, value)))]
    return [(name, read_number(name, value))]


@lru_cache(REMEMBERED)
def _place(text: str, size: int) -> tuple[int, float]:
    """The column of a text, and its sign."""
    number = stable_hash(text)
    return (number >> 1) % size, -1.0 if number & 1 else 1.0
