"""Decisions that waited too long for feedback: they count as nothing clicked."""

from __future__ import annotations

from semibandit.store.event import Decision, Feedback
from semibandit.store.store import Store

__all__ = ["FeedbackDeadline"]


class FeedbackDeadline:
    """Finds decisions without feedback after so many seconds; never, if `wait` is None.

    Decisions are given up in their order, so one number says how far.
    """

    def __init__(self, store: Store, wait: float | None) -> None:
        self._store, self._wait = store, wait
        self._waited = store.waited  # decisions up to this seq are settled
        self._checked = 0.0

    def find_late(
        self, now: float, most: int
    ) -> tuple[list[tuple[Feedback, Decision]], int] | None:
        """Feedback that says nothing was clicked, with its decision, for at most so many.

        Beside it is the seq up to which decisions are settled once these are in the log; then
        call `settle` with it. None if there is nothing to do now.
        """
        if self._wait is None or 0 <= now - self._checked < min(1.0, self._wait / 4):
            return None
        late = self._store.unanswered(self._waited, now - self._wait, now)[: max(most, 0)]
        if not late:
            self._checked = now  # while there are some, there may be more
            return None
        ids = [id for _, id, answered in late if not answered]
        decisions = self._store.decisions(ids)
        given_up = [(Feedback(id, now, [], waited=True), decisions[id]) for id in ids]
        return given_up, late[-1][0]

    def settle(self, waited: int) -> None:
        """Decisions up to this seq are settled: the log has feedback to all of them."""
        self._waited = waited
