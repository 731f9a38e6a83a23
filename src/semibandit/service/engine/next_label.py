"""The best label that was not shown, for the page to say what came next."""

from __future__ import annotations

import logging
import time
from typing import Any

from semibandit.policies.learner import Learner
from semibandit.service.engine.scores import allowed_scores
from semibandit.service.engine.statistics import Statistics
from semibandit.store.event import Decision, describe

__all__ = ["NextLabelLookup", "find_next_label"]

log = logging.getLogger("semibandit")
SHARE = 0.02  # of the writer's time
PAUSE_AFTER_BUG = 60.0  # seconds


class NextLabelLookup:
    """Looks it up for some decisions, with a small share of the time."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics
        self._not_before = 0.0

    def add(self, learner: Learner, decision: Decision) -> None:
        """Put the decision among the latest of the statistics, with that label if there is time.

        The decision is right and in the log: a bug here is logged, but fails no request.
        """
        start = time.monotonic()
        if start < self._not_before:
            self._statistics.add_latest(decision, None)
            return
        try:
            next_label = find_next_label(learner, decision)
        except Exception:
            log.exception("looking up the label after those of %r failed", decision.id)
            next_label, self._not_before = None, start + PAUSE_AFTER_BUG
        else:
            end = time.monotonic()
            self._not_before = end + (end - start) / SHARE
        self._statistics.add_latest(decision, next_label)


def find_next_label(learner: Learner, decision: Decision) -> dict[str, Any] | None:
    """The best label that might have been shown and was not, as the learner stands now."""
    scores = allowed_scores(
        learner, decision.context, decision.candidates, decision.exclude, decision.draw
    )
    shown = set(decision.labels)
    rest = [i for i, label in enumerate(scores.labels) if label not in shown]
    best = max(rest, key=lambda i: float(scores.prob[i]), default=None)
    if best is None:
        return None
    columns = scores.prob, scores.estimate, scores.width
    return describe(scores.labels[best], *(float(column[best]) for column in columns))
