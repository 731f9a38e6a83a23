"""Snapshots of the learner at places in the log, in the log's own database.

A snapshot's parts are written before the row that makes them count: however large a learner is,
the log need not wait for it, and half a snapshot is none.
"""

from __future__ import annotations

import io
import zipfile
from contextlib import AbstractContextManager

from semibandit.policies.learner import Learner
from semibandit.policies.persistence import load
from semibandit.store.database import Database
from semibandit.store.parts import drop_parts, insert_parts, read_parts, write_parts

__all__ = ["add_snapshot", "insert_first", "list_snapshots", "read_snapshot", "snapshot_is_whole"]

KEPT = 2  # snapshots kept besides the first

INSERT_SNAPSHOT = "INSERT INTO semibandit_snapshots (seq) VALUES (?)"
OF_NO_SNAPSHOT = "seq >= 0 AND seq NOT IN (SELECT seq FROM semibandit_snapshots)"


def list_snapshots(db: Database) -> list[int]:
    """The places in the log at which there are snapshots, oldest first."""
    return [seq for (seq,) in db.rows("SELECT seq FROM semibandit_snapshots ORDER BY seq")]


def read_snapshot(db: Database, seq: int, device: str | None = None) -> Learner:
    """The learner as it was after event `seq`; `FileError` if its snapshot is damaged."""
    return load(io.BytesIO(read_parts(db, seq)), device=device)


def snapshot_is_whole(db: Database, seq: int) -> bool:
    """Whether every byte of it is as it was written, by the checksums of its file."""
    try:
        with zipfile.ZipFile(io.BytesIO(read_parts(db, seq))) as archive:
            return archive.testzip() is None
    except zipfile.BadZipFile:
        return False


def insert_first(db: Database, content: bytes) -> None:
    """Snapshot 0, inside the transaction that makes the store."""
    insert_parts(db, 0, content)
    db.rows(INSERT_SNAPSHOT, (0,))


def add_snapshot(
    db: Database, turn: AbstractContextManager[object], seq: int, content: bytes
) -> None:
    """Keep the learner after event `seq`; older ones go, except the first and the last but one.

    `turn` is held during every write, and let go of in between.
    """
    if seq in list_snapshots(db):
        return
    drop_parts(db, turn, OF_NO_SNAPSHOT)  # left by a crash
    write_parts(db, turn, seq, content)
    older = [place for place in list_snapshots(db) if place > 0]
    with turn, db.transaction():
        db.rows(INSERT_SNAPSHOT, (seq,))
        for gone in older[: -(KEPT - 1)]:
            db.rows("DELETE FROM semibandit_snapshots WHERE seq = ?", (gone,))
    drop_parts(db, turn, OF_NO_SNAPSHOT)
