"""Uplift: what the learner gains over the holdout, with intervals that hold whenever one looks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from semibandit._util.stable_hash import stable_hash
from semibandit.store.event import Decision, Feedback
from semibandit.theory.bounded_sequence import BoundedSequence
from semibandit.theory.confidence_sequence import difference, ratio
from semibandit.theory.share_sequence import ShareSequence

__all__ = ["ERROR", "Arm", "Comparison"]

ERROR = 0.05  # the probability with which an interval may ever be wrong
OF_HOLDOUT = 0.8  # the part of it that the holdout is given, which has fewer visits
FEW_VISITORS = 30  # with so few in the holdout, chance may have put the keenest there
CODES = 1 << 16  # visitors are told apart by so many numbers, which nobody can be found by
FLUSH = 256  # visits that are added to the sequences in one go
LARGEST_FACTOR = 1e6  # times as many visits that it may take to tell
STEPS = 14  # of bisection: the factor is right to a thousandth, and told to two digits

Sequence: TypeAlias = ShareSequence | BoundedSequence


class Arm:
    """The visits with feedback that the learner has decided, or those of the holdout.

    `visits` counts them, `clicked_visits` those with a click, `clicks` the labels clicked, and
    `shown` the labels in their slates.
    """

    def __init__(self) -> None:
        self.visits = self.clicked_visits = self.clicks = self.shown = 0
        self._clicks: BoundedSequence | None = None  # its scale is the slots of the first visit
        self._waiting: list[tuple[int, int]] = []  # clicks and labels of visits not yet in it
        self._visitors: set[int] = set()  # the first ones

    def add(self, clicks: int, shown: int, slots: int | None, visitor: str | None = None) -> None:
        """Count a visit: so many clicks on so many labels shown, in so many slots.

        Without a visitor it is another one each time.
        """
        if len(self._visitors) < FEW_VISITORS:
            code = self.visits if visitor is None else stable_hash(visitor)
            self._visitors.add(code % CODES)
        self.visits += 1
        self.clicked_visits += clicks > 0
        self.clicks += clicks
        self.shown += shown
        if self._clicks is None:
            self._clicks = BoundedSequence(float(max(1, shown if slots is None else slots)))
        self._waiting.append((clicks, shown))
        if len(self._waiting) >= FLUSH:  # one by one takes long
            self._flush()

    @property
    def few_visitors(self) -> int | None:
        """How many visitors there are, if they are few; else None."""
        return len(self._visitors) if len(self._visitors) < FEW_VISITORS else None

    def clicked(self) -> ShareSequence:
        """The share of visits with a click."""
        return ShareSequence(self.visits, self.clicked_visits)

    def clicks_per_visit(self) -> BoundedSequence:
        """How many labels are clicked in a visit."""
        self._flush()
        return self._clicks or BoundedSequence()

    def describe(self) -> dict[str, Any]:
        """As /v1/state says it."""
        visits = self.visits
        return {
            "visits": visits,
            "clicked_visits": self.clicked_visits,
            "clicks": self.clicks,
            "shown": self.shown,
            "clicked_share": self.clicked_visits / visits if visits else None,
            "clicks_per_visit": self.clicks / visits if visits else None,
        }

    def dump(self) -> dict[str, Any]:
        """As JSON can hold it."""
        self._flush()
        return {
            "counts": [self.visits, self.clicked_visits, self.clicks, self.shown],
            "clicks": None if self._clicks is None else self._clicks.state(),
            "visitors": sorted(self._visitors),
        }

    @classmethod
    def restore(cls, dump: dict[str, Any]) -> Arm:
        """The arm that was dumped."""
        self = cls()
        self.visits, self.clicked_visits, self.clicks, self.shown = dump["counts"]
        if dump["clicks"] is not None:
            self._clicks = BoundedSequence.from_state(dump["clicks"])
        self._visitors = set(dump.get("visitors", range(FEW_VISITORS)))
        return self

    def _flush(self) -> None:
        if not self._waiting:
            return
        assert self._clicks is not None
        clicks = [float(clicks) for clicks, _ in self._waiting]
        self._clicks.add(clicks, [float(shown) for _, shown in self._waiting])
        self._waiting = []


class Comparison:
    """The learner's visits beside those of a holdout, of the time that there was one.

    Visits without feedback do not count. `since` is the time of the first visit that does.

    Examples
    --------
    >>> found = Comparison()
    >>> for i in range(4000):
    ...     found.learner.add(int(i % 3 == 0), 2, 2)
    ...     found.holdout.add(int(i % 5 == 0), 2, 2)
    >>> uplift = found.describe(pace=0.5)["visits_with_a_click"]
    >>> uplift["can_tell"], round(uplift["relative"], 2)
    (True, 0.67)
    """

    def __init__(self) -> None:
        self.learner, self.holdout = Arm(), Arm()
        self.since: float | None = None

    def add(self, feedback: Feedback, decision: Decision) -> None:
        """Count a visit."""
        if self.since is None:
            self.since = decision.at
        arm = self.learner if decision.holdout is None else self.holdout
        clicks = len(set(feedback.clicked).intersection(decision.labels))
        arm.add(clicks, len(decision.labels), decision.slots, decision.subject)

    def describe(self, pace: float) -> dict[str, Any]:
        """Both arms and what can be said of them, if so many visits per second get feedback."""
        measures: dict[str, Callable[[Arm], Sequence]] = {
            "visits_with_a_click": Arm.clicked,
            "clicks_per_visit": Arm.clicks_per_visit,
        }
        found: dict[str, Any] = {
            "confidence": 1.0 - ERROR,
            "since": self.since,
            "learner": self.learner.describe(),
            "holdout": self.holdout.describe(),
            "few_visitors": self.holdout.few_visitors,
        }
        enough = self.holdout.few_visitors is None
        for name, measure in measures.items():
            found[name] = _compare(measure(self.learner), measure(self.holdout), pace, enough)
        return found

    def clicked_difference(self) -> tuple[float, float, float] | None:
        """The learner's share of visits with a click less the holdout's, and its interval.

        It takes less than a millisecond. None if one of them has no visits.
        """
        learner, holdout = self.learner.clicked(), self.holdout.clicked()
        if not learner.n or not holdout.n:
            return None
        interval = difference(learner, holdout, ERROR, OF_HOLDOUT)
        return learner.mean - holdout.mean, *interval

    def copy(self) -> Comparison:
        """The comparison as it is now."""
        return Comparison.restore(self.dump())

    def dump(self) -> dict[str, Any]:
        """As JSON can hold it."""
        arms = {"learner": self.learner.dump(), "holdout": self.holdout.dump()}
        return {**arms, "since": self.since}

    @classmethod
    def restore(cls, dump: dict[str, Any]) -> Comparison:
        """The comparison that was dumped."""
        self = cls()
        self.learner, self.holdout = Arm.restore(dump["learner"]), Arm.restore(dump["holdout"])
        self.since = dump.get("since")
        return self


def _compare(learner: Sequence, holdout: Sequence, pace: float, enough: bool) -> dict[str, Any]:
    """The difference and the relative uplift of a measure; an end that is not known is None.

    Nothing is told unless there are enough visitors: visits of one visitor are not independent.
    """
    known = learner.n > 0 and holdout.n > 0
    low = least = -math.inf
    high = most = math.inf
    if known:
        low, high = difference(learner, holdout, ERROR, OF_HOLDOUT)
        least, most = ratio(learner, holdout, ERROR, OF_HOLDOUT)
    excludes = low > 0 or high < 0
    can_tell = excludes and enough
    to_go = None if excludes or not known else _visits_to_go(learner, holdout)
    return {
        "difference": learner.mean - holdout.mean if known else None,
        "difference_interval": [_finite(low), _finite(high)],
        "relative": learner.mean / holdout.mean - 1.0 if known and holdout.mean else None,
        "relative_interval": [_finite(least), _finite(most)],
        "can_tell": can_tell,
        "visits_to_go": to_go,
        "seconds_to_go": None if to_go is None or pace <= 0 else to_go / pace,
    }


def _visits_to_go(learner: Sequence, holdout: Sequence) -> int | None:
    """How many more visits, to two digits, until the interval excludes 0 at the present rates."""

    def tells(factor: float) -> bool:
        low, high = difference(learner.at(factor), holdout.at(factor), ERROR, OF_HOLDOUT)
        return low > 0 or high < 0

    if not tells(LARGEST_FACTOR):
        return None
    low, high = 0.0, math.log(LARGEST_FACTOR)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if tells(math.exp(middle)) else (middle, high)
    return int(float(f"{(math.exp(high) - 1.0) * (learner.n + holdout.n) + 1.0:.1e}"))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
