"""A fence around connections that hold no lock: they write only while their owner is the owner.

Whoever gets the lock of a store begins a new epoch. Snapshots and removals are written by further
connections of the owner, which hold no lock: each of their transactions reads the epoch, and fails
if it has changed. So a process that was cut off or asleep while another took over writes nothing.
"""

from __future__ import annotations

from semibandit.errors import StoreInUse
from semibandit.store.database import Database

__all__ = ["begin_epoch", "check_fence", "is_write"]

KEY = "epoch"
WRITES = ("INSERT", "UPDATE", "DELETE")
SELECT = "SELECT value FROM semibandit_meta WHERE key = ?"


def begin_epoch(db: Database) -> int:
    """Begin a new epoch and return its number; only for a connection that holds the lock."""
    with db.transaction():
        found = db.rows(SELECT, (KEY,))
        epoch = int(found[0][0]) + 1 if found else 1
        db.rows("DELETE FROM semibandit_meta WHERE key = ?", (KEY,))
        db.rows("INSERT INTO semibandit_meta (key, value) VALUES (?, ?)", (KEY, str(epoch)))
    return epoch


def check_fence(db: Database) -> None:
    """Raise `StoreInUse` if another epoch has begun; it cannot begin before the transaction ends.

    For a transaction that has just begun, of a connection that has a fence.
    """
    found = db.rows(SELECT + db.share, (KEY,))
    if not found or int(found[0][0]) != db.fence:
        raise StoreInUse(f"another process writes to {db.name} now")


def is_write(sql: str) -> bool:
    """Whether a statement changes rows."""
    return sql.startswith(WRITES)
