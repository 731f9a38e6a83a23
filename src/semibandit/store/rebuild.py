"""The learner out of the log: a snapshot, and then what came after it, in the log's order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from itertools import islice, takewhile
from typing import Any

from semibandit.errors import FileError, InputError
from semibandit.policies.feedback_batch import ShownFeedback, can_compile, learn_batch
from semibandit.policies.learner import Learner
from semibandit.store.event import Decision, Event, Feedback, LabelChange, NewLearner
from semibandit.store.store import Store

__all__ = [
    "catch_up",
    "check_learns_from_shown",
    "context_for",
    "learn_event",
    "learn_events",
    "learner_since",
    "rebuild",
]

log = logging.getLogger("semibandit")
GROUP = 256  # events read before they are learned


def learn_event(
    learner: Learner, event: Event, decision: Decision | None, *, since: int | None = 0
) -> bool:
    """Learn from one event of the log: `learn_events` of this event alone.

    Returns
    -------
    bool
        False if the learner refuses the event with an `InputError`: it is passed over.
    """
    return learn_events(learner, [(event, decision)], since=since)[0]


def learn_events(
    learner: Learner,
    events: Sequence[tuple[Event, Decision | None]],
    *,
    since: int | None = 0,
) -> list[bool]:
    """Learn the first of these events, as many as can be learned in one go, but at least one.

    Slates are made anew from the logged contexts, never taken over from `rank`: so learning as
    events arrive and learning them from the log later are the same sums, to the bit, however events
    are divided between calls.

    Parameters
    ----------
    learner : Learner
        The learner as it was after the event before.
    events : sequence of (event, decision)
        The next events of the log, at least one, each with the decision that feedback is about, or
        None for other events; a decision alone teaches nothing.
    since : int or None
        The seq of the event that brought this learner, 0 if it is the log's first, None if it
        never served. Contexts of decisions by another learner are scaled anew: what the model of
        that one saw is not for this one.

    Returns
    -------
    list of bool
        One for each event that was learned, or that there is nothing to learn from: feedback to a
        decision that says so (`Decision.learns`), such as one of a holdout. False if the learner
        refuses the event with an `InputError`, which it then does every time the log is learned:
        the event is passed over. Any other exception is a bug and comes out: nothing was learned by
        this call then, and the event must be learned again by a version that can.
    """
    held_out = sum(1 for _ in takewhile(lambda one: not _teaches(one[1]), events))
    if held_out:
        return [True] * held_out
    if can_compile(learner):
        learned = learn_batch(learner, _shown_feedback(events, since))
        if learned:
            return [True] * learned
    event, decision = events[0]
    own = decision is not None and decision.learner == since
    return [_learn_alone(learner, event, decision, own=own)]


def _shown_feedback(
    events: Sequence[tuple[Event, Decision | None]], since: int | None
) -> list[ShownFeedback]:
    """The feedback that these events begin with, up to one that brings new values, or another."""
    found: list[ShownFeedback] = []
    for event, decision in events:
        if not isinstance(event, Feedback) or decision is None or not decision.learns:
            break
        own = decision.learner == since
        if decision.new or (decision.named is not None and not own):
            break
        seen = decision.seen if own else None
        slate = decision.context, seen, decision.labels, decision.slots
        found.append(ShownFeedback(*slate, event.clicked, event.examined, event.retired))
    return found


def _teaches(decision: Decision | None) -> bool:
    """Whether an event about this decision, or about none, is learned."""
    return decision is None or decision.learns


def _learn_alone(learner: Learner, event: Event, decision: Decision | None, *, own: bool) -> bool:
    """Learn an event by the learner's own methods; False if it is refused."""
    try:
        if isinstance(event, Feedback):
            assert decision is not None
            slate = learner.shown(
                context_for(learner, decision, own=own),
                decision.labels,
                1 if learner.one_slot else decision.slots,
                propensity=decision.propensity,
                leader=decision.leader,
                seen=decision.seen if own else None,
                new=decision.new if own else None,
                retired=event.retired,
            )
            learner.learn(slate, event.clicked, event.examined)
        elif isinstance(event, LabelChange):
            if event.add is not None:
                learner.add_labels(event.add)
            if event.retire is not None:
                learner.retire_labels(event.retire)
    except InputError as why:
        log.warning("an event was passed over: %s", why)
        return False
    return True


