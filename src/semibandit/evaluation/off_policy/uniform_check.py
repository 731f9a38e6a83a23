"""Uniform slates judged beside the policies asked for, to see whether positions interact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from semibandit.evaluation.off_policy.accepted import AcceptedRun
from semibandit.evaluation.off_policy.independence import Independence, check_independence
from semibandit.evaluation.off_policy.observed import ObservedRun
from semibandit.evaluation.off_policy.reward import Reward
from semibandit.evaluation.off_policy.targets import Uniform
from semibandit.evaluation.off_policy.visit_chunk import VisitChunk
from semibandit.evaluation.off_policy.weighted import WeightedRun

__all__ = ["UniformCheck"]

ALL = 100_000  # visits that are all looked at
EVERY = 8  # chunks of later ones, of which one is


class UniformCheck:
    """Checks once for a log whether clicks depend on the labels around.

    Parameters
    ----------
    runs : iterable of runs
        The policies asked for; if the uniform one is among them, its run is used.
    reward : Reward
        What a visit is worth.
    confidence, seed
        As for `evaluate`.
    """

    def __init__(
        self, runs: Iterable[WeightedRun | AcceptedRun | ObservedRun], reward: Reward,
        confidence: float, seed: int,
    ) -> None:  # fmt: skip
        weighted = [run for run in runs if isinstance(run, WeightedRun)]
        self._useful = bool(weighted) and not reward.cascade_only
        self._asked = next((run for run in weighted if isinstance(run.target, Uniform)), None)
        self._own = WeightedRun(Uniform(), reward, confidence, seed)
        self._visits = self._chunks = 0

    def add(self, chunk: VisitChunk) -> None:
        """Look at a chunk, unless the run of another does."""
        if self._asked is not None or not self._useful:
            return
        self._chunks += 1
        self._visits += len(chunk.visits)
        if self._visits <= ALL or self._chunks % EVERY == 0:
            self._own.add(chunk)

    def independence(self, left_out: Mapping[str, int]) -> Independence:
        """What was found."""
        if not self._useful:
            return Independence()
        run = self._own if self._asked is None else self._asked
        return check_independence(run.evaluation(left_out), run.samples)
