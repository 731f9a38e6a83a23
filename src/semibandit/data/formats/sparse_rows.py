"""Sparse matrices that are read row by row, from text such as "label,label feature:value"."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from semibandit.data.dataset import Matrix
from semibandit.errors import FileError

__all__ = ["SparseRows", "dense_labels", "parse_row"]

MOST_COLUMNS = 2**62  # what the indices of a sparse matrix can count
MOST_DENSE_LABELS = 100_000_000  # entries of Y


class SparseRows:
    """Rows of (column, value) pairs, kept in flat arrays until `matrix` is called."""

    def __init__(self) -> None:
        self.columns, self.values, self.ends = array("q"), array("d"), array("q", [0])
        self.width = 0

    def __len__(self) -> int:
        return len(self.ends) - 1

    def add(self, columns: Sequence[int], values: Sequence[float]) -> None:
        """Add one row, or raise `FileError` if a column is given twice or is out of range."""
        if columns and not 0 <= min(columns) <= max(columns) < MOST_COLUMNS:
            wrong = next(c for c in columns if not 0 <= c < MOST_COLUMNS)
            raise FileError(f"column {wrong} is out of range, expected one from 0")
        if len(set(columns)) != len(columns):
            twice = next(c for c in columns if columns.count(c) > 1)
            raise FileError(f"column {twice} is given twice")
        self.columns.extend(columns)
        self.values.extend(values)
        self.ends.append(len(self.columns))
        self.width = max(self.width, max(columns, default=-1) + 1)

    def matrix(self, width: int, dtype: type = np.float64, *, first: int = 0) -> Matrix:
        """All rows as CSR with `width` columns, of which the first has the number `first`."""
        from scipy.sparse import csr_array

        columns, ends = np.array(self.columns, np.int64) - first, np.array(self.ends, np.int64)
        values: Any = np.array(self.values, np.float64).astype(dtype)
        return csr_array((values, columns, ends), shape=(len(self), width))


def parse_row(words: list[str]) -> tuple[str, list[int], list[float]]:
    """The labels, columns and values of the words label,label feature:value feature:value ...

    Raises
    ------
    FileError
        If they are not of this form.
    """
    labels, pairs = ("", words) if not words or ":" in words[0] else (words[0], words[1:])
    try:
        both = [pair.split(":") for pair in pairs]
        return labels, [int(column) for column, _ in both], [float(value) for _, value in both]
    except ValueError:
        found = " ".join(words)[:60]
        raise FileError(f"expected 'label,label feature:value ...', found {found!r}") from None


def dense_labels(parts: Sequence[Matrix]) -> list[Matrix]:
    """Labels as dense matrices, which learners read faster, unless one would be very large."""
    if any(np.prod(Y.shape) > MOST_DENSE_LABELS for Y in parts):
        return [*parts]
    return [Y if isinstance(Y, np.ndarray) else Y.toarray() for Y in parts]