def context_for(learner: Learner, decision: Decision, *, own: bool) -> Any:
    """The context of a decision, as `Learner.rank` takes it.

    A learner with named features whose log it is not encodes it anew; its columns may be others.
    """
    anew = not own and learner.features is not None and decision.named is not None
    return decision.named if anew else decision.context


def rebuild(
    store: Store,
    after: int | None = None,
    progress: Callable[[int, int], object] = lambda done, total: None,
    place: Callable[[Learner], object] = lambda learner: None,
) -> tuple[Learner, int]:
    """Make the learner that the log describes.

    Parameters
    ----------
    store : Store
        The log and its snapshots.
    after : int, optional
        Start from the snapshot at this place in the log; 0 is the learner before the first event.
        By default the newest snapshot that is not damaged.
    progress : function, optional
        Called now and then with how many of the log's events after the snapshot are behind it, and
        how many there are. What it raises ends the rebuilding, and comes out.
    place : function, optional
        Called with each learner before it learns from the log, to move it to where it is to be.

    Returns
    -------
    learner : Learner
        The learner after the last event.
    last : int
        The seq of the last event it has learned from.

    Raises
    ------
    FileError
        If there is no such snapshot, or none that is whole.
    Exception
        If learning from an event fails with anything but an `InputError`: that is a bug, and
        nothing is skipped.
    """
    learner, position = _newest_snapshot(store, store.snapshots() if after is None else [after])
    place(learner)
    since = learner_since(store, position)
    first, last = position, store.last
    progress(0, last - first)
    waiting = store.learnable_events(position)
    while group := list(islice(waiting, GROUP)):
        events = [(event, decision) for _, event, decision in group]
        while events:
            position, event = group[-len(events)][0], events[0][0]
            if isinstance(event, NewLearner):
                learner, since = store.file_learner(event.file), position  # the old one is gone
                place(learner)
                catch_up(learner, store, event.after, position)
                del events[0]
            else:
                del events[: len(learn_events(learner, events, since=since))]
        position = group[-1][0]
        progress(position - first, max(position, last) - first)
    return learner, position


def learner_since(store: Store, position: int) -> int:
    """The seq of the event that brought the learner at a place in the log; 0 for the first."""
    return max((seq for seq, _ in store.new_learners() if seq <= position), default=0)


def catch_up(learner: Learner, store: Store, after: int, before: int) -> int:
    """Let the learner of a file learn what the log has between two events.

    They are those of other learners: contexts are scaled anew. The seq of the last one is returned.
    """
    waiting = takewhile(lambda one: one[0] < before, store.learnable_events(after))
    while group := list(islice(waiting, GROUP)):
        events = [(event, decision) for _, event, decision in group]
        while events:
            del events[: len(learn_events(learner, events, since=None))]
        after = group[-1][0]
    return after


def check_learns_from_shown(learner: Learner) -> None:
    """Refuse a learner that must be told of labels that were not shown: a log does not know them.

    Raises
    ------
    InputError
        If the learner has full information (OBR).
    """
    if learner.full_information:
        raise InputError(
            f"{type(learner).__name__} must be told every relevant label, "
            "and users only tell of what they were shown"
        )


def _newest_snapshot(store: Store, places: list[int]) -> tuple[Learner, int]:
    places = _usable(store, places)
    for place in reversed(places):
        try:
            return store.snapshot(place), place
        except InputError as why:  # damaged, or it cannot be read by this version
            if place == places[0]:
                raise FileError(f"{store.name} has no whole snapshot: {why}") from None
            log.warning("the snapshot at event %d is damaged, taking an older one: %s", place, why)
    raise FileError(f"{store.name} has no snapshot")


def _usable(store: Store, places: list[int]) -> list[int]:
    """The snapshots after which the log still has all that was learned."""
    removed, learners = store.removed, store.new_learners()
    usable = [
        place
        for place in places
        if place >= removed and all(e.after >= removed for seq, e in learners if seq > place)
    ]
    if places and not usable:
        raise FileError(
            f"{store.name} has no snapshot from which its learner can be made: feedback up to "
            f"event {removed} was removed from the log"
        )
    return usable
