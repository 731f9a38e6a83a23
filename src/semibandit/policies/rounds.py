"""Many rounds at once, for replay: the learner's own decisions, only faster.

An engine runs blocks of rounds on a learner's state and leaves it as the plain loop would have.
`engine_for` says which learners have one; all others are played round by round.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from semibandit._arrays import Array, Bools, Floats, Ints
from semibandit._numba import has_numba
from semibandit.models.diagonal import DiagonalState
from semibandit.models.full import FullState
from semibandit.models.shared import SharedState
from semibandit.policies.greedy import Greedy
from semibandit.policies.learner import Learner
from semibandit.policies.obr import OBR
from semibandit.policies.slate_ucb import SecondOrder, SlateUCB
from semibandit.theory.cost import constant, decreasing
from semibandit.theory.surrogate import Logistic, Square
from semibandit.theory.width import is_ours

__all__ = ["Block", "Engine", "Outcome", "engine_for"]

TABLE_SLOTS = 1024  # costs other than ours are handed over as a table of up to so many slots
LOG_BYTES = 1 << 30  # a window's log of updates may take this much


@dataclass(frozen=True, eq=False)
class Block:
    """Rounds to play: contexts as the model sees them, answers by model row, limits."""

    X: Any  # rounds × d, dense, or sparse for a model that takes it
    ptr: Ints  # the relevant rows of round t are indices[ptr[t]:ptr[t + 1]], sorted
    indices: Ints
    slots: Ints
    mask: Bools  # rounds × rows, what may be shown; empty for all

    def __len__(self) -> int:
        return len(self.slots)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What was shown, by model row, padded with -1; which of it was relevant; how many it were."""

    slates: Array
    hits: Bools
    sizes: Ints

    @classmethod
    def of(cls, rounds: int, most: int) -> Outcome:
        return cls(
            np.full((rounds, most), -1, dtype=np.int32),
            np.zeros((rounds, most), dtype=np.bool_),
            np.zeros(rounds, dtype=np.intp),
        )


class Engine(Protocol):
    """Plays blocks of rounds."""

    def play(self, block: Block) -> Outcome: ...

    def close(self) -> None: ...


def engine_for(learner: Learner, most: int, threads: int | None) -> Engine | None:
    """The engine for this learner and slates of up to `most` labels; None for the plain loop."""
    if type(learner) not in (SlateUCB, Greedy, OBR) or not isinstance(learner, SecondOrder):
        return None
    if type(learner.loss) not in (Square, Logistic) or not has_numba():
        return None
    if isinstance(learner, SlateUCB) and not is_ours(learner.width):
        return None
    if learner.cost.cost not in (decreasing, constant) and most > TABLE_SLOTS:
        return None
    state = learner._state
    if isinstance(state, FullState):
        wide = 64 * most * (state.d + 64) * 8 > LOG_BYTES
        return None if wide else WindowEngine(learner, most, threads or os.cpu_count() or 1)
    if isinstance(state, DiagonalState):
        return DiagonalEngine(learner, most)
    return SharedEngine(learner, most) if isinstance(state, SharedState) else None


class _Base:
    """What the engines share: the learner's rule in numbers, and what may be shown."""

    def __init__(self, learner: SecondOrder, most: int) -> None:
        self.learner, self.most = learner, most
        loss, costs = learner.loss, learner.cost
        kind = 0 if costs.cost is decreasing else 1 if costs.cost is constant else 2
        table = np.zeros((most, most) if kind == 2 else (1, 1))
        for s in range(1, most + 1 if kind == 2 else 1):
            table[s - 1, :s] = costs.row(s)
        self.rule = (loss.R, isinstance(loss, Logistic), learner.a, kind, table)
        self.rows = learner._labels.rows_of_known()

    def spread(self, rounds: int) -> Floats:
        """ε = spread·sqrt(x·A⁻¹x), before the cap at 2R."""
        learner = self.learner
        if not isinstance(learner, SlateUCB):
            return np.zeros(rounds)
        return np.array([learner._spread(t) for t in range(learner.t, learner.t + rounds)])

    def asked(self, block: Block) -> tuple[Any, ...]:
        """What the loops take of the rule and of the rounds."""
        return (
            self.rule,
            self.learner.loss.c_L2,
            block.slots,
            block.mask,
            block.ptr,
            block.indices,
        )

    def told(self, done: Outcome) -> tuple[Any, ...]:
        """How the loops order equals, and where they write what was shown."""
        return self.learner._tie, done.slates, done.hits, done.sizes

    def played(self, rounds: int) -> None:
        self.learner._t += rounds
        self.learner._changes += 1

    def close(self) -> None:
        pass


