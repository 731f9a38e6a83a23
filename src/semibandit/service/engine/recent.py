"""The recent decisions and the feedback to them, in memory: most feedback comes soon."""

from __future__ import annotations

from collections.abc import Iterable

from semibandit.store.event import Decision, Feedback
from semibandit.store.store import Store

__all__ = ["RecentDecisions"]

BYTES = 1 << 25  # kept, about


class RecentDecisions:
    """What the log knows of ids: from memory if it is recent, else from the log.

    Of a decision in memory all feedback is known: there is one writer, and this is the writer's.
    """

    def __init__(self, store: Store, n_features: int) -> None:
        self._store = store
        self._most = BYTES // (8 * n_features + 2000)
        self._decisions: dict[str, Decision] = {}  # in their order
        self._feedback: dict[str, Feedback] = {}

    def in_memory(self, ids: set[str]) -> dict[str, Decision]:
        """The decisions with these ids that are in memory."""
        return {id: self._decisions[id] for id in ids if id in self._decisions}

    def decisions(self, ids: set[str]) -> dict[str, Decision]:
        """The decisions with these ids."""
        found = self.in_memory(ids)
        others = ids - found.keys()
        return found | self._store.decisions(others) if others else found

    def feedback(self, ids: set[str]) -> dict[str, Feedback]:
        """The feedback to the decisions with these ids."""
        found = {id: self._feedback[id] for id in ids if id in self._feedback}
        others = ids - self._decisions.keys()
        return found | self._store.feedback(others) if others else found

    def add(self, decisions: Iterable[Decision], feedback: Iterable[Feedback]) -> None:
        """Remember these, which are in the log now."""
        for decision in decisions:
            self._decisions[decision.id] = decision
        for given in feedback:
            if given.id in self._decisions:
                self._feedback[given.id] = given
        while len(self._decisions) > self._most:
            oldest = next(iter(self._decisions))
            del self._decisions[oldest]
            self._feedback.pop(oldest, None)

    def forget(self) -> None:
        """Forget everything: the log may know more than this."""
        self._decisions, self._feedback = {}, {}
