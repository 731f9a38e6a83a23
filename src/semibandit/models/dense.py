"""Dense matrices A⁻¹ (d×d), for the labels that were updated often.

An update subtracts v vᵀ. Such updates lose digits in directions that are seen very often, because
v vᵀ is then tiny beside the entries of A⁻¹. A label that was updated more than 65,536 times
therefore also keeps the rounding error of its matrix, and adds it to the next update: Kahan's
compensated summation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.reproducible import less_outer, times
from semibandit.models.capacity import with_capacity
from semibandit.models.compiled_types import Errors
from semibandit.models.fading import folded
from semibandit.models.model import NONE, Arrays, take, take_index

__all__ = ["DenseBlocks"]

COMPENSATED_FROM = 65_536  # updates of a label from which its sum is compensated
PRODUCTS = 1 << 19  # numbers in the products that `norms_of_many` makes at a time: a cache's worth


@dataclass
class DenseBlocks:
    """The matrices A⁻¹ of some rows; a row is a touched label of `FullState`.

    Arrays may be longer than what is used of them: `n` matrices, `n_errors` rounding errors.
    """

    n: int
    n_errors: int
    A_inv: Floats  # the matrices
    row_of: Ints  # matrix -> its row
    block_of: Ints  # row -> its matrix, or NONE
    error: Floats  # rounding errors of compensated matrices
    error_of: Ints  # row -> its rounding error, or NONE if its sum is not compensated

    @classmethod
    def start(cls, d: int, dtype: str) -> DenseBlocks:
        """No rows and no matrices."""
        A_inv, index = np.empty((0, d, d), dtype=dtype), np.empty(0, dtype=np.intp)
        return cls(0, 0, A_inv, index, index.copy(), A_inv.copy(), index.copy())

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_rows: int, d: int, dtype: type) -> DenseBlocks:
        """The matrices of a snapshot with so many rows; `FileError` if it is damaged."""
        if "A_packed" in arrays:
            return cls._from_packed(arrays, n_rows, d, dtype)
        n, n_errors = (len(arrays.get(name, ())) for name in ("A_inv", "lost"))
        A_inv = take(arrays, "A_inv", (n, d, d), dtype)
        error = take(arrays, "lost", (n_errors, d, d), dtype)
        row_of = take_index(arrays, "A_row", n, limit=n_rows, once=True)
        error_of = take_index(arrays, "sharp", n_rows, limit=n_errors, least=NONE)
        return cls(n, n_errors, A_inv, row_of, _inverted(row_of, n_rows), error, error_of)

    @classmethod
    def _from_packed(cls, arrays: Arrays, n: int, d: int, dtype: type) -> DenseBlocks:
        """The matrices of a snapshot from a device: the lower half of each, row by row."""
        packed = take(arrays, "A_packed", (n, d * (d + 1) // 2), np.float32)
        A_inv: Floats = np.empty((n, d, d), dtype=dtype)
        r, c = np.tril_indices(d)
        for first in range(0, n, PRODUCTS // d**2 + 1):
            some = slice(first, first + PRODUCTS // d**2 + 1)
            A_inv[some, r, c] = A_inv[some, c, r] = packed[some]
        rows, none = np.arange(n), np.full(n, NONE, dtype=np.intp)
        return cls(n, 0, A_inv, rows, rows.copy(), np.empty((0, d, d), dtype=dtype), none)

    def arrays(self, n_rows: int) -> Arrays:
        """The arrays of a snapshot, by their names in files."""
        return {
            "A_inv": self.A_inv[: self.n],
            "A_row": self.row_of[: self.n].astype(np.int64),
            "sharp": self.error_of[:n_rows].astype(np.int64),
            "lost": self.error[: self.n_errors],
        }

    def has(self, row: int) -> bool:
        """Whether the row has a dense matrix."""
        return bool(self.block_of[row] >= 0)

    def matrix(self, row: int) -> Floats:
        """A⁻¹ of a row that has one: the matrix itself, not a copy."""
        return np.asarray(self.A_inv[self.block_of[row]])

    def times(self, row: int, x: Floats) -> Floats:
        """A⁻¹x."""
        return times(self.A_inv[self.block_of[row]], x)

    def norms(self, x: Floats) -> Floats:
        """x·A⁻¹x for every matrix."""
        n, d = self.n, len(x)
        return np.asarray((self.A_inv[:n].reshape(n * d, d) @ x).reshape(n, d) @ x)

    def norms_at(self, rows: Ints, x: Floats, norm2: Floats) -> None:
        """Write x·A⁻¹x of those of these rows that have a matrix into norm2, by place."""
        blocks, d = self.block_of[rows], len(x)
        places = np.flatnonzero(blocks >= 0)
        some = max(1, PRODUCTS // d**2)
        for first in range(0, len(places), some):
            part = places[first : first + some]
            A = self.A_inv[blocks[part]].reshape(len(part) * d, d)
            norm2[part] = (A @ x).reshape(len(part), d) @ x

    def norms_of_many(self, X: Floats, norm2: Floats) -> None:
        """Write x·A⁻¹x for every context x of X and every matrix into norm2[context, row]."""
        some = max(1, PRODUCTS // max(1, X.size))
        for first in range(0, self.n, some):
            A = self.A_inv[first : min(first + some, self.n)]
            rows = self.row_of[first : first + len(A)]
            norm2[:, rows] = np.einsum("kbc,bc->bk", np.matmul(X, A), X)

    def lines(self) -> Floats:
        """The matrices, each as one line of d² numbers."""
        return self.A_inv.reshape(len(self.A_inv), self.A_inv.shape[1] ** 2)

    def errors(self) -> Errors:
        """The rounding errors as compiled functions take them."""
        return Errors(self.error_of, self.error.reshape(len(self.error), self.error.shape[1] ** 2))

    def append(self, row: int, A_inv: Floats) -> None:
        """Give the row this matrix; there must be capacity for it."""
        self.A_inv[self.n], self.row_of[self.n], self.block_of[row] = A_inv, row, self.n
        self.n += 1

    def subtract(self, row: int, v: Floats, count: int) -> None:
        """A⁻¹ -= v vᵀ, symmetric to the bit; `count` says how often the row has been updated."""
        A = self.A_inv[self.block_of[row]]
        if count < COMPENSATED_FROM:
            less_outer(A, v[None])
            return
        self.compensate(np.array([row]), np.array([count]))
        error = self.error[self.error_of[row]]
        change = error - np.multiply.outer(v, v)
        new = A + change
        np.subtract(change, new - A, out=error)
        A[:] = new

    def fold(self, row: int, g: float) -> None:
        """Divide by 1/g what the row has learned; its matrix has no rounding error to keep then."""
        A = self.A_inv[self.block_of[row]]
        A[:] = folded(A, g)
        if self.error_of[row] >= 0:
            self.error[self.error_of[row]] = 0.0

    def compensate(self, rows: Ints, count: Ints) -> None:
        """Keep the rounding errors of these rows from now on, if they were updated often enough."""
        rows = rows[count >= COMPENSATED_FROM]
        if not len(rows):
            return
        new = rows[(self.error_of[rows] < 0) & (self.block_of[rows] >= 0)]
        end = self.n_errors + len(new)
        self.error = with_capacity(self.error, self.n_errors, end, len(self.block_of))
        self.error[self.n_errors : end] = 0.0
        self.error_of[new] = np.arange(self.n_errors, end)
        self.n_errors = end

    def keep_rows(self, rows: Ints, new_row: Ints) -> None:
        """Keep these rows alone; new_row[row] is what a row is called from now on, or NONE."""
        new = new_row[self.row_of[: self.n]]
        A_inv, row_of = self.A_inv[: self.n][new >= 0], new[new >= 0]
        error_of = self.error_of[rows]
        kept = error_of >= 0
        error = self.error[error_of[kept]]
        self.n, self.A_inv, self.row_of = len(row_of), A_inv, row_of
        self.block_of = _inverted(row_of, len(rows))
        self.error, self.n_errors = error, len(error)
        self.error_of = np.where(kept, np.cumsum(kept) - 1, NONE)

    def start_rows(self, first: int, end: int) -> None:
        """Rows first..end are new and have no matrix."""
        self.block_of[first:end] = self.error_of[first:end] = NONE

    def reserve_rows(self, used: int, need: int, most: int) -> None:
        """Make room for `need` rows, of which `used` are there."""
        self.block_of = with_capacity(self.block_of, used, need, most)
        self.error_of = with_capacity(self.error_of, used, need, most)

    def reserve(self, more: int, most: int) -> None:
        """Make room for more matrices, up to `most` in all."""
        self.A_inv = with_capacity(self.A_inv, self.n, self.n + more, most)
        self.row_of = with_capacity(self.row_of, self.n, self.n + more, most)


def _inverted(row_of: Ints, n_rows: int) -> Ints:
    """The matrix of each row, or NONE, from the row of each matrix."""
    block_of = np.full(n_rows, NONE, dtype=np.intp)
    block_of[row_of] = np.arange(len(row_of))
    return block_of
