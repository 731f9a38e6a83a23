"""Lifetime statistics for those who watch: by time, label, position, and estimates against clicks.

They are counted as events are written to the log, saved in the store now and then together with the
position in the log up to which they count, and completed from the log at the next start.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias

from semibandit.policies.labels import Label
from semibandit.service.engine.click_order import ClickOrder
from semibandit.service.engine.feature_drift import FeatureDrift
from semibandit.service.engine.label_counts import LabelCounts
from semibandit.service.engine.latest_decisions import LatestDecisions
from semibandit.service.engine.slate_counts import MOST, SlateCounts
from semibandit.service.engine.time_series import COUNTED, DAY, HOUR, TimeSeries
from semibandit.service.engine.uplift import Comparison
from semibandit.store.event import Decision, Event, Feedback, LabelChange
from semibandit.store.store import Store

__all__ = ["Statistics"]

FORMAT = 1  # of a dump
PAGE = 1000  # events of the log counted at a time

DECISIONS, EMPTY, FEEDBACK, WAITED, SHOWN, CLICKS, SIZE, WIDTH = range(len(COUNTED))

WithDecision: TypeAlias = tuple[Feedback, Decision]


class Statistics:
    """What happened since the first event of the log.

    `position` is the seq of the last event that is counted. `click_order` has the labels by their
    clicks, if a holdout asked for it by `order_by_clicks`.

    Examples
    --------
    >>> import numpy as np
    >>> one = Decision("v1", 60.0, np.ones(2), 2, None, None, ["tea"], [0.5], [0.3], [0.2], 1, 1)
    >>> statistics = Statistics()
    >>> statistics.add([one], [(Feedback("v1", 61.0, ["tea"]), one)], position=2)
    >>> statistics.totals()["clicks"], Statistics.restore(statistics.dump()).totals()["clicks"]
    (1, 1)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.position = self._saved = 0
        self._totals: list[float] = [0] * len(COUNTED)  # without the present minute
        self._minute: list[float] = [0] * len(COUNTED)
        self._minute_start = self._minute_first = -math.inf  # it, and its first event
        self._series, self._labels, self._slates = TimeSeries(), LabelCounts(), SlateCounts()
        self._features, self._latest = FeatureDrift(), LatestDecisions()
        self._comparisons: dict[str, Comparison] = {}  # with holdouts, by their words
        self.click_order: ClickOrder | None = None
        self._labels_changed = 0  # how many decisions there were when labels last changed

    # -- counting ------------------------------------------------------------------------------

    def add(
        self,
        decisions: Sequence[Decision],
        feedback: Sequence[WithDecision],
        position: int,
        changes: Sequence[Event] = (),
    ) -> None:
        """Count events that are in the log and came at about the same time.

        Parameters
        ----------
        decisions : sequence of Decision
            The decisions among them.
        feedback : sequence of (Feedback, Decision)
            The feedback among them, with the decisions that it is about.
        position : int
            The seq of the last of them.
        changes : sequence of events
            Those by which labels came or went, or another learner took over, after all others.
        """
        with self._lock:
            self._add(decisions, feedback)
            self.position = position
            if changes:
                self._close_minute()
                self._labels_changed = int(self._totals[DECISIONS])
            for change in changes:
                if isinstance(change, LabelChange) and isinstance(change.add, list):
                    self._labels.begin_anew(change.add)

    def _add(self, decisions: Sequence[Decision], feedback: Sequence[WithDecision]) -> None:
        if not decisions and not feedback:
            return
        at = decisions[0].at if decisions else feedback[0][0].at
        if at - self._minute_start >= 60 or at < self._minute_start:
            self._close_minute()
            self._minute_start, self._minute_first = at // 60 * 60, at
        if decisions:
            self._add_decisions(decisions)
        if feedback:
            self._add_feedback(feedback)

    def _close_minute(self) -> None:
        """Add the minute's counts to all others: one by one, they would be added too often."""
        if any(self._minute):
            for i, value in enumerate(self._minute):
                self._totals[i] += value
            self._series.add(self._minute_first, self._minute)
            self._minute = [0] * len(COUNTED)

    def _add_decisions(self, decisions: Sequence[Decision]) -> None:
        size, width, sizes = 0, 0.0, self._slates.sizes
        empty = sizes[0]
        for decision in decisions:
            n = len(decision.labels)
            sizes[n if n <= MOST else MOST + 1] += 1
            size += n
            width += sum(decision.width)
        empty = sizes[0] - empty
        minute = self._minute
        minute[DECISIONS] += len(decisions)
        minute[EMPTY] += empty
        minute[SIZE] += size
        minute[WIDTH] += width
        self._labels.add_decisions(decisions)
        self._features.add(decisions[-1])

    def _add_feedback(self, feedback: Sequence[WithDecision]) -> None:
        waited = n_shown = n_clicked = 0
        slates, labels = self._slates, self._labels
        for given, decision in feedback:
            waited += given.waited
            shown = decision.labels
            if given.examined is None:
                slates.add_seen(decision)
            else:
                shown = slates.add_examined(decision, given.examined)
            labels.add_shown([one for one in shown if one not in given.retired])
            n_shown += len(shown)
            if given.clicked:
                clicked = set(given.clicked).intersection(shown)
                slates.add_clicks(decision, clicked)
                n_clicked += len(clicked)
                clicked.difference_update(given.retired)
                labels.add_clicked(clicked)
                if self.click_order is not None:
                    self.click_order.add(clicked)
            self._latest.add_feedback(given)
            if decision.comparison is not None:
                compared = self._comparisons.setdefault(decision.comparison, Comparison())
                compared.add(given, decision)
        minute = self._minute
        minute[FEEDBACK] += len(feedback)
        minute[WAITED] += waited
        minute[SHOWN] += n_shown
        minute[CLICKS] += n_clicked

    def order_by_clicks(self, labels: Sequence[Label]) -> None:
        """Keep these labels in the order of their clicks from now on."""
        with self._lock:
            counts = self._labels
            clicks = {label: counts.clicked[row] for label, row in counts.rows.items()}
            self.click_order = ClickOrder(labels, clicks)

    def add_latest(self, decision: Decision, next_label: dict[str, Any] | None) -> None:
        """Put a decision among the latest; `next_label` is the best label that was not shown."""
        with self._lock:
            self._latest.add(decision, next_label)

    def forget_decisions(self, ids: Iterable[str]) -> None:
        """Drop decisions from the latest; what was counted of them stays counted."""
        with self._lock:
            self._latest.forget(ids)

    # -- the log -------------------------------------------------------------------------------

    @classmethod
    def from_log(
        cls, store: Store, progress: Callable[[int, int], object] | None = None
    ) -> Statistics:
        """Those that the store has saved, and the events after them.

        A store of an older version has none: its whole log is counted, once.

        Parameters
        ----------
        store : Store
            The log.
        progress : function, optional
            Called now and then with the seq of the last event counted, and that of the last one.
        """
        saved = store.saved_statistics()
        self = cls()
        if saved is not None and saved["format"] == FORMAT and saved["position"] <= store.last:
            self = cls.restore(saved)
        self.catch_up(store, progress)
        self._latest.read(store)
        return self

    def catch_up(self, store: Store, progress: Callable[[int, int], object] | None = None) -> None:
        """Count the events of the log that are not counted yet, a page at a time."""
        for page in _pages(store, self.position):
            ids = {one.id for _, one in page if isinstance(one, Feedback)}
            about = {one.id: one for _, one in page if isinstance(one, Decision)}
            about |= store.decisions(ids - about.keys())
            for group in _groups(page):
                self._add_logged(group, about)
            if progress is not None:
                progress(self.position, store.last)

    def _add_logged(self, group: list[tuple[int, Event]], about: dict[str, Decision]) -> None:
        """Count events of the log; the decision of one may be older than what the log keeps."""
        events = [event for _, event in group]
        feedback = [one for one in events if isinstance(one, Feedback) and one.id in about]
        self.add(
            [one for one in events if isinstance(one, Decision)],
            [(one, about[one.id]) for one in feedback],
            group[-1][0],
            [one for one in events if isinstance(one, LabelChange)],
        )

    @property
    def unsaved(self) -> int:
        """How far the log has gone since the statistics were last saved."""
        return self.position - self._saved

    def save(self, store: Store, labels: Sequence[Label]) -> None:
        """Save them in the store; of the labels, at least those that can be shown now."""
        with self._lock:
            self._labels.keep_only(labels)
        dump = self.dump()
        store.save_statistics(dump)
        self._saved = dump["position"]

    def dump(self) -> dict[str, Any]:
        """All but the latest decisions, as JSON can hold it."""
        with self._lock:
            self._close_minute()
            return {
                "format": FORMAT,
                "position": self.position,
                "labels_changed": self._labels_changed,
                "series": self._series.dump(),
                "labels": self._labels.dump(),
                "features": self._features.dump(),
                "slates": self._slates.dump(),
                "totals": list(self._totals),
                "comparisons": {words: one.dump() for words, one in self._comparisons.items()},
            }

    @classmethod
    def restore(cls, dump: dict[str, Any]) -> Statistics:
        """The statistics that were dumped."""
        self = cls()
        self.position = self._saved = dump["position"]
        self._labels_changed = dump["labels_changed"]
        self._series = TimeSeries.restore(dump["series"])
        self._labels = LabelCounts.restore(dump["labels"])
        self._features = FeatureDrift.restore(dump["features"])
        self._slates = SlateCounts.restore(dump["slates"])
        self._totals = list(dump["totals"])
        compared = dump.get("comparisons", {})  # older stores have none
        self._comparisons = {words: Comparison.restore(one) for words, one in compared.items()}
        return self

    # -- what they say -------------------------------------------------------------------------

    @property
    def decisions(self) -> int:
        """Decisions in all."""
        return int(self.totals()["decisions"])

    def totals(self) -> dict[str, Any]:
        """What was counted since the first event, whose time is `since`."""
        with self._lock:
            self._close_minute()
            counts = dict(zip(COUNTED[:6], self._totals, strict=False))
            return {"since": self._series.since, **counts}

    def recent(self, step: int, number: int, now: float) -> dict[str, float]:
        """What was counted in the last so many intervals: minutes, hours or days, in seconds."""
        with self._lock:
            self._close_minute()
            return self._series.sum(step, number, now)

    def points(self, span: str, now: float) -> tuple[int, list[dict[str, float]]]:
        """The length of an interval, and those of the last "hour", "day" or of "all" time."""
        with self._lock:
            self._close_minute()
            return self._series.points(span, now)

    def minutes(self, now: float) -> list[dict[str, float]]:
        """The minutes of the last hour."""
        with self._lock:
            self._close_minute()
            return self._series.minutes(now)

    def labels(self) -> LabelCounts:
        """A copy of what was counted by label."""
        with self._lock:
            return self._labels.copy()

    def count_never_shown(self, labels: Sequence[Label]) -> int:
        """How many of these labels were in no slate."""
        rows, shown = self._labels.rows, self._labels.decisions  # one that comes now may be missed
        return sum(label not in rows or not shown[rows[label]] for label in labels)

    @property
    def decisions_since_labels_changed(self) -> int:
        """Decisions since a label was last added or retired."""
        return self.decisions - self._labels_changed

    def unusual_features(self) -> tuple[list[int | str], list[int | str]]:
        """The features that are constant, and those that drift: by name, else by number."""
        with self._lock:
            return self._features.find()

    def compared(self, words: str) -> dict[str, dict[str, Any]]:
        """The counts of the learner's visits, and of those of the holdout with these words."""
        with self._lock:
            found = self._comparisons.get(words, Comparison())
            return {"learner": found.learner.describe(), "holdout": found.holdout.describe()}

    def clicked_difference(self, words: str) -> tuple[float, float, float] | None:
        """The difference of the share of visits with a click, and its interval, if it is known."""
        with self._lock:
            return self._comparisons.get(words, Comparison()).clicked_difference()

    def uplift(self, words: str, now: float) -> dict[str, Any]:
        """What the learner gains over the holdout with these words, by the visits until now."""
        pace = self.recent(HOUR, 24, now)["feedback"] / self._paced(now)
        with self._lock:
            found = self._comparisons.get(words, Comparison()).copy()
        return found.describe(pace)  # which takes milliseconds: nobody waits for it

    def _paced(self, now: float) -> float:
        """The seconds of the last day that there were visits in."""
        since = self.totals()["since"]
        return DAY if since is None else min(max(now - since, 1.0), DAY)

    def summary(self) -> dict[str, Any]:
        """What /v1/state says, as JSON can hold it."""
        totals = self.totals()
        with self._lock:
            return {
                **{name: totals[name] for name in ("decisions", "feedback", "shown", "clicks")},
                "totals": totals,
                "sizes": self._slates.by_size(),
                "positions": self._slates.by_position(),
                "calibration": self._slates.calibration(),
                "top": self._labels.top(10),
                "latest": self._latest.describe(),
            }


def _pages(store: Store, after: int) -> Iterator[list[tuple[int, Event]]]:
    """The log after a seq, so many events at a time."""
    events = store.events(after)
    while page := list(islice(events, PAGE)):
        yield page


def _groups(page: Sequence[tuple[int, Event]]) -> Iterator[list[tuple[int, Event]]]:
    """The events of each minute; a change of labels is the last of its group."""
    group: list[tuple[int, Event]] = []
    for entry in page:
        last = group[-1][1] if group else entry[1]
        if group and (isinstance(last, LabelChange) or last.at // 60 != entry[1].at // 60):
            yield group
            group = []
        group.append(entry)
    yield group
