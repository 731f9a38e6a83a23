"""Events that leave the log: after their time, or because a person asks for it.

A decision and its feedback leave together, so that feedback always has its decision. The learner
goes on as it was: feedback leaves only once a snapshot has learned from it, and `removed`, the
largest seq of feedback that has left, says from which snapshots the learner can still be rebuilt.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace

from semibandit.errors import StoreError
from semibandit.store.ahead import Ahead
from semibandit.store.database import Database
from semibandit.store.tables import read_meta, write_meta

__all__ = ["Pending", "Step", "erase", "read_pending", "remove_old", "scrub"]

STEP = 200  # decisions looked at in one step
MANY = 500  # ids in one statement
PENDING = "erased"  # its key in the store's meta
JUST_NOW = "it was erased just now"


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
    now: float,
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
        Decisions and feedback that count from this time or later stay.
    now : float
        The time now: events of a later one count from when they were seen.
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
    ahead = Ahead.read(db)

    def is_old(seq: int, at: float) -> bool:
        return ahead.counts_from(seq, at, now) < before

    old = [one for one in found if is_old(one[0], one[2])]
    gone = [
        id
        for seq, id, _, feedback, at in old
        if (seq <= settled if feedback is None else feedback <= learned and is_old(feedback, at))
    ]
    unlearned = sum(
        feedback is not None and feedback > learned and is_old(feedback, at)
        for *_, feedback, at in old
    )
    events = 0
    if gone:
        with turn, db.transaction(overwrite=True):
            events = _delete(db, gone)
    more = len(found) == STEP and bool(old) and old[-1] is found[-1]
    return Step(events, unlearned, found[-1][0] if more else None)


@dataclass(frozen=True)
class Pending:
    """Events that were erased from the log, and may still be in the database's files.

    Parameters
    ----------
    events : int
        How many.
    since : float
        When the first of them was erased, in seconds since 1970.
    note : str
        What the database needs to know to go on.
    waits : str
        What it waits for.
    """

    events: int
    since: float
    note: str
    waits: str


def erase(
    db: Database, turn: AbstractContextManager[object], ids: Sequence[str], now: float
) -> int:
    """Remove decisions and the feedback to them, all at once, and snapshots from before that.

    In the same transaction they are noted as pending, until `scrub` finds them gone.

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
    db.erase_in_copies(ids)  # first: if this fails, it is asked again
    with turn, db.transaction(overwrite=True):
        for first in range(0, len(ids), MANY):
            events += _delete(db, ids[first : first + MANY])
        before = read_pending(db) or Pending(0, now, "", "")
        _write_pending(
            db, Pending(before.events + events, before.since, db.note_erasure(), JUST_NOW)
        )
        removed = int(read_meta(db, "removed") or 0)
        ((newest,),) = db.rows("SELECT MAX(seq) FROM semibandit_snapshots")
        if newest < removed:
            raise StoreError(f"{db.name}: no snapshot has learned event {removed} yet")
        db.rows("DELETE FROM semibandit_snapshots WHERE seq > 0 AND seq < ?", (removed,))
    return events


def scrub(db: Database, turn: AbstractContextManager[object]) -> Pending | None:
    """Let no byte of erased events stay in files; what is pending then, None if nothing is."""
    before = read_pending(db)
    if before is None:
        return None
    note, waits = db.scrub(before.note, turn)
    with turn, db.transaction():
        pending = read_pending(db)
        if pending == before:  # else more has been erased meanwhile
            pending = None if waits is None else replace(before, note=note, waits=waits)
            _write_pending(db, pending)
    return pending


def read_pending(db: Database) -> Pending | None:
    """What was erased and may still be in files; None if nothing is."""
    found = read_meta(db, PENDING)
    return Pending(**json.loads(found)) if found else None


def _write_pending(db: Database, pending: Pending | None) -> None:
    write_meta(db, PENDING, "" if pending is None else json.dumps(asdict(pending)))


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
