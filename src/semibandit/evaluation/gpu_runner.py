"""Replay on a device: full matrices there, windows that are played there round by round."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from semibandit._util.arrays import Bools
from semibandit.evaluation.compiled_types import Outcome
from semibandit.evaluation.runners import PreparedBlock, RunnerBase
from semibandit.policies.fast_rule import CONSTANT, PROBE_DEVIATIONS, TABLE, FastRule
from semibandit.policies.learner import Learner
from semibandit.theory.slate import TIE_TOLERANCE

__all__ = ["GpuRunner", "can_play"]


def can_play(rule: FastRule, most: int, *, masked: bool) -> bool:
    """Whether a `GpuRunner` plays the learner's rounds; otherwise they are played one by one.

    Not with costs of the user's own, if all labels are projected, if feedback is forgotten, or if
    what may be shown differs from round to round.

    Parameters
    ----------
    rule : FastRule
        How the learner decides, whose state is on a device.
    most : int
        The most labels a slate may have.
    masked : bool
        Whether some labels may be shown in some rounds only.
    """
    from semibandit.models.gpu.window import MOST_SLOTS

    state: Any = rule.state
    forgets = state.fading is not None
    few = min(most, len(rule.rows)) <= MOST_SLOTS
    return few and not (rule.cost_kind == TABLE or rule.project_all or forgets or masked)


class GpuRunner(RunnerBase):
    """Full matrices on a device, a window at a time; `can_play` says for which learners."""

    def __init__(self, learner: Learner, rule: FastRule, most: int) -> None:
        from semibandit.models.gpu.window import Rule, Window

        super().__init__(learner, rule, min(most, len(rule.rows)))
        R, logistic, c_L2, a, at_least = self.numbers[:5]
        state: Any = rule.state
        self.state = state
        numbers = Rule(
            R, logistic, c_L2, a, at_least, rule.cost_kind == CONSTANT,
            PROBE_DEVIATIONS / math.sqrt(c_L2), state.grid, TIE_TOLERANCE,
        )  # fmt: skip
        self.window = Window(state, numbers, self.rows, rule.tie)

    def play(self, block: PreparedBlock) -> Outcome:
        from semibandit.models.gpu.window import DeviceBlock

        rounds, first = len(block), 0
        slots = np.minimum(block.slots, self.most)
        with self.learner.exclusive():
            there = DeviceBlock.of(
                block.X, self.spread(rounds), block.ptr, block.indices, slots, self._coins(block),
                self.most, self.state.t.device,
            )  # fmt: skip
            try:
                while first < rounds:
                    first += self._play_window(there, first)
            finally:
                self.count(block, 0, first)
        return self._outcome(there)

    def _play_window(self, there: Any, first: int) -> int:
        """Play the rounds of the next window; return how many they are, at least one."""
        played = self.window.play(there, first)
        if not played:  # the best labels could not be told from the others by bounds
            played = self.window.play(there, first, exact=True)
        if not played:  # never, or it would go on for ever
            raise RuntimeError(
                f"round {first} of the block was not played, though all was looked at"
            )
        return played

    def _coins(self, block: PreparedBlock) -> Bools:
        coins = self.rule.coins
        return np.zeros(len(block), dtype=np.bool_) if coins is None else coins(block.given)

    def _outcome(self, there: Any) -> Outcome:
        slates, hits = there.slates.cpu().numpy(), there.hits.cpu().numpy().astype(np.bool_)
        return Outcome(slates, hits, there.sizes.cpu().numpy().astype(np.intp))