class WindowEngine(_Base):
    """Full matrices, a window at a time."""

    def __init__(self, learner: SecondOrder, most: int, threads: int) -> None:
        from semibandit.models.window import Window

        super().__init__(learner, most)
        assert isinstance(learner._state, FullState)
        self.window = Window(learner._state, threads)
        untouched = self.rows[learner._state.home[self.rows] < 0]
        order = untouched[np.argsort(learner._tie[untouched], kind="stable")]
        self.queue = (order, np.zeros(1, dtype=np.intp))

    def play(self, block: Block) -> Outcome:
        done, B = Outcome.of(len(block), self.most), self.window.size
        with self.learner._lock.writing():
            try:
                for first in range(0, len(block), B):
                    self._window(block, first, min(first + B, len(block)), done)
            finally:
                self.window.whole()
        return done

    def _window(self, block: Block, first: int, end: int, done: Outcome) -> None:
        from semibandit.policies._kernels import window_rounds

        learner, window, s = self.learner, self.window, self.window.state
        rounds = end - first
        window.open(block.X[first:end], self.most)
        n = s.n
        try:
            n = window_rounds(
                rounds,
                self.spread(rounds),
                self.rule,
                learner.loss.c_L2,
                block.slots[first:end],
                block.mask[first:end],
                block.ptr[first : end + 1],
                block.indices,
                window.X,
                window.XT,
                window.xx,
                (s.owner, s.w, s.block, s.last, s.home, n),
                window.dense(),
                window.M,
                window.N,
                window.log,
                self.queue,
                learner._tie,
                done.slates[first:end],
                done.hits[first:end],
                done.sizes[first:end],
            )
        finally:  # weights have moved: matrices must follow, whatever comes
            window.close(n)
            self.played(rounds)

    def close(self) -> None:
        self.window.shut()


class DiagonalEngine(_Base):
    """Diagonal matrices: one compiled loop."""

    def play(self, block: Block) -> Outcome:
        from semibandit.policies._kernels import diagonal_rounds

        done, learner = Outcome.of(len(block), self.most), self.learner
        with learner._lock.writing():
            s: Any = learner._state
            diagonal_rounds(
                len(block),
                self.spread(len(block)),
                *self.asked(block),
                *_entries(block.X),
                self.rows,
                s.w,
                s.A,
                s.A_inv,
                *self.told(done),
            )
            self.played(len(block))
        return done


class SharedEngine(_Base):
    """OBR: one compiled loop."""

    def play(self, block: Block) -> Outcome:
        from semibandit.policies._kernels import shared_rounds

        done, learner = Outcome.of(len(block), self.most), self.learner
        with learner._lock.writing():
            s: Any = learner._state
            shared_rounds(
                len(block),
                *self.asked(block),
                block.X,
                self.rows,
                s.w,
                s.A_inv,
                *self.told(done),
            )
            self.played(len(block))
        return done


def _entries(X: Any) -> tuple[Ints, Ints, Floats]:
    """The nonzero entries of every row: of a sparse block its own, of a dense one all."""
    if not isinstance(X, np.ndarray):
        return X.indptr.astype(np.intp), X.indices.astype(np.intp), X.data
    T, d = X.shape
    return np.arange(T + 1) * d, np.tile(np.arange(d), T), X.ravel()
