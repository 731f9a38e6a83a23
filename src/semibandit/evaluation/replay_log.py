"""Replay a service's log: into the learner it was, or into another configuration."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from semibandit._util.progress import Show, progress_of
from semibandit.policies.learner import Learner
from semibandit.store.event import Decision, Feedback
from semibandit.store.export import open_log
from semibandit.store.rebuild import learn_event

__all__ = ["Replayed", "replay_log"]


@dataclass(frozen=True, eq=False)
class Replayed:
    """The learner after the log, and how well it foretold each answer before it learned it."""

    learner: Learner
    events: int  # learned
    passed_over: int  # that the learner could not take
    labels: int  # shown labels that there was feedback on
    clicks: int
    expected: float  # clicks by the estimates
    brier: float  # the mean squared error of the estimates; 0.25 is what a coin gets

    @property
    def rate(self) -> float:
        """Clicks per label."""
        return self.clicks / max(self.labels, 1)


def replay_log(
    log: str | os.PathLike[str], learner: Learner | None = None, *, progress: Show = None
) -> Replayed:
    """Learn a log (a file of `semibandit export`, or a store) event by event, in its order.

    learner  starts fresh in another configuration; None is the one the log began with, which ends
             as the service's learner, to the bit

    What was shown is what the service showed then: this learns from it, it does not decide anew.
    """
    counts = {"events": 0, "passed_over": 0, "labels": 0, "clicks": 0}
    expected = error = 0.0
    with open_log(log) as opened, progress_of(None, "events", progress) as advance:
        learner = opened.learner if learner is None else learner
        for _, event, decision in opened.learnable_events():
            if isinstance(event, Feedback) and decision is not None:
                estimate, answer = _foretold(learner, event, decision)
                counts["labels"] += len(answer)
                counts["clicks"] += int(answer.sum())
                expected += float(estimate.sum())
                error += float(((estimate - answer) ** 2).sum())
            good = learn_event(learner, event, decision)
            counts["events" if good else "passed_over"] += 1
            advance(1)
    labels = counts["labels"]
    return Replayed(learner, **counts, expected=expected, brier=error / max(labels, 1))


def _foretold(
    learner: Learner, event: Feedback, decision: Decision
) -> tuple[np.ndarray, np.ndarray]:
    """The estimates for the labels that were looked at, and whether they were clicked."""
    scores = learner.scores(decision.context, draw=decision.draw)
    place = {label: i for i, label in enumerate(scores.labels)}
    seen = decision.labels if event.examined is None else event.examined
    known = [label for label in seen if label in place]
    clicked = set(event.clicked)
    answer = np.array([label in clicked for label in known], dtype=np.float64)
    return scores.estimate[[place[label] for label in known]], answer
