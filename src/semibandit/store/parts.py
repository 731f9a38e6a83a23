"""Large values cut into parts: each in a transaction of its own, so that the log need not wait."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager

from semibandit.store.database import Database

__all__ = ["drop_parts", "insert_parts", "read_parts", "write_parts"]

PART = 1 << 18  # bytes in one transaction
PAUSE = 0.001  # seconds after it, for the log to have its turn
AT_ONCE = 64  # parts read in one statement: each has to end in time
TIDY_EVERY = 64  # such parts after which the database is tidied

SELECT = "SELECT bytes FROM semibandit_parts WHERE seq = ? AND part >= ? AND part < ? ORDER BY part"
INSERT = "INSERT INTO semibandit_parts (seq, part, bytes) VALUES (?, ?, ?)"


def read_parts(db: Database, seq: int) -> bytes:
    """The value under this number; empty if there is none."""
    content, part = io.BytesIO(), 0
    while found := db.rows(SELECT, (seq, part, part + AT_ONCE)):
        content.writelines(bytes(piece) for (piece,) in found)
        part += AT_ONCE
    return content.getvalue()


def insert_parts(db: Database, seq: int, content: bytes) -> None:
    """Write a value inside a transaction that is under way."""
    for part, piece in _pieces(content):
        db.rows(INSERT, (seq, part, piece))


def write_parts(
    db: Database, turn: AbstractContextManager[object], seq: int, content: bytes
) -> None:
    """Write a value while others write: `turn` is held for one part at a time."""
    for part, piece in _pieces(content):
        with turn:
            db.rows(INSERT, (seq, part, piece))
        time.sleep(PAUSE)
        if part % TIDY_EVERY == TIDY_EVERY - 1 and db.tidy():
            with turn:
                db.tidy()


def drop_parts(db: Database, turn: AbstractContextManager[object], which: str) -> None:
    """Drop the parts that an SQL condition is true of, one at a time."""
    for seq, part in db.rows(f"SELECT seq, part FROM semibandit_parts WHERE {which}"):
        with turn:
            db.rows("DELETE FROM semibandit_parts WHERE seq = ? AND part = ?", (seq, part))
        time.sleep(PAUSE)


def _pieces(content: bytes) -> Iterator[tuple[int, bytes]]:
    for part, first in enumerate(range(0, len(content), PART)):
        yield part, content[first : first + PART]
