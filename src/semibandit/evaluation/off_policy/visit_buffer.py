"""Visits on their way into an accumulator, which takes many at once."""

from __future__ import annotations

from semibandit.evaluation.off_policy.accumulate import Accumulator
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.labels import Label

__all__ = ["VisitBuffer"]

SIZE = 4096


class VisitBuffer:
    """Collects visits with the same labels, and adds them to an accumulator together."""

    def __init__(self, accumulator: Accumulator) -> None:
        self._accumulator = accumulator
        self._visits: list[LoggedVisit] = []
        self._targets: list[SlateDistribution] = []
        self._items: list[Label] = []

    def add(self, visit: LoggedVisit, target: SlateDistribution, items: list[Label]) -> None:
        """Add a visit; `items` are all labels that there were."""
        if items is not self._items or len(self._visits) == SIZE:
            self.flushed()
            self._items = items
        self._visits.append(visit)
        self._targets.append(target)

    def add_all(
        self,
        visits: list[LoggedVisit],
        targets: list[SlateDistribution],
        items: list[list[Label]],
    ) -> None:
        """`add` for each of these visits; most often they have the same labels, and all fit in."""
        same = set(map(id, items)) == {id(self._items)}
        if same and len(self._visits) + len(visits) <= SIZE:
            self._visits += visits
            self._targets += targets
            return
        for visit, target, every in zip(visits, targets, items, strict=True):
            self.add(visit, target, every)

    def flushed(self) -> Accumulator:
        """The accumulator, with all that was added."""
        if self._visits:
            self._accumulator.add(self._visits, self._targets, self._items)
            self._visits, self._targets = [], []
        return self._accumulator
