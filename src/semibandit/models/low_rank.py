"""Matrices in low-rank form, for the labels that were updated a few times.

A label that was updated N times has A⁻¹ = I - VᵀV, where V (N×d) has one line for each update,
v = A⁻¹x/sqrt(1 + x·A⁻¹x) with A⁻¹ as it was before that update (Sherman-Morrison). While N < d/2
that takes less memory and time than the d×d matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.reproducible import dot, eliminate
from semibandit.models.capacity import with_capacity
from semibandit.models.model import NONE, Arrays, take, take_index

__all__ = ["LowRankPool"]

SOME = 4096  # vectors that `lower_norms_of_many` multiplies at a time


@dataclass
class LowRankPool:
    """The vectors v of all labels in low-rank form, in the order in which they came.

    The vectors of one row are linked: a row knows its newest, and each the one before it. Arrays
    may be longer than the `n` vectors that are used.
    """

    n: int
    V: Floats  # the vectors
    row_of: Ints  # vector -> its row, or NONE once the row has a dense matrix
    before: Ints  # vector -> the one before it of the same row, or NONE
    newest_of: Ints  # row -> its newest vector, or NONE

    @classmethod
    def start(cls, d: int, dtype: str) -> LowRankPool:
        """No rows and no vectors."""
        index = np.empty(0, dtype=np.intp)
        return cls(0, np.empty((0, d), dtype=dtype), index, index.copy(), index.copy())

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_rows: int, d: int, dtype: type) -> LowRankPool:
        """The vectors of a snapshot with so many rows; `FileError` if it is damaged."""
        if "A_packed" in arrays:  # of a device, where every row has a matrix
            return cls.linked(np.empty((0, d), dtype=dtype), np.empty(0, dtype=np.intp), n_rows)
        n = len(arrays.get("V", ()))
        V = take(arrays, "V", (n, d), dtype)
        return cls.linked(V, take_index(arrays, "V_row", n, limit=n_rows, least=NONE), n_rows)

    @classmethod
    def linked(cls, V: Floats, row_of: Ints, n_rows: int) -> LowRankPool:
        """The pool of these vectors, in their order, with the rows that they belong to."""
        newest_of, before = (np.full(size, NONE, dtype=np.intp) for size in (n_rows, len(V)))
        order = np.argsort(row_of, kind="stable")
        order = order[row_of[order] >= 0]
        row = row_of[order]
        same = row[1:] == row[:-1]
        before[order[1:][same]] = order[:-1][same]
        newest_of[row] = order  # of equal rows the last one stays
        return cls(len(V), V, row_of, before, newest_of)

    def arrays(self) -> Arrays:
        """The arrays of a snapshot, by their names in files."""
        return {"V": self.V[: self.n], "V_row": self.row_of[: self.n].astype(np.int64)}

    def vectors(self, row: int) -> Floats:
        """V of one row, the oldest vector first."""
        chain = self._chain(row)
        return np.asarray(self.V[chain[::-1]])

    def lower_norms(self, x: Floats, norm2: Floats) -> None:
        """norm2[row] -= Σ_v (v·x)² for every row."""
        if not self.n:
            return
        row_of, seen = self.row_of[: self.n], (self.V[: self.n] @ x) ** 2
        live = row_of >= 0
        norm2 -= np.bincount(row_of[live], weights=seen[live], minlength=len(norm2))

    def lower_norms_at(self, rows: Ints, x: Floats, norm2: Floats) -> None:
        """norm2[place] -= Σ_v (v·x)² for each of these rows."""
        vector, place = self.newest_of[rows], np.arange(len(rows))
        vectors, places = [vector[:0]], [place[:0]]
        while (live := vector >= 0).any():  # one vector of every row that has more
            vector, place = vector[live], place[live]
            vectors.append(vector)
            places.append(place)
            vector = self.before[vector]
        seen = (self.V[np.concatenate(vectors)] @ x) ** 2
        norm2 -= np.bincount(np.concatenate(places), weights=seen, minlength=len(norm2))

    def lower_norms_of_many(self, X: Floats, norm2: Floats) -> None:
        """norm2[b, row] -= Σ_v (v·x_b)² for every context x_b of X and every row."""
        XT = np.ascontiguousarray(X.T)
        for first in range(0, self.n, SOME):
            part = slice(first, min(first + SOME, self.n))
            live = self.row_of[part] >= 0
            rows, seen = self.row_of[part][live], (self.V[part] @ XT)[live] ** 2
            for b in range(len(X)):
                norm2[b] -= np.bincount(rows, weights=seen[:, b], minlength=norm2.shape[1])

    def append(self, row: int, v: Floats) -> None:
        """Add a vector to the row; there must be capacity for it."""
        n = self.n
        self.V[n], self.before[n], self.row_of[n] = v, self.newest_of[row], row
        self.newest_of[row] = n
        self.n += 1

    def fold(self, row: int, g: float) -> None:
        """Divide by 1/g what the row has learned: V' = sqrt(g/D) L⁻¹V, L D Lᵀ = I - (1-g) V Vᵀ."""
        chain = self._chain(row)[::-1]
        if not chain:
            return
        V = self.V[chain].astype(np.float64)
        M = np.eye(len(V)) - (1.0 - g) * np.array([dot(V, v) for v in V])
        eliminate(M, V)
        self.V[chain] = np.sqrt(g / np.diag(M))[:, None] * V

    def drop(self, row: int) -> None:
        """The row needs its vectors no longer; they stay in memory until `compact`."""
        self.row_of[self._chain(row)] = NONE
        self.newest_of[row] = NONE

    def keep_rows(self, n_rows: int, new_row: Ints) -> None:
        """Keep n_rows rows; new_row[row] is what a row is called from now on, or NONE."""
        row_of = self.row_of[: self.n]
        self._relink(self.V[: self.n], np.where(row_of >= 0, new_row[row_of], NONE), n_rows)

    def compact(self) -> None:
        """Remove the vectors of rows that became dense, once they are the greater part."""
        if 2 * int((self.row_of[: self.n] >= 0).sum()) < self.n:
            self.sort()

    def sort(self) -> None:
        """Order the pool by row and remove dropped vectors: memory is then read in one go."""
        order = np.argsort(self.row_of[: self.n], kind="stable")
        order = order[self.row_of[order] >= 0]
        self._relink(self.V[order], self.row_of[order], len(self.newest_of))

    def start_rows(self, first: int, end: int) -> None:
        """Rows first..end are new and have no vectors."""
        self.newest_of[first:end] = NONE

    def reserve_rows(self, used: int, need: int, most: int) -> None:
        """Make room for `need` rows, of which `used` are there."""
        self.newest_of = with_capacity(self.newest_of, used, need, most)

    def reserve(self, more: int) -> None:
        """Make room for more vectors."""
        need = self.n + more
        self.V = with_capacity(self.V, self.n, need)
        self.row_of = with_capacity(self.row_of, self.n, need)
        self.before = with_capacity(self.before, self.n, need)

    def _chain(self, row: int) -> list[int]:
        """The row's vectors, the newest first."""
        chain, v = [], int(self.newest_of[row])
        while v >= 0:
            chain.append(v)
            v = int(self.before[v])
        return chain

    def _relink(self, V: Floats, row_of: Ints, n_rows: int) -> None:
        new = self.linked(V, row_of, n_rows)
        self.n, self.V, self.row_of = new.n, new.V, new.row_of
        self.before, self.newest_of = new.before, new.newest_of
