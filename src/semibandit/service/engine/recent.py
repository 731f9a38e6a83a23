"""The recent decisions and the feedback to them, in memory: most feedback comes soon."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from semibandit.store.event import Decision, Feedback
from semibandit.store.store import Store

__all__ = ["RecentDecisions"]

# What takes memory, about, in bytes; `tests/service/test_recent.py` measures it.
PER_DECISION = 1500
PER_LABEL_SHOWN = 140  # the label and three numbers
PER_LABEL_NAMED = 80  # in candidates, exclude, clicked, examined
PER_VALUE = 200  # of a context with names
PER_DISTRIBUTION = 1000
PER_LABEL_DRAWN = 80  # two numbers, and the label once more
PER_SCORE = 40  # of a candidate


class RecentDecisions:
    """What the log knows of ids: from memory if it is recent, else from the log.

    Of a decision in memory all feedback is known: there is one writer, and this is the writer's.
    At most `most` bytes are kept, about, but always the last decision.
    """

    def __init__(self, store: Store, most: int) -> None:
        self._store, self._most = store, most
        self._decisions: dict[str, Decision] = {}  # in their order
        self._feedback: dict[str, Feedback] = {}
        self._bytes = 0

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
        others = {id for id in ids if id not in self._decisions}  # not by keys(): that reads all
        return found | self._store.feedback(others) if others else found

    def add(self, decisions: Iterable[Decision], feedback: Iterable[Feedback]) -> None:
        """Remember these, which are in the log now."""
        for decision in decisions:
            self._decisions[decision.id] = decision
            self._bytes += _size(decision)
        for given in feedback:
            if given.id in self._decisions:
                self._feedback[given.id] = given
                self._bytes += _size_of_feedback(given)
        while self._bytes > self._most and len(self._decisions) > 1:
            self._drop(next(iter(self._decisions)))

    def drop(self, ids: Iterable[str]) -> None:
        """Forget these."""
        for id in ids:
            if id in self._decisions:
                self._drop(id)

    def forget(self) -> None:
        """Forget everything: the log may know more than this."""
        self._decisions, self._feedback, self._bytes = {}, {}, 0

    def _drop(self, id: str) -> None:
        self._bytes -= _size(self._decisions.pop(id))
        if id in self._feedback:
            self._bytes -= _size_of_feedback(self._feedback.pop(id))


def _size(decision: Decision) -> int:
    named = len(decision.candidates or ()) + len(decision.exclude or ())
    numbers = decision.context.nbytes + (0 if decision.seen is None else decision.seen.nbytes)
    values = sum(
        len(value) if isinstance(value, list) else 1 for value in (decision.named or {}).values()
    )
    return (
        PER_DECISION
        + numbers
        + PER_LABEL_SHOWN * len(decision.labels)
        + PER_LABEL_NAMED * named
        + PER_VALUE * values
        + _size_of_distribution(decision)
    )


def _size_of_distribution(decision: Decision) -> int:
    """What is kept of how the slate was drawn: two numbers a label, and scores if it has some."""
    if decision.distribution is None:
        return 0
    drawn = PER_LABEL_DRAWN * len(decision.labels)
    return PER_DISTRIBUTION + drawn + _size_of_parts(decision.distribution)


def _size_of_parts(distribution: dict[str, Any]) -> int:
    """The scores or the slate of a distribution, or of those that it is a mixture of."""
    if "mixture" in distribution:
        return sum(_size_of_parts(part) for _, part in distribution["mixture"])
    if "slate" in distribution:
        return PER_LABEL_NAMED * len(distribution["slate"])
    if "plackett_luce" in distribution:
        return PER_SCORE * len(distribution["plackett_luce"][1])
    return 0


def _size_of_feedback(given: Feedback) -> int:
    return 300 + PER_LABEL_NAMED * (len(given.clicked) + len(given.examined or ()))
