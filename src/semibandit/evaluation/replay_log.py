"""Replay a service's log: into the learner it was, or into another configuration."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.progress import ProgressOption, progress_bar
from semibandit.policies.examination import at_positions, up_to_last_click
from semibandit.policies.learner import Learner
from semibandit.policies.persistence import LOG_POSITION, Snapshot, snapshot_of, to_device
from semibandit.store.event import Decision, Feedback
from semibandit.store.export import Log, open_log
from semibandit.store.rebuild import check_learns_from_shown, context_for, learn_event

__all__ = ["ReplayedLog", "replay_log"]


@dataclass(frozen=True, eq=False)
class ReplayedLog:
    """The learner after the log, and how well it predicted each answer before it learned it.

    Attributes
    ----------
    learner : Learner
        The learner after the last event.
    events : int
        How many events were learned.
    passed_over : int
        How many events were refused by the learner, such as feedback on a label it does not have.
    labels : int
        How many labels were shown, examined and known to the learner, over all feedback.
    clicks : int
        How many of them were clicked.
    expected : float
        How many of them should have been clicked, by the learner's estimates.
    brier : float
        The Brier score: the mean squared error of the estimates; 0.25 if they are always 1/2.
    position : int
        The seq of the last event that it looked at.
    removed : int
        Feedback up to this seq has left the log, at least in part, and is not learned.
    held_out : int
        How much feedback was left out because its decision says that it is not learned: visits of a
        holdout.

    Examples
    --------
    >>> import tempfile, semibandit as sb
    >>> from semibandit.store.store import Store
    >>> store = tempfile.mkdtemp()
    >>> Store.create(store, sb.SlateUCB(n_features=2, labels=["tea", "coffee"])).close()
    >>> sb.replay_log(store).events  # nothing was asked yet
    0
    """

    learner: Learner
    events: int
    passed_over: int
    labels: int
    clicks: int
    expected: float
    brier: float
    position: int = 0
    removed: int = 0
    held_out: int = 0

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to a file that says how much of the log it has learned.

        A service takes it in place of its own (`POST /v1/learner`), and lets it learn the rest.
        """
        snapshot = snapshot_of(self.learner)
        Snapshot(snapshot.header | {LOG_POSITION: self.position}, snapshot.arrays).save(path)

    @property
    def rate(self) -> float:
        """The click rate: clicks per label."""
        return self.clicks / max(self.labels, 1)


def replay_log(
    log: str | os.PathLike[str],
    learner: Learner | None = None,
    *,
    since: float | None = None,
    device: str | None = None,
    progress: ProgressOption = None,
) -> ReplayedLog:
    """Learn the log of a service again, event by event, in its order.

    What was shown is what the service showed then: the learner only learns from it.

    Parameters
    ----------
    log : path-like
        A file of `semibandit export`, or a store.
    learner : Learner, optional
        A learner in another configuration, which is changed. By default the one that the log began
        with, which becomes the service's learner (to the bit on the same kind of machine), unless
        another learner took its place or a part of the log was removed.
    since : float, optional
        Learn only feedback of this time and later, in seconds since 1970; labels come and go from
        the beginning on.
    device : {"cuda", "cuda:1", ..., "cpu"}, optional
        Where the model of the learner that the log began with is to be, see `Full`.
    progress : bool, callable or None
        Show a bar; by default if there is a terminal. A function is called with the events learned.

    Returns
    -------
    ReplayedLog
        The learner, counts, and how well it predicted the answers.

    Raises
    ------
    InputError
        If the log cannot be read.
    """
    counts = {"events": 0, "passed_over": 0, "labels": 0, "clicks": 0, "held_out": 0}
    expected = error = 0.0
    with open_log(log) as opened, progress_bar(None, "events", progress) as advance:
        own = learner is None and since is None
        learner = _first_learner(opened, device) if learner is None else learner
        check_learns_from_shown(learner)
        position, removed = 0, opened.removed
        for seq, event, decision in opened.learnable_events():
            position = seq
            if isinstance(event, Feedback) and decision is not None:
                if since is not None and event.at < since:
                    continue
                if not decision.learns:
                    counts["held_out"] += 1
                    continue
                x = context_for(learner, decision, own=own)
                estimate, answer = _predicted(learner, x, event, decision)
                counts["labels"] += len(answer)
                counts["clicks"] += int(answer.sum())
                expected += float(estimate.sum())
                error += float(((estimate - answer) ** 2).sum())
            learned = learn_event(learner, event, decision, since=0 if own else None)
            counts["events" if learned else "passed_over"] += 1
            advance(1)
    labels = counts["labels"]
    brier = error / max(labels, 1)
    return ReplayedLog(
        learner, **counts, expected=expected, brier=brier, position=position, removed=removed
    )


def _first_learner(opened: Log, device: str | None) -> Learner:
    return opened.learner if device is None else to_device(opened.learner, device)


def _predicted(
    learner: Learner, x: Any, event: Feedback, decision: Decision
) -> tuple[Floats, Floats]:
    """How likely a click on each label was that may have been looked at, and 1 if it came.

    That is the estimate, times the probability that its position is looked at if the learner knows
    one (`examination=`) and the feedback does not say.
    """
    scores = learner.scores(x, draw=decision.draw)
    index = {label: i for i, label in enumerate(scores.labels)}
    examined, theta = event.examined, np.ones(len(decision.labels))
    if examined is None and isinstance(learner.examination, tuple):
        theta = at_positions(learner.examination, len(decision.labels))
    if examined is None:
        cut = isinstance(learner.examination, str)
        examined = up_to_last_click(decision.labels, event.clicked) if cut else decision.labels
    chance = dict(zip(decision.labels, theta.tolist(), strict=True))
    known = [
        label
        for label in examined
        if label in index and label in chance and label not in event.retired
    ]
    clicked = set(event.clicked)
    answer = np.array([label in clicked for label in known], dtype=np.float64)
    estimate = scores.estimate[[index[label] for label in known]]
    return estimate * np.array([chance[label] for label in known]), answer
