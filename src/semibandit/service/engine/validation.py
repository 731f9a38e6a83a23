"""Validation: what is wrong with feedback, or with a change of labels, before it is in the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from semibandit._util.checks import shortened
from semibandit.errors import Conflict, InputError, UnknownDecision
from semibandit.policies.examination import up_to_last_click
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.feedback import check_feedback
from semibandit.policies.labels import read_labels
from semibandit.policies.learner import Learner
from semibandit.service.engine.requests import AnswerFuture, PendingFeedback, Reply
from semibandit.store.event import Decision, Feedback, LabelChange

__all__ = ["check_label_change", "check_replacement", "sort_feedback"]


def sort_feedback(
    pending: list[PendingFeedback],
    decisions: Mapping[str, Decision],
    known: Mapping[str, Feedback],
    now: float,
    expired: Callable[[Decision], bool],
) -> tuple[list[tuple[Feedback, Decision, list[AnswerFuture]]], list[Reply]]:
    """Feedback that is new and right, with its decision, and replies to all other.

    `decisions` has the decisions with the ids, `known` the feedback there is to them already.
    Decisions that are `expired` are about to leave the log.
    """
    replies: list[Reply] = []
    fresh: dict[str, tuple[Feedback, Decision, list[AnswerFuture]]] = {}
    for one in pending:
        given = one.feedback
        id = given.id
        before = known.get(id) or (fresh[id][0] if id in fresh else None)
        try:
            decision = _decision_of(given, decisions.get(id), expired)
            if one.up_to_last_click:  # the log says which labels that are
                given = replace(given, examined=up_to_last_click(decision.labels, given.clicked))
            _check(given, decision, before)
        except InputError as why:
            replies.append((one.answer, why))
            continue
        if id in fresh:
            fresh[id][2].append(one.answer)
        elif before is not None:
            replies.append((one.answer, before))
        else:
            feedback = Feedback(id, now, given.clicked, given.examined)
            fresh[id] = (feedback, decision, [one.answer])
    return list(fresh.values()), replies


def check_label_change(learner: Learner, change: LabelChange, most: int) -> None:
    """Raise an `InputError` if labels cannot be changed so; at most `most` may there be."""
    if change.add is not None:
        more = change.add if isinstance(change.add, int) else len(change.add)
        if learner.n_labels + more > most:
            raise InputError(
                f"{learner.n_labels} labels and {more} more are over the limit of {most}"
            )
        learner.check_new_labels(change.add)
    if change.retire is not None:
        learner.check_labels(change.retire)


def check_replacement(present: Learner, other: Learner) -> None:
    """Raise an `InputError` if a learner cannot take another's place: another shape, or labels."""
    there, given = (one.features or one.n_features for one in (present, other))
    if given != there:
        raise InputError(
            f"the learner has features {_words(given)}, this service has {_words(there)}"
        )
    mine, theirs = set(present.labels), set(other.labels)
    missing = [label for label in present.labels if label not in theirs]
    extra = [label for label in other.labels if label not in mine]
    if missing or extra:
        what = f"lacks {shortened(missing)}" if missing else f"also has {shortened(extra)}"
        raise InputError(f"the learner has other labels than this service: it {what}")


def _words(features: int | NamedFeatures) -> int | str:
    return features if isinstance(features, int) else features.words


def _decision_of(
    given: Feedback, decision: Decision | None, expired: Callable[[Decision], bool]
) -> Decision:
    """The decision that the feedback is about; an `UnknownDecision` if there is none."""
    if decision is None:
        raise UnknownDecision(f"id = {given.id!r}, but no decision has that id")
    if expired(decision):
        raise UnknownDecision(f"id = {given.id!r} is of a decision that is no longer kept")
    return decision


def _check(given: Feedback, decision: Decision, before: Feedback | None) -> None:
    """Raise an `InputError` if the feedback cannot be taken."""
    if before is None:
        clicked = read_labels(given.clicked, "clicked")
        examined = None if given.examined is None else read_labels(given.examined, "examined")
        check_feedback(decision.labels, clicked, examined)
    elif not given.same(before):
        if before.waited:
            raise Conflict(
                f"id = {given.id!r}: nobody answered in time, which counted as nothing clicked"
            )
        raise Conflict(f"id = {given.id!r} has other feedback already: {before.clicked!r}")
