"""Events that leave the log: after their time, or because a person asks for it.

A decision and its feedback leave together, so that feedback always has its decision. The learner
goes on as it was: feedback leaves only once a snapshot has learned from it, and `removed`, the
largest seq of feedback that has left, says from which snapshots the learner can still be rebuilt.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from semibandit.errors import StoreError
from semibandit.store.database import Database
from semibandit.store.tables import read_meta, write_meta

__all__ = ["Step", "erase", "remove_old"]

STEP = 200  # decisions looked at in one step
MANY = 500  # ids in one statement


@dataclass(frozen=True)
class Step:
    """One step of `remove_old`: how many events left, and how many wait for a snapshot.

    `after` is where the next step goes on, None if all old decisions have been looked at.
    """

    events: int
    unlearned: int
    after: int | None


def remove_old(
    db: Database,
    turn: AbstractContextManager[object],
    before: float,
    learned: int,
    settled: float = math.inf,
    after: int = 0,
) -> Step:
    """Remove some decisions from before a time, with the feedback to them.

    Parameters
    ----------
    db, turn
        The database, and what is held while it is written.
    before : float
        Decisions and feedback of this time and later stay.
    learned : int
        Feedback after this seq stays, and so does its decision: snapshots have not learned it.
    settled : float
        Decisions after this seq that have no feedback stay: they are still waited for.
    after : int
        Look at decisions after this seq.
    """
    found = db.rows(
        "SELECT d.seq, d.id, d.at, f.seq, f.at FROM semibandit_events d "
        "LEFT JOIN semibandit_events f ON f.kind = 'feedback' AND f.id = d.id "
        f"WHERE d.kind = 'decision' AND d.seq > ? ORDER BY d.seq LIMIT {STEP}",
        (after,),
    )
    old = [one for one in found if one[2] < before]
    gone = [
        id
        for seq, id, _, feedback, at in old
        if (seq <= settled if feedback is None else feedback <= learned and at < before)
    ]
    unlearned = sum(
        1 for *_, feedback, at in old if feedback is not None and feedback > learned and at < before
    )
    events = 0
    if gone:
        with turn, db.transaction(overwrite=True):
            events = _delete(db, gone)
    more = len(found) == STEP and found[-1][2] < before
    return Step(events, unlearned, found[-1][0] if more else None)


def erase(db: Database, turn: AbstractContextManager[object], ids: Sequence[str]) -> int:
    """Remove decisions and the feedback to them, all at once, and snapshots from before that.

    Returns
    -------
    int
        How many events left.

    Raises
    ------
    StoreError
        If no snapshot has learned all of the feedback: nothing is removed then.
    """
    events = 0
    with turn, db.transaction(overwrite=True):
        for first in range(0, len(ids), MANY):
            events += _delete(db, ids[first : first + MANY])
        removed = int(read_meta(db, "removed") or 0)
        ((newest,),) = db.rows("SELECT MAX(seq) FROM semibandit_snapshots")
        if newest < removed:
            raise StoreError(f"{db.name}: no snapshot has learned event {removed} yet")
        db.rows("DELETE FROM semibandit_snapshots WHERE seq > 0 AND seq < ?", (removed,))
    return events


def _delete(db: Database, ids: Sequence[str]) -> int:
    """Delete them inside a transaction, and note how far; how many events that were."""
    marks = ", ".join("?" * len(ids))
    ((events, last, feedback),) = db.rows(
        "SELECT COUNT(*), MAX(seq), MAX(CASE WHEN kind = 'feedback' THEN seq END) "
        f"FROM semibandit_events WHERE id IN ({marks})",
        ids,
    )
    db.rows(f"DELETE FROM semibandit_events WHERE id IN ({marks})", ids)
    for key, seq in (("removed", feedback), ("highest", last)):
        if (seq or 0) > int(read_meta(db, key) or 0):
            write_meta(db, key, str(seq))
    return int(events)
