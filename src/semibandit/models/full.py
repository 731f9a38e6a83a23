"""Full matrices: what the paper analyses, in memory and time that follow the feedback.

A label is kept in one of three forms, which agree to the last digit that matters:

    untouched  nothing is kept: w = 0, A = I, so its margin is 0 and x·A⁻¹x = x·x
    low-rank   updated N < d/2 times: A⁻¹ = I - VᵀV with V (N×d); a look costs O(N d)
    dense      A⁻¹ itself (d×d); a look costs O(d²)

`low_rank.py` and `dense.py` hold the matrices of the last two.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.checks import shortened
from semibandit._util.numba import use_compiled
from semibandit._util.ordering import SCORE_GRID
from semibandit._util.reproducible import dot, less_outer
from semibandit.errors import InputError
from semibandit.models import partial_looks
from semibandit.models.best import BestSearch
from semibandit.models.capacity import with_capacity
from semibandit.models.compiled_types import Rows, UpdatedRows
from semibandit.models.dense import DenseBlocks
from semibandit.models.fading import Forgetful, gains
from semibandit.models.gpu.device import check_word, find_device
from semibandit.models.low_rank import LowRankPool
from semibandit.models.model import (
    NO_NORMS,
    NONE,
    Arrays,
    Look,
    State,
    Vector,
    dense,
    take,
    take_index,
)
from semibandit.models.partial import Aim, Found, OneByOne

__all__ = ["Full", "FullState"]

NO_COUNTS: Ints = np.empty(0, dtype=np.intp)
LEAST = 1_000_000  # multiplications below which numpy is as fast as numba
LEAST_STEPS = 10_000  # the same for steps, whose numpy is a call for every update
TO_LOAD = 10_000_000_000  # those that are worth a second for loading it, or 20 for compiling


@dataclass(frozen=True)
class Full:
    """Full second-order matrices: the algorithm of Figure 2 to the letter.

    Paper: Figure 2.

    Parameters
    ----------
    dtype : {"float64", "float32"}, optional
        The type of the numbers; by default "float64", on a device "float32". "float32" takes half
        the memory and makes `replay` up to twice as fast. Margins are then good to about 1e-5 for
        some ten thousand updates of a label, so slates may differ if scores are closer than that.
    device : {"cuda", "cuda:1", ..., "cpu"}, optional
        Where weights and matrices are kept: on a GPU, or with "cpu" in torch on the CPU, which is
        there to try the same code without a GPU. Both need the extra `gpu`. By default they are
        numpy's. The device is not saved with a learner: `load(path, device="cuda")`.

    Raises
    ------
    InputError
        If dtype is neither of them, device names none, or dtype is "float64" on a device.

    Examples
    --------
    >>> Full().start(n_labels=3, n_features=2).look(np.array([0.6, 0.8])).norm2
    array([1., 1., 1.])
    """

    dtype: str | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        if self.device is not None:
            check_word(self.device)
        dtype = self.dtype or ("float64" if self.device is None else "float32")
        if dtype not in ("float64", "float32"):
            raise InputError(
                f"dtype = {shortened(self.dtype)}, but it must be 'float64' or 'float32'"
            )
        if dtype == "float64" and self.device is not None:
            raise InputError(
                f"dtype = 'float64', but numbers on the device {self.device!r} are 'float32'"
            )
        object.__setattr__(self, "dtype", dtype)

    @property
    def sparse(self) -> bool:
        return False

    @property
    def unproven(self) -> None:
        """A_i = I + Σ x xᵀ, as Lemma 7 has it."""

    def start(self, n_labels: int, n_features: int) -> State:
        if self.device is None:
            return FullState.start(n_labels, n_features, str(self.dtype))
        find_device(self.device)  # says what is missing, before torch is imported
        gpu = importlib.import_module("semibandit.models.gpu.state")
        return cast(State, gpu.GpuState(n_labels, n_features, self.device))


@dataclass
class FullState(OneByOne, Forgetful):
    """All labels. Touched ones have a row; arrays by row may be longer than the n that are used."""

    n: int
    row_of: Ints  # label -> its row, or NONE if it is untouched
    label_of: Ints  # row -> its label
    w: Floats  # row -> weights
    count: Ints  # row -> how often it was updated
    dense: DenseBlocks
    low_rank: LowRankPool
    grid: ClassVar[float] = SCORE_GRID

    def __post_init__(self) -> None:
        self.search = BestSearch(self.d, self.w.dtype)  # no part of what was learned
        self._determinants = NO_COUNTS, NO_NORMS  # of each row: its count when, and ln|A|

    @classmethod
    def start(cls, n_labels: int, d: int, dtype: str = "float64") -> FullState:
        """All labels untouched."""
        return cls(
            n=0,
            row_of=np.full(n_labels, NONE, dtype=np.intp),
            label_of=np.empty(0, dtype=np.intp),
            w=np.empty((0, d), dtype=dtype),
            count=np.empty(0, dtype=np.intp),
            dense=DenseBlocks.start(d, dtype),
            low_rank=LowRankPool.start(d, dtype),
        )

    @property
    def d(self) -> int:
        """How many features a context has."""
        return int(self.w.shape[1])

    @property
    def turns_dense_at(self) -> int:
        """The number of updates with which a label gets a dense matrix."""
        return max(1, self.d // 2)

    def look(self, x: Vector) -> Look:
        """Margins w_i·x and squared norms x·A_i⁻¹x, for every label i."""
        plain = dense(x)
        x = plain.astype(self.w.dtype, copy=False)
        margin, norm2 = np.zeros(len(self.row_of)), np.full(len(self.row_of), float(x @ x))
        if self.n:
            margin[self.label_of[: self.n]] = self.w[: self.n] @ x
            touched = np.full(self.n, float(x @ x))
            self.low_rank.lower_norms(x, touched)
            if self.dense.n:
                touched[self.dense.row_of[: self.dense.n]] = self.dense.norms(x)
            if self.fading is not None:
                touched = self.fading.capped(touched, float(x @ x))
            norm2[self.label_of[: self.n]] = touched
        return Look(plain, margin, norm2)

    def best(self, x: Vector, aim: Aim) -> Found:
        """The labels that are wanted, see `BestState`."""
        return self.search.find(self, x, aim)

    def best_many(self, xs: Sequence[Vector], aims: Sequence[Aim]) -> list[Found]:
        return [*map(self.best, xs, aims)]

    def prefers_best(self, contexts: int, most: int) -> bool:
        """Whether `best` is expected to cost less than `look`; many contexts are one product."""
        return contexts == 1 and self.search.pays(self, most)

    def margins(self, x: Vector) -> Look:
        plain = dense(x)
        margin = np.zeros(len(self.row_of))
        if self.n:
            x = plain.astype(self.w.dtype, copy=False)
            margin[self.label_of[: self.n]] = dot(self.w[: self.n], x)
        return Look(plain, margin, NO_NORMS)

    def look_many(self, xs: Sequence[Vector]) -> tuple[Floats, Floats]:
        X = np.array([dense(x) for x in xs], dtype=self.w.dtype)
        margin, norm2 = np.empty((len(X), len(self.row_of))), np.empty((len(X), len(self.row_of)))
        work = len(X) * self.d * (self.n + self.low_rank.n + self.dense.n * self.d)
        if use_compiled("models", work, least=LEAST, to_load=TO_LOAD):
            from semibandit.models.compiled_looks import look_at_many

            look_at_many(X, self.n, self.rows(), margin, norm2)
        else:
            self._look_at_many(X, margin, norm2)
        if self.fading is not None:
            factor = np.ones(len(self.row_of))
            factor[self.label_of[: self.n]] = self.fading.factors(self.n)
            norm2 *= factor
            np.minimum(norm2, np.einsum("bc,bc->b", X, X)[:, None], out=norm2)
        return margin, norm2

    def _look_at_many(self, X: Floats, margin: Floats, norm2: Floats) -> None:
        """Write margins and squared norms at contexts X (B×d) into arrays (B×K)."""
        labels, xx = self.label_of[: self.n], np.einsum("bc,bc->b", X, X)
        touched = np.repeat(xx[:, None], self.n, axis=1)
        self.low_rank.lower_norms_of_many(X, touched)
        self.dense.norms_of_many(X, touched)
        margin[:], norm2[:] = 0.0, xx[:, None]
        margin[:, labels], norm2[:, labels] = X @ self.w[: self.n].T, touched

    def look_at(self, x: Vector, labels: Ints) -> Look:
        return partial_looks.look_at(self, x, labels)

    def margins_at(self, x: Vector, labels: Ints) -> Look:
        return partial_looks.margins_at(self, x, labels)

    def look_at_many(self, xs: Sequence[Vector], labels: Sequence[Ints]) -> list[Look]:
        return partial_looks.look_at_many(self, xs, labels)

    def step(self, look: Look, moved: Ints, change: Floats, shown: Ints, steps: Floats) -> None:
        x = dense(look.x).astype(self.w.dtype, copy=False)
        move = dict(zip(moved.tolist(), change.tolist(), strict=True))
        forward = dict(zip(shown.tolist(), steps.tolist(), strict=True))
        rows = {label: self._row(label) for label in {**move, **forward}}
        self.low_rank.reserve(len(forward))
        soon = self.count[[rows[label] for label in forward]] + 1 == self.turns_dense_at
        self.dense.reserve(int(soon.sum()), len(self.row_of))
        along = {label: self._direction(row, x) for label, row in rows.items()}
        for label, row in rows.items():  # from here on nothing can fail
            u = along[label]
            norm2 = float(dot(u, x))
            amount, v = self._update(row, u, norm2, x, forward.get(label, 0.0))
            if label in move:  # else the norm of a tiny context may be 0
                amount += move[label] / norm2
            self.w[row] += amount * u
            if label in forward:
                self._subtract(row, v)
        if self.fading is not None:
            self.fading.touch(np.array([rows[label] for label in forward], dtype=np.intp))
        if soon.any():
            self.low_rank.compact()

    def dimension(self, t: int) -> int:
        return self.d

    def log_det(self, labels: Ints | None) -> Floats:
        """ln|A_i|; computed anew for the rows that were updated meanwhile."""
        counts, known = self._determinants
        fresh = self.n - len(counts)
        counts, known = np.append(counts, np.full(fresh, NONE)), np.append(known, np.zeros(fresh))
        changed = counts != self.count[: self.n]
        for row in np.flatnonzero(changed if self.fading is None else np.ones_like(changed)):
            known[row] = -np.linalg.slogdet(self.inverse(int(self.label_of[row])))[1]
        self._determinants = self.count[: self.n].copy(), known  # at once: others may be ranking
        rows = self.row_of if labels is None else self.row_of[labels]
        return np.where(rows >= 0, np.append(known, 0.0)[rows], 0.0)

    def add(self, n: int) -> None:
        self.row_of = np.concatenate([self.row_of, np.full(n, NONE, dtype=np.intp)])

    def reset(self, labels: Ints) -> None:
        """Make these labels untouched; the rows of the others close up, in their order."""
        gone = self.row_of[labels]
        gone = gone[gone >= 0]
        if not len(gone):
            return
        keep = np.ones(self.n, dtype=np.bool_)
        keep[gone] = False
        new_row, rows = np.where(keep, np.cumsum(keep) - 1, NONE), np.flatnonzero(keep)
        self.row_of = np.where(self.row_of >= 0, new_row[self.row_of], NONE)
        self.label_of, self.w = self.label_of[rows], self.w[rows]
        self.count, self.n = self.count[rows], len(rows)
        if self.fading is not None:
            self.fading.since = self.fading.since[rows]
        self._determinants = NO_COUNTS, NO_NORMS
        self.search.bounds.keep_rows(rows)
        self.search.untouched.restart()
        self.dense.keep_rows(rows, new_row)
        self.low_rank.keep_rows(len(rows), new_row)

    def arrays(self) -> Arrays:
        return {
            "owner": self.label_of[: self.n].astype(np.int64),
            "w": self.w[: self.n],
            "count": self.count[: self.n].astype(np.int64),
            **self.low_rank.arrays(),
            **self.dense.arrays(self.n),
            **({} if self.fading is None else self.fading.arrays(self.n)),
        }

    def restore(self, arrays: Arrays) -> None:
        d, dtype = self.d, self.w.dtype.type
        n, n_labels = len(arrays.get("owner", ())), len(self.row_of)
        label_of = take_index(arrays, "owner", n, limit=n_labels, once=True)
        w, count = take(arrays, "w", (n, d), dtype), take(arrays, "count", (n,), np.int64)
        pool = LowRankPool.from_arrays(arrays, n, d, dtype)
        blocks = DenseBlocks.from_arrays(arrays, n, d, dtype)
        if self.fading is not None:
            self.fading = self.fading.restored(arrays, n)
        self.row_of = np.full(n_labels, NONE, dtype=np.intp)
        self.row_of[label_of] = np.arange(n)
        self.n, self.label_of, self.w, self.count = n, label_of, w, count.astype(np.intp)
        self.dense, self.low_rank = blocks, pool
        self.search = BestSearch(d, dtype)
        self._determinants = NO_COUNTS, NO_NORMS

    def inverse(self, label: int) -> Floats:
        """A_i⁻¹ of one label, as a copy; without the factor c of `fading`, if the state forgets."""
        row = int(self.row_of[label])
        if row < 0:
            return np.eye(self.d, dtype=self.w.dtype)
        return self.dense.matrix(row).copy() if self.dense.has(row) else self._expanded(row)

    def rows(self) -> Rows:
        """The touched labels as compiled functions take them, until a label is added or learned."""
        blocks, pool = self.dense, self.low_rank
        forms = blocks.block_of, blocks.lines(), pool.newest_of, pool.before, pool.V
        return Rows(self.row_of, self.label_of, self.w, *forms)

    def rows_to_update(self, labels: Ints) -> UpdatedRows:
        """The rows for compiled updates of these labels, some of which may be untouched.

        Call `set_used` afterwards.
        """
        untouched = labels[self.row_of[labels] < 0]
        self.reserve_rows(len(set(untouched.tolist())))
        self.low_rank.reserve(len(labels))
        used, vector_of = np.array([self.n, self.low_rank.n]), self.low_rank.row_of
        return UpdatedRows(self.rows(), self.count, self.dense.errors(), vector_of, used)

    def set_used(self, updated: UpdatedRows) -> None:
        """Take over how many rows and vectors there are after compiled updates."""
        self.n, self.low_rank.n = map(int, updated.used)

    def make_dense(self, row: int) -> None:
        """Turn a row from low-rank form into a matrix; there must be capacity for it."""
        self.dense.append(row, self._expanded(row))
        self.low_rank.drop(row)

    def reserve_rows(self, more: int) -> None:
        """Make room for more touched labels."""
        used, need, most = self.n, self.n + more, len(self.row_of)
        self.label_of = with_capacity(self.label_of, used, need, most)
        self.w = with_capacity(self.w, used, need, most)
        self.count = with_capacity(self.count, used, need, most)
        self.dense.reserve_rows(used, need, most)
        self.low_rank.reserve_rows(used, need, most)
        if self.fading is not None:
            self.fading.reserve(len(self.label_of))

    def _row(self, label: int) -> int:
        """The label's row; an untouched label gets one that says the same."""
        row = int(self.row_of[label])
        if row < 0:
            self.reserve_rows(1)
            row = self.n
            self.label_of[row], self.w[row], self.count[row] = label, 0.0, 0
            self.dense.start_rows(row, row + 1)
            self.low_rank.start_rows(row, row + 1)
            self.row_of[label] = row
            self.n += 1
        return row

    def _direction(self, row: int, x: Floats) -> Floats:
        """A⁻¹x."""
        if self.dense.has(row):
            return self.dense.times(row, x)
        V = self.low_rank.vectors(row)[::-1]
        return np.asarray(np.subtract.reduce(np.concatenate([x[None], dot(V, x)[:, None] * V])))

    def _expanded(self, row: int) -> Floats:
        """A⁻¹ = I - VᵀV of a row in low-rank form."""
        A, V = np.eye(self.d, dtype=self.w.dtype), self.low_rank.vectors(row)
        if use_compiled("steps", V.size * self.d, least=LEAST_STEPS):
            from semibandit.models.compiled_steps import subtract_outer

            for v in V:
                subtract_outer(A.reshape(-1), v)
        else:
            less_outer(A, V)
        return A

    def _subtract(self, row: int, v: Floats) -> None:
        """A⁻¹ -= v vᵀ."""
        self.count[row] += 1
        if self.dense.has(row):
            self.dense.subtract(row, v, int(self.count[row]))
            return
        self.low_rank.append(row, v)
        if self.count[row] >= self.turns_dense_at:
            self.make_dense(row)

    def _update(
        self, row: int, u: Floats, norm2: float, x: Floats, step: float
    ) -> tuple[float, Floats]:
        """How far a step moves w along u = A⁻¹x, and the v of A⁻¹ -= v vᵀ."""
        if self.fading is None:
            return step / (1.0 + norm2), u / math.sqrt(1.0 + norm2)
        along, shrink = gains(norm2, self.fading.factor(row), float(dot(x, x)))
        return step * along, u * math.sqrt(shrink)

    def _n_matrices(self) -> int:
        return self.n

    def _fold(self, rows: Ints, g: Floats) -> None:
        for row, one in zip(rows.tolist(), g.tolist(), strict=True):
            (self.dense if self.dense.has(row) else self.low_rank).fold(row, one)
        self.search.bounds.drop(rows)  # a fold makes matrices larger
