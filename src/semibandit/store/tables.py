"""The tables of a store: made once, and checked whenever a store is opened.

semibandit_meta       its format, what it is for, and other values of its own (see `META`)
semibandit_events     the log: seq 1, 2, 3, ... in the order in which it was written
semibandit_snapshots  the learner after event `seq`; 0 is the learner before the first
semibandit_parts      a snapshot's bytes, cut up; without a row in snapshots they do not count.
                      File n of a learner that took another's place is under seq -n.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from semibandit.errors import FileError, InputError
from semibandit.store.database import Database
from semibandit.store.snapshots import insert_first

__all__ = ["FORMAT", "META", "SUBJECTS", "create_tables", "read_format", "read_meta", "write_meta"]

FORMAT = 3  # 1: without what the model saw of a context; 2: without subjects
META = {  # what a new store starts with, besides its format and what it is for
    "waited": "0",  # decisions up to this seq have feedback, or are not waited for any more
    "removed": "0",  # the largest seq of feedback that was removed from the log
    "highest": "0",  # the largest seq of any event that was: it is never given again
    "files": "0",  # how many files of learners it was ever given
}
SUBJECTS = (
    "CREATE INDEX semibandit_by_subject ON semibandit_events (subject) WHERE subject IS NOT NULL"
)


def create_tables(db: Database, snapshot: bytes, about: Mapping[str, Any]) -> None:
    """Make all tables at once, with the learner before the first event as snapshot 0."""
    if db.has_table("semibandit_meta") or db.has_table("semibandit_events"):
        raise InputError(f"there is a store at {db.name} already")
    whole, blob, real = db.whole, db.blob, db.real
    meta = {"format": str(FORMAT), "about": json.dumps(dict(about)), **META}
    with db.transaction():
        db.rows("CREATE TABLE semibandit_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        db.rows(
            f"CREATE TABLE semibandit_events (seq {whole} PRIMARY KEY, kind TEXT NOT NULL, "
            f"id TEXT, at {real} NOT NULL, context {blob}, body TEXT NOT NULL, subject TEXT)"
        )
        db.rows("CREATE UNIQUE INDEX semibandit_by_id ON semibandit_events (id, kind)")
        db.rows(SUBJECTS)
        db.rows(f"CREATE TABLE semibandit_snapshots (seq {whole} PRIMARY KEY)")
        db.rows(
            f"CREATE TABLE semibandit_parts (seq {whole}, part INTEGER, bytes {blob} NOT NULL, "
            "PRIMARY KEY (seq, part))"
        )
        insert_first(db, snapshot)
        db.many("INSERT INTO semibandit_meta (key, value) VALUES (?, ?)", list(meta.items()))


def read_format(db: Database, *, write: bool = False) -> int:
    """The store's format; `FileError` for a database that is not a store, or of a newer format.

    An older one can be read, but not written.
    """
    if not db.has_table("semibandit_meta"):
        raise FileError(f"{db.name} is not a semibandit store: it has no semibandit_meta")
    form = read_meta(db, "format")
    if form not in [str(known) for known in range(1, FORMAT + 1)]:
        known = f"formats up to {FORMAT}"
        raise FileError(f"{db.name} has store format {form}, this semibandit reads {known}")
    if write and int(form) < FORMAT:
        raise FileError(
            f"{db.name} has store format {form}, this semibandit writes {FORMAT}: the service that "
            "writes to it has to be of this version first"
        )
    return int(form)


def read_meta(db: Database, key: str) -> str | None:
    """A value of the store's own, or None if it has none of that name."""
    found = db.rows("SELECT value FROM semibandit_meta WHERE key = ?", (key,))
    return str(found[0][0]) if found else None


def write_meta(db: Database, key: str, value: str) -> None:
    """Set a value of the store's own."""
    db.rows(
        "INSERT INTO semibandit_meta (key, value) VALUES (?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )
