"""What the log's own policy earned, if the log does not say how likely other slates were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from semibandit._util.arrays import Floats
from semibandit.evaluation.off_policy.accumulate import Accumulator
from semibandit.evaluation.off_policy.result import Evaluation
from semibandit.evaluation.off_policy.reward import Reward
from semibandit.evaluation.off_policy.targets import Uniform
from semibandit.evaluation.off_policy.visit_chunk import VisitChunk

__all__ = ["ObservedRun"]

NAME = "mean"


class ObservedRun:
    """The mean reward of the visits as they were: no weights, and nothing to check.

    Parameters
    ----------
    reward : Reward
        What a visit is worth.
    confidence, seed
        As for `evaluate`.
    """

    def __init__(self, reward: Reward, confidence: float, seed: int) -> None:
        self._sums = Accumulator(reward, confidence=confidence, seed=seed)
        self._any = Uniform()  # sums need a policy; which one does not matter to the mean

    def add(self, chunk: VisitChunk) -> None:
        """Add the visits of a chunk."""
        if chunk.visits:
            targets = self._any.distributions(chunk.visits, chunk.items)
            self._sums.add(chunk.visits, targets, chunk.items[-1])

    @property
    def samples(self) -> dict[str, Floats]:
        """None: there is nothing to compare what was earned with."""
        return {}

    def evaluation(self, left_out: Mapping[str, int]) -> Evaluation:
        """What was found."""
        found = self._sums.evaluation("logged", left_out)
        mean = replace(found.logged, name=NAME, assumes="nothing: it is what was earned")
        return replace(found, checks=[], estimates={NAME: mean}, notes=[])
