"""Statistics for those who watch: per minute, per label, and estimates against clicks."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

from semibandit.policies.labels import Label
from semibandit.store.event import Decision, Feedback
from semibandit.store.store import Store

__all__ = ["Statistics"]

MINUTES = 60
BINS = 10
LATEST = 20
READ_AT_START = 5000  # events


class Statistics:
    """What happened in the last hour, and since the start."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.decisions = self.feedback = self.clicks = self.shown = 0
        self._minutes: deque[dict[str, float]] = deque(maxlen=MINUTES)
        self._bins = [[0, 0, 0.0] for _ in range(BINS)]  # labels, clicks, sum of estimates
        self._labels: dict[Label, list[int]] = {}  # shown and clicked, with feedback
        self._latest: deque[dict[str, Any]] = deque(maxlen=LATEST)

    @classmethod
    def from_log(cls, store: Store) -> Statistics:
        """Those of the last hour, from the end of the log, for those who watch a restart."""
        self, since = cls(), time.time() - 60 * MINUTES
        last = store.events(max(0, store.last - READ_AT_START))
        recent = [event for _, event in last if event.at >= since]
        ids = {one.id for one in recent if isinstance(one, Feedback)}
        decisions = store.decisions(ids) if ids else {}
        for event in recent:
            if isinstance(event, Decision):
                self.add_decision(event)
                self.add_latest(event, None)
            elif isinstance(event, Feedback):
                self.add_feedback(event, decisions[event.id])
        self.decisions, self.feedback = store.count("decision"), store.count("feedback")
        return self

    def add_decision(self, decision: Decision) -> None:
        """Count a decision that was made."""
        with self._lock:
            self.decisions += 1
            minute = self._minute(decision.at)
            minute["decisions"] += 1
            minute["size"] += len(decision.labels)
            minute["width"] += sum(decision.width)

    def add_latest(self, decision: Decision, next_label: dict[str, Any] | None) -> None:
        """Put a decision among the latest; `next_label` is the best label that was not shown."""
        entry = {
            "id": decision.id,
            "at": decision.at,
            "version": decision.version,
            "slots": decision.slots,
            "slate": decision.slate(),
            "next": next_label,
            "clicked": None,
        }
        with self._lock:
            self._latest.appendleft(entry)

    def add_feedback(self, feedback: Feedback, decision: Decision) -> None:
        """Count feedback that came to a decision."""
        clicked = set(feedback.clicked)
        seen = None if feedback.examined is None else set(feedback.examined)
        with self._lock:
            self.feedback += 1
            minute = self._minute(feedback.at)
            minute["feedback"] += 1
            for label, estimate in zip(decision.labels, decision.estimate, strict=True):
                if seen is not None and label not in seen:
                    continue
                yes = label in clicked
                self.shown += 1
                self.clicks += yes
                minute["shown"] += 1
                minute["clicks"] += yes
                found = self._bins[min(int(max(estimate, 0.0) * BINS), BINS - 1)]
                found[0] += 1
                found[1] += yes
                found[2] += estimate
                counts = self._labels.setdefault(label, [0, 0])
                counts[0] += 1
                counts[1] += yes
            for entry in self._latest:
                if entry["id"] == feedback.id:
                    entry["clicked"] = list(feedback.clicked)

    def summary(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        with self._lock:
            self._minute(time.time())
            top = sorted(self._labels.items(), key=lambda one: (-one[1][1], -one[1][0]))[:10]
            return {
                "decisions": self.decisions,
                "feedback": self.feedback,
                "shown": self.shown,
                "clicks": self.clicks,
                "minutes": [dict(one) for one in self._minutes],
                "calibration": [
                    {"labels": n, "clicks": clicks, "estimate": total / n if n else None}
                    for n, clicks, total in self._bins
                ],
                "top": [{"label": k, "shown": n, "clicked": c} for k, (n, c) in top],
                "latest": [dict(entry) for entry in self._latest],
            }

    def _minute(self, at: float) -> dict[str, float]:
        """The counts of that minute, or of the newest if that is later."""
        start = at // 60 * 60
        while not self._minutes or self._minutes[-1]["start"] < start:
            behind = self._minutes[-1]["start"] + 60 if self._minutes else start
            names = ("decisions", "feedback", "shown", "clicks", "size", "width")
            first = max(behind, start - 60 * (MINUTES - 1))
            self._minutes.append({"start": first, **dict.fromkeys(names, 0)})
        for minute in reversed(self._minutes):
            if minute["start"] <= start:
                return minute
        return self._minutes[0]
