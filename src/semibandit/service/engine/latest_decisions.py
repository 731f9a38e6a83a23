"""The latest decisions, in memory alone, for those who want to see why something was shown."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from semibandit.store.event import Decision, Feedback
from semibandit.store.store import Store

__all__ = ["LatestDecisions"]

KEPT = 20
MOST_FEATURES = 200  # numbers of a context that are told
MOST_LABELS = 100  # labels of a slate that are told
READ_AT_START = 200  # events


@dataclass(slots=True)
class _Entry:
    decision: Decision
    next_label: dict[str, Any] | None
    feedback: Feedback | None = None

    def describe(self) -> dict[str, Any]:
        """As JSON can hold it."""
        decision, feedback = self.decision, self.feedback
        return {
            "id": decision.id,
            "at": decision.at,
            "version": decision.version,
            "slots": decision.slots,
            "size": len(decision.labels),
            "slate": decision.slate()[:MOST_LABELS],
            "context": _readable(decision),
            "next": self.next_label,
            "clicked": None if feedback is None else list(feedback.clicked),
            "waited": feedback is not None and feedback.waited,
            "holdout": decision.holdout,
        }


class LatestDecisions:
    """The last few decisions by their ids, newest last."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    def add(self, decision: Decision, next_label: dict[str, Any] | None) -> None:
        """Remember a decision; `next_label` is the best label that was not shown, if known."""
        self._entries[decision.id] = _Entry(decision, next_label)
        if len(self._entries) > KEPT:
            del self._entries[next(iter(self._entries))]

    def add_feedback(self, feedback: Feedback) -> None:
        """Note what was clicked, if the decision is among the latest."""
        entry = self._entries.get(feedback.id)
        if entry is not None:
            entry.feedback = feedback

    def read(self, store: Store) -> None:
        """Those at the end of the log, for those who watch a restart."""
        last = [event for _, event in store.events(max(0, store.last - READ_AT_START))]
        for decision in [one for one in last if isinstance(one, Decision)][-KEPT:]:
            self.add(decision, None)
        for feedback in last:
            if isinstance(feedback, Feedback):
                self.add_feedback(feedback)

    def forget(self, ids: Iterable[str]) -> None:
        """Drop the decisions with these ids."""
        for id in ids:
            self._entries.pop(id, None)

    def describe(self) -> list[dict[str, Any]]:
        """All of them, newest first, as JSON can hold them."""
        return [entry.describe() for entry in reversed(self._entries.values())]


def _readable(decision: Decision) -> dict[str, Any] | list[float | None]:
    """The context by names, or the first of its numbers; None is unknown."""
    if decision.named is not None:
        return dict(list(decision.named.items())[:MOST_FEATURES])
    return [None if math.isnan(x) else x for x in decision.context[:MOST_FEATURES].tolist()]
