"""Snapshots of the learner at places in the log, in the log's own database.

A snapshot's parts are written before the row that makes them count, each in a transaction of its
own: however large a learner is, the log need not wait for it, and half a snapshot is none.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager

from semibandit.policies.learner import Learner
from semibandit.policies.persistence import load
from semibandit.store.database import Database

__all__ = ["add_snapshot", "insert_first", "list_snapshots", "read_snapshot"]

PART = 1 << 18  # bytes of a snapshot in one transaction
PAUSE = 0.001  # seconds after it, for the log to have its turn
TIDY_EVERY = 64  # such parts after which the database is tidied
KEPT = 2  # snapshots kept besides the first

INSERT_PART = "INSERT INTO semibandit_parts (seq, part, bytes) VALUES (?, ?, ?)"
INSERT_SNAPSHOT = "INSERT INTO semibandit_snapshots (seq) VALUES (?)"


def list_snapshots(db: Database) -> list[int]:
    """The places in the log at which there are snapshots, oldest first."""
    return [seq for (seq,) in db.rows("SELECT seq FROM semibandit_snapshots ORDER BY seq")]


def read_snapshot(db: Database, seq: int) -> Learner:
    """The learner as it was after event `seq`; `FileError` if its snapshot is damaged."""
    parts = db.rows("SELECT bytes FROM semibandit_parts WHERE seq = ? ORDER BY part", (seq,))
    return load(io.BytesIO(b"".join(bytes(part) for (part,) in parts)))


def insert_first(db: Database, content: bytes) -> None:
    """Snapshot 0, inside the transaction that makes the store."""
    for part, piece in _pieces(content):
        db.rows(INSERT_PART, (0, part, piece))
    db.rows(INSERT_SNAPSHOT, (0,))


def add_snapshot(
    db: Database, turn: AbstractContextManager[object], seq: int, content: bytes
) -> None:
    """Keep the learner after event `seq`; older ones go, except the first and the last but one.

    `turn` is held during every write, and let go of in between.
    """
    if seq in list_snapshots(db):
        return
    _drop_parts(db, turn)  # left by a crash
    for part, piece in _pieces(content):
        with turn:
            db.rows(INSERT_PART, (seq, part, piece))
        time.sleep(PAUSE)
        if part % TIDY_EVERY == TIDY_EVERY - 1 and db.tidy():
            with turn:
                db.tidy()
    older = [place for place in list_snapshots(db) if place > 0]
    with turn, db.transaction():
        db.rows(INSERT_SNAPSHOT, (seq,))
        for gone in older[: -(KEPT - 1)]:
            db.rows("DELETE FROM semibandit_snapshots WHERE seq = ?", (gone,))
    _drop_parts(db, turn)


def _pieces(content: bytes) -> Iterator[tuple[int, bytes]]:
    for part, first in enumerate(range(0, len(content), PART)):
        yield part, content[first : first + PART]


def _drop_parts(db: Database, turn: AbstractContextManager[object]) -> None:
    """Drop the parts of no snapshot, one at a time: the log need not wait for all of them."""
    for seq, part in db.rows(
        "SELECT seq, part FROM semibandit_parts "
        "WHERE seq NOT IN (SELECT seq FROM semibandit_snapshots)"
    ):
        with turn:
            db.rows("DELETE FROM semibandit_parts WHERE seq = ? AND part = ?", (seq, part))
        time.sleep(PAUSE)
