"""The learner out of the log: a snapshot, and then what came after it, event by event."""

from __future__ import annotations

import logging
from typing import Any

from semibandit.errors import FileError, InputError
from semibandit.policies.learner import Learner
from semibandit.store.event import Decision, Event, Feedback, LabelChange
from semibandit.store.store import Store

__all__ = ["check_learns_from_shown", "context_for", "learn_event", "rebuild"]

log = logging.getLogger("semibandit")


def learn_event(
    learner: Learner, event: Event, decision: Decision | None, *, own: bool = True
) -> bool:
    """Learn from one event of the log.

    The slate is made anew from the logged context, never taken over from `rank`: so learning as
    events arrive and learning them from the log later are the same sums, to the bit.

    Parameters
    ----------
    learner : Learner
        The learner as it was after the event before.
    event : Event
        The event; a decision alone teaches nothing.
    decision : Decision or None
        The decision that feedback is about; None for other events.
    own : bool
        Whether the log is this learner's own. If not, contexts are scaled anew: what the model of
        another learner saw is not for this one.

    Returns
    -------
    bool
        False if the learner refuses the event with an `InputError`, which it then does every time
        the log is learned: the event is passed over. Any other exception is a bug and comes out,
        and the event must be learned again by a version that can.
    """
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


def rebuild(store: Store, after: int | None = None) -> tuple[Learner, int]:
    """Make the learner that the log describes.

    Parameters
    ----------
    store : Store
        The log and its snapshots.
    after : int, optional
        Start from the snapshot at this place in the log; 0 is the learner before the first event.
        By default the newest snapshot that is not damaged.

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
    for seq, event, decision in store.learnable_events(position):
        learn_event(learner, event, decision)
        position = seq
    return learner, position


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
    for place in reversed(places):
        try:
            return store.snapshot(place), place
        except InputError as why:  # damaged, or it cannot be read by this version
            if place == places[0]:
                raise FileError(f"{store.name} has no whole snapshot: {why}") from None
            log.warning("the snapshot at event %d is damaged, taking an older one: %s", place, why)
    raise FileError(f"{store.name} has no snapshot")
