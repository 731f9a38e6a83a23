"""Forgetting: what was learned loses half its weight in h rounds, the prior never does.

With γ = 2^(-1/h) the matrix of a label is meant to be A = I + Σ_s γ^(t-s) x_s x_sᵀ. It is faded
lazily, so that a round costs what it costs without forgetting. A row keeps P = A⁻¹ as it was when
it was last folded, and the clock of that time. Until the next fold its A counts as divided by
c = 2^(age/h), so its inverse as c·P, but no squared norm counts as more than the prior's x·x.
A fold then divides by c what was learned, not the prior: with g = 1/c,

    A' = I + g (A - I),   P' = P (g I + (1-g) P)⁻¹.

Rows are folded once c reaches 16, and only at clocks that are multiples of h/16: eigenvalues of P
stay in (0, 1], and rounds between two folds can be played in one window.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.reproducible import exp2, solve
from semibandit.errors import FileError
from semibandit.models.compiled_types import NO_FADING, FadingArrays
from semibandit.models.model import NONE, Arrays, take, take_index

__all__ = ["Fading", "Forgetful", "folded", "gains"]

FOLD_AT = 4  # half-lives after which a row is folded: c = 2⁴
STRIDES = 16  # clocks in a half-life at which rows may be folded
FASTEST = 10.0  # halvings in a round, at most: more would leave no more than rounding errors
MOST_HALF_LIVES = 64  # that a file may say a row was not folded for
FOREVER = 1 << 62  # rounds that nobody will see


def gains(n: float, c: float, xx: float) -> tuple[float, float]:
    """The sizes of an update at x along u = P x, with n = u·x, if P counts as c·P.

    The inverse E = c·P has x·E x = c·n. If that is beyond the prior's xx = x·x, the prior is first
    restored in the direction of x: A grows along x xᵀ until x·E x = xx. Then A += x xᵀ. All of it
    is one update of P along u.

    Parameters
    ----------
    n, c, xx : float
        x·P x, the factor of P, and x·x.

    Returns
    -------
    along, shrink : float
        The update is w += step·along·u and P -= shrink·u uᵀ. With c = 1 both are 1/(1 + n).
    """
    e = c * n
    if e <= xx:
        return c / (1.0 + e), c / (1.0 + e)
    return xx / (n * (1.0 + xx)), (1.0 - xx / ((1.0 + xx) * e)) / n


def folded(P: Floats, g: float) -> Floats:
    """P (g I + (1-g) P)⁻¹, symmetric to the bit, for a symmetric P of which the lower half is read.

    The condition number of what is inverted is at most 1/g, so the solution is as exact as P.
    """
    P = np.tril(P).astype(np.float64)
    P += np.tril(P, -1).T
    M = (1.0 - g) * P
    M.flat[:: len(M) + 1] += g
    half = np.tril(solve(M, P))
    return np.asarray(half + np.tril(half, -1).T)


@dataclass
class Fading:
    """The clock of a state that forgets, and when each of its matrices was last folded.

    Parameters
    ----------
    half_life : float
        h, in rounds.
    now : int
        The clock: how many rounds have been learned.
    since : array of int
        By row, the clock at which its matrix was last folded; NONE if nothing was learned yet.
    """

    half_life: float
    now: int
    since: Ints

    def __post_init__(self) -> None:
        h = self.half_life
        self.rate = min(1.0 / h, FASTEST)  # halvings in a round
        self.stride = min(max(1, int(h // STRIDES)), FOREVER)
        self.oldest = min(math.ceil(min(FOLD_AT * h, FOREVER)), FOREVER)  # the age of a fold

    @classmethod
    def start(cls, half_life: float, n: int) -> Fading:
        """Nothing is learned yet, in n rows."""
        return cls(half_life, 0, np.full(n, NONE, dtype=np.intp))

    def factors(self, n: int) -> Floats:
        """c of the first n rows."""
        return self.factors_at(slice(n))

    def factors_at(self, rows: slice | Ints) -> Floats:
        """c of these rows."""
        since = self.since[rows]
        return exp2(self.rate * np.where(since < 0, 0, self.now - since))

    def factor(self, row: int) -> float:
        """c of one row."""
        since = int(self.since[row])
        return 1.0 if since < 0 else float(exp2(self.rate * (self.now - since)))

    def capped(self, norm2: Floats, xx: Floats | float, rows: Ints | None = None) -> Floats:
        """The norms c·x·P x of these rows, by default all, or the prior's x·x if that is less."""
        c = self.factors(norm2.shape[-1]) if rows is None else self.factors_at(rows)
        return np.minimum(c * norm2, xx)

    def touch(self, rows: Ints) -> None:
        """These rows learn in this round: those of which nothing was known begin to fade."""
        self.since[rows] = np.where(self.since[rows] < 0, self.now, self.since[rows])

    def reserve(self, need: int) -> None:
        """Make room for `need` rows."""
        if need > len(self.since):
            self.add(max(need, 2 * len(self.since)) - len(self.since))

    def add(self, n: int) -> None:
        """Add n rows of which nothing is known."""
        self.since = np.concatenate([self.since, np.full(n, NONE, dtype=np.intp)])

    def rounds_to_fold(self) -> int:
        """How many rounds can be learned before a row may have to be folded, at least 1."""
        known = self.since[self.since >= 0]
        first = min(int(known.min()), self.now) if len(known) else self.now
        due = -(-(first + self.oldest) // self.stride) * self.stride
        return max(1, due - self.now)

    def advance(self, rounds: int, fold: Callable[[Ints, Floats], None]) -> None:
        """Move the clock on, and fold(rows, g) the rows that are due on the way."""
        end = self.now + rounds
        while self.now // self.stride < end // self.stride:
            self.now = min(end, (self.now // self.stride + 1) * self.stride)
            due = np.flatnonzero((self.since >= 0) & (self.now - self.since >= self.oldest))
            if len(due):
                fold(due, 1.0 / self.factors(len(self.since))[due])
                self.since[due] = self.now
        self.now = end

    def arrays(self, n: int) -> Arrays:
        """The arrays of a snapshot of the first n rows."""
        return {"since": self.since[:n].astype(np.int64), "clock": np.array([self.now])}

    def restored(self, arrays: Arrays, n: int) -> Fading:
        """This fading with the clocks of a snapshot with n rows; `FileError` if it is damaged."""
        now = int(take(arrays, "clock", (1,), np.int64)[0])
        if now < 0:
            raise FileError(f"the array 'clock' holds {now}, expected a number of rounds")
        since = take_index(arrays, "since", n, limit=now + 1, least=NONE)
        if np.any(np.where(since < 0, 0, now - since) > MOST_HALF_LIVES * max(self.half_life, 1.0)):
            raise FileError("the array 'since' has clocks at which rows would long be folded")
        return Fading(self.half_life, now, since)


class Forgetful:
    """A state that can forget; without a half-life it never does.

    The state supplies `_n_matrices` and `_fold`.
    """

    fading: Fading | None = None

    def set_half_life(self, half_life: float) -> None:
        """What is learned from now on loses half its weight in so many rounds."""
        self.fading = Fading.start(half_life, self._n_matrices())

    def advance(self, rounds: int) -> None:
        """So many rounds have been learned; matrices that are due are folded."""
        if self.fading is not None:
            self.fading.advance(rounds, self._fold)

    def rounds_to_fold(self) -> int:
        """How many rounds may be learned before `advance` has to be called."""
        return FOREVER if self.fading is None else self.fading.rounds_to_fold()

    def fading_arrays(self, rounds: int) -> FadingArrays:
        """How the matrices fade in the next rounds, up to the next fold, for compiled loops."""
        f = self.fading
        if f is None:
            return NO_FADING
        factor, grow = f.factors(len(f.since)), exp2(f.rate * np.arange(rounds))
        return FadingArrays(f.now, f.since, factor, grow)

    def _n_matrices(self) -> int:
        """How many matrices there are."""
        raise NotImplementedError

    def _fold(self, rows: Ints, g: Floats) -> None:
        """Divide by 1/g what each of these rows has learned."""
        raise NotImplementedError
