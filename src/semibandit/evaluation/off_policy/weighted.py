"""One policy judged by weights: all visits of the log, each by how likely its slate would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from semibandit._util.arrays import Floats
from semibandit.evaluation.off_policy.accumulate import Accumulator
from semibandit.evaluation.off_policy.result import Evaluation
from semibandit.evaluation.off_policy.reward import Reward
from semibandit.evaluation.off_policy.targets import Target
from semibandit.evaluation.off_policy.visit_buffer import VisitBuffer
from semibandit.evaluation.off_policy.visit_chunk import VisitChunk
from semibandit.policies.distributions.distribution import SlateDistribution

__all__ = ["WeightedRun"]


class WeightedRun:
    """A target, and what was found of it so far.

    Parameters
    ----------
    target : Target
        The policy; it is changed if it learns.
    reward : Reward
        What a visit is worth.
    confidence, seed
        As for `evaluate`.
    """

    def __init__(self, target: Target, reward: Reward, confidence: float, seed: int) -> None:
        self.target = target
        self._sums = Accumulator(reward, confidence=confidence, seed=seed)
        self._buffer = VisitBuffer(self._sums)
        self._found: Evaluation | None = None
        self._waiting: dict[int, SlateDistribution] = {}  # of decisions without feedback, by seq

    def add(self, chunk: VisitChunk) -> None:
        """Judge the visits of a chunk, then learn from it."""
        self._found = None
        targets = self._judged(chunk)
        self._buffer.add_all(chunk.visits, targets, chunk.items)
        self.target.learn(chunk)

    def _judged(self, chunk: VisitChunk) -> list[SlateDistribution]:
        """How likely each slate is for the visits that have feedback now.

        A policy that learns is judged by what it knew when the visit was decided: when feedback
        comes may depend on what was shown.
        """
        if not self.target.learns:
            return self.target.distributions(chunk.visits, chunk.items)
        targets = self.target.distributions(chunk.decided, chunk.decided_items)
        for visit, target in zip(chunk.decided, targets, strict=True):
            self._waiting[visit.seq] = target
        for visit in chunk.given_up:
            self._waiting.pop(visit.seq, None)
        return [self._waiting.pop(visit.seq) for visit in chunk.visits]

    @property
    def samples(self) -> dict[str, Floats]:
        """Bootstrap values of the last evaluation, by estimator; all runs see the same samples."""
        return self._sums.samples

    def evaluation(self, left_out: Mapping[str, int]) -> Evaluation:
        """What was found."""
        if self._found is None:  # bootstrap samples take a while
            found = self._buffer.flushed().evaluation(self.target.words, left_out)
            self._found = replace(found, notes=[*found.notes, *self.target.all_notes()])
        return self._found
