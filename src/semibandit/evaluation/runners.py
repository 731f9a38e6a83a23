"""Compiled ways to play many rounds at once, for replay: the learner's own decisions, only faster.

A runner plays blocks of rounds on a learner's state and leaves it as the plain loop would have.
There is one for learners with a fast rule (`Learner.fast_rule`); others are played round by round.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit._util.numba import has_numba
from semibandit.evaluation.compiled_types import (
    DiagonalArrays,
    Entries,
    Outcome,
    RoundInput,
    Untouched,
)
from semibandit.models.diagonal import DiagonalState
from semibandit.models.full import Full, FullState
from semibandit.models.shared import SharedState
from semibandit.policies.fast_rule import TABLE, FastRule, can_compile_state, redefined
from semibandit.policies.features.encoder import Encoder
from semibandit.policies.learner import Learner
from semibandit.policies.randomised import Randomised

__all__ = ["PreparedBlock", "Runner", "RunnerBase", "engine_of", "runner_for", "why_plain"]

TABLE_SLOTS = (
    1024  # slots up to which costs other than ours are given to compiled loops, as a table
)
POLICIES = "semibandit.policies."  # where our learners are
LOG_BYTES = 1 << 30  # memory that a window's log of updates may take


@dataclass(frozen=True, eq=False)
class PreparedBlock:
    """A block of rounds as runners take it: contexts are scaled, labels are rows of the model.

    Parameters
    ----------
    given : array or sparse matrix
        The contexts as they were given, rounds × features.
    X : array or sparse matrix
        The contexts as the model sees them, rounds × d; sparse if it takes sparse contexts.
    ptr, indices : arrays of int
        The relevant rows of round t are indices[ptr[t]:ptr[t + 1]], sorted.
    slots : array of int
        How many labels may be shown in each round.
    mask : array of bool
        Rounds × rows, what may be shown; empty if all may.
    encoder : Encoder, optional
        The encoder that knows the values of all these contexts, if they have named features.
    """

    given: Any
    X: Any
    ptr: Ints
    indices: Ints
    slots: Ints
    mask: Bools
    encoder: Encoder | None = None

    def __len__(self) -> int:
        return len(self.slots)


class Runner(Protocol):
    """Plays blocks of rounds; labels are rows of the model, of which there are `n_rows`."""

    rows: Ints  # the rows that hold a label, in the order of the learner's labels
    n_rows: int

    def play(self, block: PreparedBlock) -> Outcome:
        """Rank and learn every round of the block, in its order; return what was shown."""
        ...

    def close(self) -> None:
        """Free what the runner holds besides memory; it plays no more."""
        ...


def runner_for(
    learner: Learner, most: int, threads: int | None, *, masked: bool = False
) -> Runner | None:
    """The runner for a learner, or None if it has to be played round by round.

    Parameters
    ----------
    learner : Learner
        Whose decisions the runner is to make.
    most : int
        The most labels a slate may have.
    threads : int, optional
        How many threads may be used; by default one for each core.
    masked : bool
        Whether some labels may be shown in some rounds only.
    """
    rule = learner.fast_rule()
    if rule is None or why_plain(learner, most, masked=masked) is not None:
        return None
    state = rule.state
    if isinstance(state, FullState):
        return WindowRunner(learner, rule, most, threads or os.cpu_count() or 1)
    if isinstance(state, DiagonalState):
        return DiagonalRunner(learner, rule, most)
    if isinstance(state, SharedState):
        return SharedRunner(learner, rule, most)
    from semibandit.evaluation.gpu_runner import GpuRunner

    return GpuRunner(learner, rule, most)


def engine_of(learner: Learner | Randomised) -> str:
    """Say what plays the rounds of a replay in a learner's place, or why it is asked itself.

    Parameters
    ----------
    learner : Learner
        The learner.

    Returns
    -------
    str
        "compiled loops", "a GPU", or "Python: " and the reason. Slates are the same.

    Examples
    --------
    >>> import semibandit as sb
    >>> class Mine(sb.SlateUCB):
    ...     def _pick(self, view, request):
    ...         return super()._pick(view, request)[::-1]
    >>> engine_of(Mine(n_features=2, labels=3))
    'Python: Mine._pick is defined anew'
    """
    if isinstance(learner, Randomised):
        return f"Python: {type(learner).__name__} draws every slate"
    why = why_plain(learner, 1)
    if why is not None:
        return f"Python: {why}"
    return "a GPU" if _is_on_device(learner) else "compiled loops"


def why_plain(learner: Learner, most: int, *, masked: bool = False) -> str | None:
    """Why a learner has to be played round by round, as `runner_for` takes it; None if not."""
    rule = learner.fast_rule()
    if rule is None:
        ours = (one for one in type(learner).__mro__ if one.__module__.startswith(POLICIES))
        kind = next(ours)
        anew = redefined(learner, kind)
        return f"{anew} is defined anew" if anew else f"{kind.__name__} is not compiled"
    if rule.loss is None:
        return "its scores, its width or its loss are not compiled"
    if not rule.learns_all_shown:
        return "examination= learns a part of what was shown"
    if not can_compile_state(rule.state):
        return f"the state {type(rule.state).__name__} is not compiled"
    if _is_on_device(learner):
        from semibandit.evaluation.gpu_runner import can_play

        fits = can_play(rule, most, masked=masked)
        return None if fits else "its settings or candidates are not played on a device"
    if not has_numba():
        return "numba is missing: pip install 'semibandit[fast]'"
    if rule.cost_kind == TABLE and most > TABLE_SLOTS:
        return f"its costs are a function, and slates have more than {TABLE_SLOTS} labels"
    state = rule.state
    if isinstance(state, FullState):
        too_large = 64 * most * (state.d + 64) * 8 > LOG_BYTES
        return "a window of such contexts and slates takes too much memory" if too_large else None
    known = isinstance(state, DiagonalState | SharedState)
    return None if known else f"the model {type(state).__name__} is not compiled"


def _is_on_device(learner: Learner) -> bool:
    model = getattr(learner, "model", None)
    return isinstance(model, Full) and model.device is not None


class RunnerBase:
    """What the runners share: the learner, its rule in numbers, and which rows hold a label."""

    def __init__(self, learner: Learner, rule: FastRule, most: int) -> None:
        self.learner, self.rule, self.most = learner, rule, most
        self.numbers = rule.numbers(most)
        self.rows, self.n_rows = rule.rows, len(rule.tie)

    def spread(self, rounds: int) -> Floats:
        """ε = spread·sqrt(x·A⁻¹x) in each of the next rounds, before the cap at 2R."""
        first = self.learner.t
        return np.array([self.rule.spread(t) for t in range(first, first + rounds)])

    def inputs(self, block: PreparedBlock, first: int, end: int, spread: Floats) -> RoundInput:
        """Rounds first..end of the block as compiled loops take them."""
        slots, mask = block.slots[first:end], block.mask[first:end]
        given, ptr = block.given[first:end], block.ptr[first : end + 1]
        coins = self.rule.coins
        probe = np.empty(0, dtype=np.bool_) if coins is None else coins(given)
        return RoundInput(self.rows, spread, slots, probe, mask, ptr, block.indices)

    def count(self, block: PreparedBlock, first: int, end: int) -> None:
        """Rounds first..end of the block have been learned."""
        self.learner.add_contexts(block.given[first:end], block.encoder)
        self.learner.count_rounds(end - first)

    def parts(self, rounds: int, most: int) -> Iterator[tuple[int, int]]:
        """First and end of parts of so many rounds: up to `most`, and no fold within a part.

        Each part must have been played, and its rounds counted, before the next is asked for.
        """
        state: Any = self.rule.state
        first = 0
        while first < rounds:
            end = min(rounds, first + min(most, state.rounds_to_fold()))
            yield first, end
            first = end

    def close(self) -> None:
        pass


class WindowRunner(RunnerBase):
    """Full matrices, a window at a time."""

    def __init__(self, learner: Learner, rule: FastRule, most: int, threads: int) -> None:
        from semibandit.models.window import Window

        super().__init__(learner, rule, most)
        assert isinstance(rule.state, FullState)
        self.window = Window(rule.state, threads)
        untouched = self.rows[rule.state.row_of[self.rows] < 0]
        order = untouched[np.argsort(rule.tie[untouched], kind="stable")]
        self.untouched = Untouched(order, np.zeros(1, dtype=np.intp))

    def play(self, block: PreparedBlock) -> Outcome:
        outcome, B = Outcome.empty(len(block), self.most), self.window.size
        with self.learner.exclusive():
            try:
                for first, end in self.parts(len(block), most=B):
                    self._play_window(block, first, end, outcome)
            finally:
                self.window.complete_matrices()
        return outcome

    def _play_window(self, block: PreparedBlock, first: int, end: int, outcome: Outcome) -> None:
        from semibandit.evaluation.compiled import window_rounds

        n, rounds = self.window.state.n, end - first
        inputs = self.inputs(block, first, end, self.spread(rounds))
        labels, untouched = self._candidates(inputs.mask)
        arrays = self.window.open(block.X[first:end], self.most, labels)
        part = outcome.part(first, end)
        try:
            n = window_rounds(self.numbers, inputs, arrays, n, untouched, part)
        finally:  # weights have moved: matrices must follow, whatever happens
            self.window.close(n)
            self.count(block, first, end)

    def _candidates(self, mask: Bools) -> tuple[Ints | None, Untouched]:
        """The labels that a window has to look at, None for all, and those that are untouched.

        If only labels that are learned are projected, these are the candidates of its rounds.
        """
        if not len(mask) or self.rule.project_all:
            return None, self.untouched
        wanted, order = np.asarray(mask.any(axis=0)), self.untouched.labels
        return np.flatnonzero(wanted), Untouched(order[wanted[order]], np.zeros(1, dtype=np.intp))

    def close(self) -> None:
        self.window.shut_down()


class DiagonalRunner(RunnerBase):
    """Diagonal matrices: one compiled loop."""

    def play(self, block: PreparedBlock) -> Outcome:
        from semibandit.evaluation.compiled import diagonal_rounds

        outcome, s = Outcome.empty(len(block), self.most), self.rule.state
        assert isinstance(s, DiagonalState)
        with self.learner.exclusive():
            for first, end in self.parts(len(block), most=len(block)):
                inputs = self.inputs(block, first, end, self.spread(end - first))
                state = DiagonalArrays(s.w, s.A, s.A_inv, s.fading_arrays(end - first))
                X, part = _entries(block.X[first:end]), outcome.part(first, end)
                diagonal_rounds(self.numbers, inputs, X, state, part)
                self.count(block, first, end)
        return outcome


class SharedRunner(RunnerBase):
    """OBR: one compiled loop."""

    def play(self, block: PreparedBlock) -> Outcome:
        from semibandit.evaluation.compiled import shared_rounds

        outcome, s = Outcome.empty(len(block), self.most), self.rule.state
        assert isinstance(s, SharedState)
        with self.learner.exclusive():
            for first, end in self.parts(len(block), most=len(block)):
                inputs = self.inputs(block, first, end, spread=np.empty(0))
                X, fading, part = (
                    block.X[first:end],
                    s.fading_arrays(end - first),
                    outcome.part(first, end),
                )
                shared_rounds(self.numbers, inputs, X, s.w, s.A_inv, fading, part)
                self.count(block, first, end)
        return outcome


def _entries(X: Any) -> Entries:
    """The nonzero entries of every context: of a sparse block its own, of a dense one all."""
    if not isinstance(X, np.ndarray):
        return Entries(X.indptr.astype(np.intp), X.indices.astype(np.intp), X.data)
    T, d = X.shape
    return Entries(np.arange(T + 1) * d, np.tile(np.arange(d), T), X.ravel())
