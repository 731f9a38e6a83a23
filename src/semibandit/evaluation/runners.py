"""Many rounds at once, for replay: the learner's own decisions, only faster.

A runner plays blocks of rounds on a learner's state and leaves it as the plain loop would have.
There is one for learners with a fast rule (`Learner.fast_rule`); others are played round by round.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from semibandit._util.arrays import Array, Bools, Floats, Ints
from semibandit._util.numba import has_numba
from semibandit.models.diagonal import DiagonalState
from semibandit.models.full import FullState
from semibandit.models.shared import SharedState
from semibandit.policies.fast_rule import TABLE, FastRule
from semibandit.policies.learner import Learner

__all__ = ["Block", "Outcome", "Runner", "runner_for"]

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


class Runner(Protocol):
    """Plays blocks of rounds; labels are rows of the model, of which there are `n_rows`."""

    rows: Ints  # the rows that hold a label, in the order of the learner's labels
    n_rows: int

    def play(self, block: Block) -> Outcome: ...

    def close(self) -> None: ...


def runner_for(learner: Learner, most: int, threads: int | None) -> Runner | None:
    """The runner for this learner and slates of up to `most` labels; None for the plain loop."""
    rule = learner.fast_rule()
    if rule is None or rule.loss is None or not has_numba():
        return None
    if rule.cost_kind == TABLE and most > TABLE_SLOTS:
        return None
    state = rule.state
    if isinstance(state, FullState):
        wide = 64 * most * (state.d + 64) * 8 > LOG_BYTES
        return None if wide else WindowRunner(learner, rule, most, threads or os.cpu_count() or 1)
    if isinstance(state, DiagonalState):
        return DiagonalRunner(learner, rule, most)
    return SharedRunner(learner, rule, most) if isinstance(state, SharedState) else None


class _Base:
    """What the runners share: the learner, its rule in numbers, and which rows hold a label."""

    def __init__(self, learner: Learner, rule: FastRule, most: int) -> None:
        self.learner, self.rule, self.most = learner, rule, most
        self.numbers = rule.numbers(most)
        self.rows, self.n_rows = rule.rows, len(rule.tie)

    def spread(self, rounds: int) -> Floats:
        """ε = spread·sqrt(x·A⁻¹x) in each of the next rounds, before the cap at 2R."""
        first = self.learner.t
        return np.array([self.rule.spread(t) for t in range(first, first + rounds)])

    def asked(self, block: Block) -> tuple[Any, ...]:
        """What the loops take of the rule and of the rounds."""
        return self.numbers, block.slots, block.mask, block.ptr, block.indices

    def told(self, done: Outcome) -> tuple[Any, ...]:
        """How the loops order equals, and where they write what was shown."""
        return self.rule.tie, done.slates, done.hits, done.sizes

    def close(self) -> None:
        pass


class WindowRunner(_Base):
    """Full matrices, a window at a time."""

    def __init__(self, learner: Learner, rule: FastRule, most: int, threads: int) -> None:
        from semibandit.models.window import Window

        super().__init__(learner, rule, most)
        assert isinstance(rule.state, FullState)
        self.window = Window(rule.state, threads)
        untouched = self.rows[rule.state.home[self.rows] < 0]
        order = untouched[np.argsort(rule.tie[untouched], kind="stable")]
        self.queue = (order, np.zeros(1, dtype=np.intp))

    def play(self, block: Block) -> Outcome:
        done, B = Outcome.of(len(block), self.most), self.window.size
        with self.learner.exclusive():
            try:
                for first in range(0, len(block), B):
                    self._window(block, first, min(first + B, len(block)), done)
            finally:
                self.window.whole()
        return done

    def _window(self, block: Block, first: int, end: int, done: Outcome) -> None:
        from semibandit.policies.compiled import window_rounds

        window, s = self.window, self.window.state
        rounds = end - first
        window.open(block.X[first:end], self.most)
        n = s.n
        try:
            n = window_rounds(
                rounds,
                self.spread(rounds),
                self.numbers,
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
                self.rule.tie,
                done.slates[first:end],
                done.hits[first:end],
                done.sizes[first:end],
            )
        finally:  # weights have moved: matrices must follow, whatever comes
            window.close(n)
            self.learner.count_rounds(rounds)

    def close(self) -> None:
        self.window.shut()


class DiagonalRunner(_Base):
    """Diagonal matrices: one compiled loop."""

    def play(self, block: Block) -> Outcome:
        from semibandit.policies.compiled import diagonal_rounds

        done, learner = Outcome.of(len(block), self.most), self.learner
        with learner.exclusive():
            s: Any = self.rule.state
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
            learner.count_rounds(len(block))
        return done


class SharedRunner(_Base):
    """OBR: one compiled loop."""

    def play(self, block: Block) -> Outcome:
        from semibandit.policies.compiled import shared_rounds

        done, learner = Outcome.of(len(block), self.most), self.learner
        with learner.exclusive():
            s: Any = self.rule.state
            shared_rounds(
                len(block),
                *self.asked(block),
                block.X,
                self.rows,
                s.w,
                s.A_inv,
                *self.told(done),
            )
            learner.count_rounds(len(block))
        return done


def _entries(X: Any) -> tuple[Ints, Ints, Floats]:
    """The nonzero entries of every row: of a sparse block its own, of a dense one all."""
    if not isinstance(X, np.ndarray):
        return X.indptr.astype(np.intp), X.indices.astype(np.intp), X.data
    T, d = X.shape
    return np.arange(T + 1) * d, np.tile(np.arange(d), T), X.ravel()
