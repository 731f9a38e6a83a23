"""Upper bounds of the norms x·A⁻¹x that cost O(d) per label, and stay valid while it learns.

A row has a number λ and a few vectors g_k with A⁻¹ ⪯ λI - Σ_k g_k g_kᵀ, so that for every x

    x·A⁻¹x <= λ x·x - Σ_k (g_k·x)².

An update makes A⁻¹ smaller (in the order of positive semidefinite matrices), so a bound that was
valid once stays valid: nothing has to be done when a label learns. Only forgetting makes a matrix
larger. In the beginning λ = 1 and there are no vectors. `certified` finds better ones: the
directions in which most was learned, and what is left in the others. They are guesses, which a
Cholesky factorisation of λI - Σ_k g_k g_kᵀ - A⁻¹ then proves.
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from semibandit._util.arrays import Array, Floats, Ints

__all__ = ["BoundTable", "NormBounds", "certified", "empty_table", "vectors_of"]

FEATURES = 16  # of a context, for which a bound has one vector
VECTORS = 8  # of a bound, at most
ITERATIONS = 4  # of inverse iteration: more of them find little
SAFE = 0.9999  # more than rounding may take from S
LOOSER = (1.1, 1.5)  # what λ may be, in units of a lower bound that power iteration gives
LARGEST = 1.02  # λ of any matrix A⁻¹ ⪯ I, with room for the proof


class BoundTable(NamedTuple):
    """The bounds as arrays. Bound 0 is that of every row that has no other: λ = 1.

    A bound is not changed while a row has it, so that others may read meanwhile.
    """

    bound_of: Ints  # row -> its bound
    largest: Floats  # bound -> λ
    updates: Ints  # bound -> how often its row had been updated when it was made
    vectors: Array  # bound -> g_k (float32)
    used: Ints  # one number: how many bounds there are


def empty_table(rows: int, bounds: int, d: int) -> BoundTable:
    """A table with room for so many rows and bounds, in which every row has bound 0."""
    vectors = np.zeros((bounds, vectors_of(d), d), dtype=np.float32)
    zeros = np.zeros(bounds, dtype=np.intp)
    used = np.ones(1, dtype=np.intp)
    return BoundTable(np.zeros(rows, dtype=np.intp), np.ones(bounds), zeros, vectors, used)


def vectors_of(d: int) -> int:
    """How many vectors a bound has: they should cost little beside a matrix."""
    return min(max(1, d // FEATURES), VECTORS)


class NormBounds:
    """The bounds of all rows of a state; a row is a touched label of `FullState`.

    Parameters
    ----------
    d : int
        How many features a context has.
    dtype : dtype
        The type of the numbers of the state's matrices, which rounding errors follow from.
    """

    def __init__(self, d: int, dtype: Any) -> None:
        self.d, self.dtype = d, np.dtype(dtype)
        self.table = empty_table(0, 1, d)
        self._lock = Lock()
        eps, eps64, eps32 = (float(np.finfo(t).eps) for t in (dtype, np.float64, np.float32))
        k = vectors_of(d)
        # What rounding takes, in units of λ x·x: the product with the vectors, the norm that is
        # compared with the bound, the matrix itself, and the proof.
        of_norm, of_matrix = 3 * d**1.5 * eps, 8 * d * eps
        self.slack = (d + 3) * k * eps32 + of_norm + of_matrix + 4 * (d + 16) ** 2 * eps64
        self.drift = (1.0 + d**0.5) * eps  # by which an update may enlarge A⁻¹ by rounding

    def reserve(self, rows: int) -> BoundTable:
        """The table, with room for so many rows."""
        if len(self.table.bound_of) < rows:
            with self._lock:
                self._renew(2 * rows)
        return self.table

    def upper(self, x: Floats, n: int, count: Ints) -> Floats:
        """Upper bounds of x·A⁻¹x for the first n rows, which were updated `count` times."""
        table, xx = self.reserve(n), float(x @ x)
        bound_of = table.bound_of[:n].copy()
        used = int(table.used[0])  # read last: meanwhile there may be more
        lines = table.vectors[:used].reshape(-1, self.d) @ x.astype(np.float32)
        known = np.square(lines, dtype=np.float64).reshape(used, -1).sum(axis=1)
        of_bound = table.largest[:used] * ((1.0 + self.slack) * xx) - known
        late = np.maximum(count[:n] - table.updates[bound_of], 0)
        return np.asarray(of_bound[bound_of] + (self.drift * xx) * late)

    def is_stale(self, rows: Ints, count: Ints) -> Any:
        """Whether these rows were updated as often again since their bounds were made."""
        table = self.table
        return count[rows] >= 2 * np.maximum(table.updates[table.bound_of[rows]], 1)

    def improve(self, row: int, A_inv: Floats, count: int) -> bool:
        """Make a new bound for the row's matrix; whether there is one. Others may read meanwhile.

        A row whose matrix admits none keeps its bound.
        """
        self.reserve(row + 1)
        found = certified(A_inv)
        if found is None or not self._lock.acquire(blocking=False):
            return False
        try:
            if int(self.table.used[0]) == len(self.table.largest):
                self._renew(len(self.table.bound_of))
            table = self.table
            new = int(table.used[0])
            table.largest[new], table.vectors[new] = found
            table.updates[new] = count
            table.used[0] = new + 1
            table.bound_of[row] = new  # last: from here on it is read
        finally:
            self._lock.release()
        return True

    def drop(self, rows: Ints) -> None:
        """The matrices of these rows have grown; called while nobody reads."""
        rows = rows[rows < len(self.table.bound_of)]
        self.table.bound_of[rows] = 0

    def keep_rows(self, rows: Ints) -> None:
        """Keep these rows alone, which are called 0, 1, ... from now on, while nobody reads."""
        bound_of = self.table.bound_of
        known = np.flatnonzero(rows < len(bound_of))
        kept = np.zeros(len(bound_of), dtype=np.intp)
        kept[known] = bound_of[rows[known]]
        self.table = self.table._replace(bound_of=kept)

    def _renew(self, rows: int) -> None:
        """Replace the table by one with the bounds that rows have, and room for more."""
        old = self.table
        live = np.unique(np.append(old.bound_of, 0))
        new = empty_table(max(rows, len(old.bound_of)), 2 * len(live) + 8, self.d)
        new.bound_of[: len(old.bound_of)] = np.searchsorted(live, old.bound_of)
        for mine, theirs in zip(new[1:4], old[1:4], strict=True):
            mine[: len(live)] = theirs[live]
        new.used[0] = len(live)
        self.table = new

    def __reduce__(self) -> tuple[type[NormBounds], tuple[int, str]]:
        """For copy and pickle: bounds can be made again."""
        return NormBounds, (self.d, self.dtype.str)


def certified(A_inv: Floats) -> tuple[float, Array] | None:
    """λ and vectors g_k (float32) with A⁻¹ ⪯ λI - Σ_k g_k g_kᵀ; None if none were proven.

    Parameters
    ----------
    A_inv : array (d×d)
        A⁻¹, symmetric, with eigenvalues above 0 and up to 1.
    """
    from scipy.linalg import lapack

    M = A_inv.astype(np.float64)
    factor, failed = lapack.dpotrf(M, lower=1)
    if failed:
        return None
    V = _start(len(M), vectors_of(len(M)))
    for _ in range(
        ITERATIONS
    ):  # inverse iteration: towards the directions in which most was learned
        V = np.linalg.qr(lapack.dpotrs(factor, V, lower=1)[0])[0]
    y = _start(len(M), len(V.T) + 1)[:, -1]
    for _ in range(6):  # power iteration: a lower bound of the largest eigenvalue in the others
        y = y - V @ (V.T @ y)
        y = M @ (y / np.sqrt(y @ y))
    least = float(np.sqrt(y @ y))
    for largest in [min(by * least, LARGEST) for by in LOOSER] + [LARGEST]:
        rest = -M
        rest.flat[:: len(M) + 1] += largest
        factor, failed = lapack.dpotrf(rest, lower=1, overwrite_a=1)
        if not failed:  # λI - A⁻¹ = N is positive definite, and N - V S Vᵀ is for S⁻¹ = VᵀN⁻¹V
            S, turn = np.linalg.eigh(V.T @ lapack.dpotrs(factor, V, lower=1)[0])
            return largest, (np.sqrt(SAFE / S) * (V @ turn)).T.astype(np.float32)
    return None


@cache
def _start(d: int, k: int) -> Floats:
    """k orthonormal columns to start iterations from, the same every time."""
    columns = np.random.default_rng(d).standard_normal((d, k))
    columns[-1] += d**0.5  # contexts with a bias have most of their length there
    return np.asarray(np.linalg.qr(columns)[0])
