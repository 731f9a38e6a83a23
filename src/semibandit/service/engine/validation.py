"""Checking: what is wrong with feedback, or with a change of labels, before it is in the log."""

from __future__ import annotations

from collections.abc import Mapping

from semibandit.errors import InputError, LabelExists, UnknownLabel
from semibandit.policies.learner import Learner
from semibandit.service.engine.requests import Answer, Give, Refused, Reply
from semibandit.store.event import Decision, Feedback, LabelChange

__all__ = ["check_feedback", "wrong_change"]


def check_feedback(
    gives: list[Give],
    decisions: Mapping[str, Decision],
    known: Mapping[str, Feedback],
    now: float,
) -> tuple[list[tuple[Feedback, Decision, list[Answer]]], list[Reply]]:
    """Feedback that is new and right, with its decision, and replies to all other.

    decisions, known  those with the ids, and the feedback there is to them already
    """
    replies: list[Reply] = []
    fresh: dict[str, tuple[Feedback, Decision, list[Answer]]] = {}
    for job in gives:
        told = job.feedback
        decision = decisions.get(told.id)
        before = known.get(told.id) or (fresh[told.id][0] if told.id in fresh else None)
        wrong = _wrong(told, decision, before)
        if wrong is not None:
            replies.append((job.answer, wrong))
        elif told.id in fresh:
            fresh[told.id][2].append(job.answer)
        elif before is not None:
            replies.append((job.answer, before))
        elif decision is not None:
            feedback = Feedback(told.id, now, told.clicked, told.examined)
            fresh[told.id] = (feedback, decision, [job.answer])
    return list(fresh.values()), replies


def wrong_change(learner: Learner, change: LabelChange, most: int) -> Refused | None:
    """Why these labels cannot be changed so, if they cannot; at most `most` may there be."""
    try:
        if change.add is not None:
            more = change.add if isinstance(change.add, int) else len(change.add)
            if learner.n_labels + more > most:
                return Refused(
                    422, f"{learner.n_labels} labels and {more} more are over the limit of {most}"
                )
            learner.check_new_labels(change.add)
        if change.retire is not None:
            learner.check_labels(change.retire)
    except LabelExists as why:
        return Refused(409, str(why))
    except UnknownLabel as why:
        return Refused(404, str(why))
    except InputError as why:
        return Refused(422, str(why))
    return None


def _wrong(told: Feedback, decision: Decision | None, before: Feedback | None) -> Refused | None:
    if decision is None:
        return Refused(404, f"id = {told.id!r}, but no decision has that id")
    if before is not None:
        if told.same(before):
            return None
        if before.waited:
            return Refused(
                409, f"id = {told.id!r}: nobody answered in time, which counted as nothing clicked"
            )
        return Refused(409, f"id = {told.id!r} has other feedback already: {before.clicked!r}")
    for what, labels in (("clicked", told.clicked), ("examined", told.examined or [])):
        for label in labels:
            if label not in decision.labels:
                return Refused(422, f"{what} has {label!r}, which was not shown")
        if len(set(labels)) < len(labels):
            return Refused(422, f"{what} names a label twice")
    if told.examined is not None:
        for label in told.clicked:
            if label not in told.examined:
                return Refused(422, f"{label!r} was clicked, but is not among the examined labels")
    return None
