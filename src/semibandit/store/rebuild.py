"""The learner out of the log: a snapshot, and then what came after it, event by event."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from semibandit.errors import InputError
from semibandit.policies.learner import Learner
from semibandit.store.event import Decision, Event, Feedback, LabelChange
from semibandit.store.store import Store

__all__ = ["learn_event", "rebuild", "replayed"]

log = logging.getLogger("semibandit")


def learn_event(learner: Learner, event: Event, decision: Decision | None) -> bool:
    """Take one event in; False if the learner cannot, which is then the same every time.

    The slate is made anew from the logged context, never taken over from `rank`: so learning as
    events arrive and learning them from the log later are the same sums, to the bit.
    """
    try:
        if isinstance(event, Feedback):
            assert decision is not None
            slate = learner.shown(
                decision.context,
                decision.labels,
                1 if learner.one_slot else decision.slots,
                propensity=decision.propensity,
                leader=decision.leader,
            )
            learner.learn(slate, event.clicked, event.examined)
        elif isinstance(event, LabelChange):
            if event.add is not None:
                learner.add_labels(event.add)
            if event.retire is not None:
                learner.retire_labels(event.retire)
    except ValueError as why:
        log.warning("an event was passed over: %s", why)
        return False
    return True


def replayed(learner: Learner, store: Store, after: int = 0) -> Iterator[int]:
    """Learn what the log has after seq `after`, giving every event's seq when it is done."""
    for seq, event, decision in store.lessons(after):
        learn_event(learner, event, decision)
        yield seq


def rebuild(store: Store, after: int | None = None) -> tuple[Learner, int]:
    """The learner as the log has it now, and the seq of the last event in it.

    From the newest snapshot that is whole, or from the one at seq `after`: 0 is the beginning.
    """
    places = store.snapshots() if after is None else [after]
    for place in reversed(places):
        try:
            learner = store.snapshot(place)
        except ValueError as why:
            if place == places[0]:
                raise InputError(f"{store.name} has no whole snapshot: {why}") from None
            log.warning("the snapshot at event %d is damaged, taking an older one: %s", place, why)
            continue
        last = max(replayed(learner, store, place), default=place)
        return learner, last
    raise InputError(f"{store.name} has no snapshot")
