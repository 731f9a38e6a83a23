"""Counts by time: by the minute for an hour, by the hour for a week, by the day for ever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["COUNTED", "TimeSeries"]

COUNTED = ("decisions", "empty", "feedback", "waited", "shown", "clicks", "size", "width")
MINUTE, HOUR, DAY = 60, 3600, 86400
KEPT: dict[int, int | None] = {MINUTE: 60, HOUR: 7 * 24, DAY: None}  # intervals of each length


class TimeSeries:
    """What was counted in each interval; a count is one number for each name in `COUNTED`.

    `since` is the time of the first count.

    Examples
    --------
    >>> series = TimeSeries()
    >>> series.add(7200.0, [1, 0, 1, 0, 3, 2, 3, 0.5])
    >>> step, points = series.points("hour", now=7270.0)
    >>> step, len(points), points[-2]["clicks"], points[-1]["clicks"]
    (60, 60, 2, 0)
    """

    def __init__(self) -> None:
        self.since: float | None = None
        self._counts: dict[int, dict[int, list[float]]] = {step: {} for step in KEPT}

    def add(self, at: float, counts: Sequence[float]) -> None:
        """Add what was counted at a time; of too many intervals, the first counted is dropped."""
        self.since = at if self.since is None else min(at, self.since)
        for step, intervals in self._counts.items():
            start = int(at // step) * step
            found = intervals.get(start)
            if found is None:
                found = intervals[start] = [0] * len(COUNTED)
                self._drop_old(step)
            for i, value in enumerate(counts):
                found[i] += value

    def sum(self, step: int, number: int, now: float) -> dict[str, float]:
        """What was counted in the last so many intervals of a length, the present one included."""
        present = int(now // step) * step
        first = present - (number - 1) * step
        rows = [n for start, n in self._counts[step].items() if first <= start <= present]
        return {name: sum(row[i] for row in rows) for i, name in enumerate(COUNTED)}

    def minutes(self, now: float) -> list[dict[str, float]]:
        """The minutes of the last hour, from the first that anything was counted in."""
        present = int(now // MINUTE) * MINUTE
        first = min((start for start in self._counts[MINUTE] if start <= present), default=present)
        first = max(first, present - (60 - 1) * MINUTE)
        return self._points(MINUTE, first, present)

    def points(self, span: str, now: float) -> tuple[int, list[dict[str, float]]]:
        """The length of an interval, and the intervals of the last "hour", "day" or of "all" time.

        All time is told in the shortest intervals that there are for it.
        """
        if span == "all":
            step, number = self._for_all(now)
        else:
            step, number = {"hour": (MINUTE, 60), "day": (HOUR, 24)}[span]
        present = int(now // step) * step
        return step, self._points(step, present - (number - 1) * step, present)

    def dump(self) -> dict[str, Any]:
        """As JSON can hold it."""
        steps = {
            str(step): [[start, *counts] for start, counts in intervals.items()]
            for step, intervals in self._counts.items()
        }
        return {"since": self.since, **steps}

    @classmethod
    def restore(cls, dump: dict[str, Any]) -> TimeSeries:
        """The series that was dumped."""
        self = cls()
        self.since = dump["since"]
        for step, intervals in self._counts.items():
            intervals.update({start: list(counts) for start, *counts in dump[str(step)]})
        return self

    def _for_all(self, now: float) -> tuple[int, int]:
        """The length and the number of intervals, at least two, from the first event until now."""
        first = now if self.since is None else self.since
        step = next(
            step for step, kept in KEPT.items() if kept is None or now - first < kept * step - step
        )
        return step, max(2, int(now // step - first // step) + 1)

    def _points(self, step: int, first: int, last: int) -> list[dict[str, float]]:
        intervals, none = self._counts[step], [0] * len(COUNTED)
        return [
            {"start": start, **dict(zip(COUNTED, intervals.get(start, none), strict=True))}
            for start in range(first, last + step, step)
        ]

    def _drop_old(self, step: int) -> None:
        """By the log's order: a clock that was ahead for a moment must not drop all others."""
        kept, intervals = KEPT[step], self._counts[step]
        if kept is not None and len(intervals) > kept:
            del intervals[next(iter(intervals))]
