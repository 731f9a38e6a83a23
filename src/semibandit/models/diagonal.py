"""Diagonal matrices (Remark 2): a look costs O(d K), or O(nnz K) for sparse contexts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.reproducible import dot
from semibandit.models.fading import Forgetful
from semibandit.models.model import NO_NORMS, NONE, Arrays, Look, Sparse, Vector, one_by_one, take
from semibandit.models.partial import OneByOne

__all__ = ["Diagonal", "DiagonalState"]


@dataclass(frozen=True)
class Diagonal:
    """Diagonal second-order matrices (Remark 2), for contexts with thousands of features.

    (A_i)_rr grows by x_r² for every shown label i and feature r. Contexts may be sparse.

    Paper: Remark 2.

    Examples
    --------
    >>> state = Diagonal().start(n_labels=2, n_features=3)
    >>> state.look(Sparse(np.array([1]), np.array([0.5]), 3)).norm2
    array([0.25, 0.25])
    """

    @property
    def sparse(self) -> bool:
        return True

    @property
    def unproven(self) -> str:
        """Why Lemma 7 does not hold: a direction that was never seen can look well known."""
        return "the matrices of Diagonal() are not A_i = I + Σ x xᵀ"

    def start(self, n_labels: int, n_features: int) -> DiagonalState:
        return DiagonalState(w=np.zeros((n_features, n_labels)), A=np.ones((n_features, n_labels)))


@dataclass
class DiagonalState(OneByOne, Forgetful):
    """w and A by feature (d×K), so that a sparse context reads whole lines of memory.

    If it forgets, each entry fades as the matrix of one feature would (see `fading`): its inverse
    counts as min(c/A, 1), an update with x ≠ 0 makes of it c·(max(A/c, 1) + x²).
    """

    w: Floats
    A: Floats

    def __post_init__(self) -> None:
        self.A_inv = 1.0 / self.A

    def look(self, x: Vector) -> Look:
        """Margins Σ_r w_ir x_r and squared norms Σ_r x_r²/A_irr, for every label i."""
        rows, value = _entries(x)
        return Look(x, value @ self.w[rows], value**2 @ self._faded(self.A_inv[rows]))

    def margins(self, x: Vector) -> Look:
        rows, value = _entries(x)
        return Look(x, dot(self.w[rows].T, value), NO_NORMS)

    def look_many(self, xs: Sequence[Vector]) -> tuple[Floats, Floats]:
        if any(isinstance(x, Sparse) for x in xs):
            return one_by_one(self, xs)
        X = np.array(xs)
        return X @ self.w, X**2 @ self._faded(self.A_inv)

    def look_at(self, x: Vector, labels: Ints) -> Look:
        rows, value = _entries(x)
        cells = _cells(rows, labels)
        A_inv = self._faded(self.A_inv[cells], labels)
        return Look(x, value @ self.w[cells], value**2 @ A_inv)

    def margins_at(self, x: Vector, labels: Ints) -> Look:
        rows, value = _entries(x)
        return Look(x, dot(self.w[_cells(rows, labels)].T, value), NO_NORMS)

    def step(self, look: Look, moved: Ints, change: Floats, shown: Ints, steps: Floats) -> None:
        rows, value = _entries(look.x)
        x, at_moved, at_shown = value[:, None], _cells(rows, moved), _cells(rows, shown)
        toward = x * self._faded(self.A_inv[at_moved], moved)
        w_moved = self.w[at_moved] + change / dot(toward.T, value) * toward
        c: float | Floats = 1.0
        A = self.A[at_shown]
        if self.fading is not None:
            c = self.fading.factors_at(shown)
            A = np.where(x != 0, np.maximum(A, c), A)
        A = A + c * x**2
        A_inv = 1.0 / A
        forward = c * steps * x * A_inv
        self.w[at_moved] = w_moved
        self.w[at_shown] += forward
        self.A[at_shown] = A
        self.A_inv[at_shown] = A_inv
        if self.fading is not None:
            self.fading.touch(shown)

    def dimension(self, t: int) -> int:
        return int(self.w.shape[0])

    def add(self, n: int) -> None:
        d = self.w.shape[0]
        w = np.concatenate([self.w, np.zeros((d, n))], axis=1)
        A = np.concatenate([self.A, np.ones((d, n))], axis=1)
        self.w, self.A = w, A
        self.A_inv = 1.0 / self.A
        if self.fading is not None:
            self.fading.add(n)

    def reset(self, rows: Ints) -> None:
        self.w[:, rows] = 0.0
        self.A[:, rows] = 1.0
        self.A_inv[:, rows] = 1.0
        if self.fading is not None:
            self.fading.since[rows] = NONE

    def arrays(self) -> Arrays:
        fading = {} if self.fading is None else self.fading.arrays(self._n_matrices())
        return {"w": self.w, "A": self.A, **fading}

    def restore(self, arrays: Arrays) -> None:
        w, A = take(arrays, "w", self.w.shape), take(arrays, "A", self.A.shape)
        if self.fading is not None:
            self.fading = self.fading.restored(arrays, self._n_matrices())
        self.w, self.A = w, A
        self.A_inv = 1.0 / self.A

    def _faded(self, A_inv: Floats, labels: slice | Ints = slice(None)) -> Floats:
        """Columns of A_inv as they count now, those of these labels: min(c/A, 1)."""
        if self.fading is None:
            return A_inv
        return np.minimum(self.fading.factors_at(labels) * A_inv, 1.0)

    def _n_matrices(self) -> int:
        return int(self.w.shape[1])

    def _fold(self, rows: Ints, g: Floats) -> None:
        self.A[:, rows] = 1.0 + g * (self.A[:, rows] - 1.0)
        self.A_inv[:, rows] = 1.0 / self.A[:, rows]


Rows = slice | Ints  # of w and A: features


def _entries(x: Vector) -> tuple[Rows, Floats]:
    """The rows of w that x touches, and its values there."""
    return (x.index, x.value) if isinstance(x, Sparse) else (slice(None), x)


def _cells(rows: Rows, labels: Ints) -> tuple[Rows, Ints]:
    """The index of these rows and labels in a d×K array."""
    return (rows if isinstance(rows, slice) else rows[:, None], labels)
