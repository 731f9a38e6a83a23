"""The recent decisions and the feedback to them, in memory: most feedback comes soon."""

from __future__ import annotations

from collections.abc import Iterable

from semibandit.store.event import Decision, Feedback
from semibandit.store.store import Store

__all__ = ["Recent"]

BYTES = 1 << 25  # kept, about


class Recent:
    """What the log knows of ids: from memory where it is recent, else from the log.

    Of a decision in memory all feedback is known, for there is one writer, and this is its.
    """

    def __init__(self, store: Store, n_features: int) -> None:
        self._store = store
        self._room = BYTES // (8 * n_features + 2000)
        self._decisions: dict[str, Decision] = {}  # in their order
        self._feedback: dict[str, Feedback] = {}

    def at_hand(self, ids: set[str]) -> dict[str, Decision]:
        """The decisions with these ids that are in memory."""
        return {id: self._decisions[id] for id in ids if id in self._decisions}

    def decisions(self, ids: set[str]) -> dict[str, Decision]:
        """The decisions with these ids."""
        found = self.at_hand(ids)
        others = ids - found.keys()
        return found | self._store.decisions(others) if others else found

    def feedback(self, ids: set[str]) -> dict[str, Feedback]:
        """The feedback to the decisions with these ids."""
        found = {id: self._feedback[id] for id in ids if id in self._feedback}
        others = ids - self._decisions.keys()
        return found | self._store.feedback(others) if others else found

    def add(self, decisions: Iterable[Decision], feedback: Iterable[Feedback]) -> None:
        """These are in the log now."""
        for decision in decisions:
            self._decisions[decision.id] = decision
        for told in feedback:
            if told.id in self._decisions:
                self._feedback[told.id] = told
        while len(self._decisions) > self._room:
            oldest = next(iter(self._decisions))
            del self._decisions[oldest]
            self._feedback.pop(oldest, None)

    def forget(self) -> None:
        """The log may know more than this."""
        self._decisions, self._feedback = {}, {}
