"""Whose value is estimated: policies that say how likely each slate is, for the visits of a log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence

from semibandit.errors import InputError
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.evaluation.off_policy.visit_chunk import VisitChunk
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.uniform import uniform_slates
from semibandit.policies.labels import Label
from semibandit.policies.request import Request

__all__ = ["Logged", "MostClicked", "Target", "Uniform", "allowed_items"]


class Target(ABC):
    """A policy to be judged.

    Parameters
    ----------
    words : str
        What it is called.
    learns : bool
        Whether it changes along the log: then it is judged on a chunk before it learns from it.
    notes : list of str
        What whoever reads its value should know.
    """

    def __init__(self, words: str, *, learns: bool = False) -> None:
        self.words, self.learns = words, learns
        self.notes: list[str] = []
        self.refused = 0  # answers that it could not learn

    @abstractmethod
    def distributions(
        self, visits: Sequence[LoggedVisit], items: Sequence[list[Label]]
    ) -> list[SlateDistribution]:
        """How likely it would have shown each slate, for each visit; items are all labels then."""

    def learn(self, chunk: VisitChunk) -> None:
        """Learn what happened, if the policy learns."""
        return

    def all_notes(self) -> list[str]:
        """The notes, and what turned out along the log."""
        if not self.refused:
            return list(self.notes)
        return [*self.notes, f"it refused to learn {self.refused:,} of the log's events"]


class Uniform(Target):
    """Every slate that fills the slots is equally likely."""

    def __init__(self) -> None:
        super().__init__("uniform")

    def distributions(
        self, visits: Sequence[LoggedVisit], items: Sequence[list[Label]]
    ) -> list[SlateDistribution]:
        found: list[SlateDistribution] = []
        for visit, every in zip(visits, items, strict=True):
            n = len(allowed_items(visit.request, every))
            found.append(uniform_slates(n, _room(visit.request, n)))
        return found


class Logged(Target):
    """The policy that made the log: its value is the mean of what was seen."""

    def __init__(self) -> None:
        super().__init__("logged")

    def distributions(
        self, visits: Sequence[LoggedVisit], items: Sequence[list[Label]]
    ) -> list[SlateDistribution]:
        found = [visit.logging for visit in visits]
        if None in found:
            raise InputError(
                "this log does not say how likely slates were that were not shown: the value of "
                "its own policy is `logged` of any evaluation"
            )
        return [one for one in found if one is not None]


class MostClicked(Target):
    """The labels with the most clicks so far, whoever the visitor is."""

    def __init__(self) -> None:
        super().__init__("most-clicked", learns=True)
        self._clicks: Counter[Label] = Counter()

    def distributions(
        self, visits: Sequence[LoggedVisit], items: Sequence[list[Label]]
    ) -> list[SlateDistribution]:
        found: list[SlateDistribution] = []
        for visit, every in zip(visits, items, strict=True):
            allowed = allowed_items(visit.request, every)
            best = sorted(allowed, key=lambda item: -self._clicks[item])  # stable among equals
            found.append(FixedSlate(best[: _room(visit.request, len(best))]))
        return found

    def learn(self, chunk: VisitChunk) -> None:
        for lesson in chunk.lessons:
            self._clicks.update(lesson.clicked)


def allowed_items(request: Request, items: Sequence[Label]) -> Sequence[Label]:
    """The labels that could be shown for a request, if there are these."""
    allowed = items if request.candidates is None else request.candidates
    if not request.exclude:
        return allowed
    without = set(request.exclude)
    return [item for item in allowed if item not in without]


def _room(request: Request, n: int) -> int:
    return n if request.slots is None else min(request.slots, n)
