"""What the log asks of a database: SQLite and PostgreSQL answer to the same few calls."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

__all__ = ["Database"]


class Database(Protocol):
    """A connection. Placeholders are `?`; the driver's errors come out as `StoreError`."""

    name: str  # for people: a path, or a URL without its password
    whole: str  # the type of a 64-bit whole number
    blob: str  # the type of bytes
    real: str  # the type of a float64
    share: str  # what ends a SELECT whose rows nobody may change before the transaction ends
    since: float | None  # when the present call began, by time.monotonic(); None between calls
    fence: int | None  # the epoch in which alone it may write; None for the lock's own connection

    @property
    def locked(self) -> bool:
        """Whether it holds the lock of the store."""
        ...

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a statement finds; `DuplicateId` if it inserts a key that is there already.

        A statement that writes, outside of a transaction, is on disk when this returns.
        """
        ...

    def many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        """Run a statement that finds nothing, once for each of these values."""
        ...

    def transaction(self, *, overwrite: bool = False) -> AbstractContextManager[None]:
        """All or nothing, and on disk when the block has ended.

        With `overwrite`, what is deleted is overwritten, not only marked as free, if the database
        is a file of ours.
        """
        ...

    def try_lock(self) -> bool:
        """Get the lock of the store if it is free; whether this connection has it now."""
        ...

    def allowing(self, seconds: float) -> AbstractContextManager[None]:
        """Let every call of the block take so long, in place of the connection's timeout."""
        ...

    def has_table(self, name: str) -> bool:
        """Whether there is a table of this name."""
        ...

    @property
    def identity(self) -> object:
        """What tells its file from any other that takes its place; None if a server has it."""
        ...

    def check(self) -> None:
        """Raise `StoreMoved` if its files are not those that were opened, or are cut short."""
        ...

    def tidy(self) -> bool:
        """Do now what would else have to be done while someone waits.

        True if it should be done once more, while nobody writes.
        """
        ...

    def back_up(self, name: str) -> str | None:
        """Keep a copy of the database as it is, and say where; None if a server has its own ways.

        `name` tells copies apart; one that is there already is replaced.
        """
        ...

    def erase_in_copies(self, ids: Sequence[str]) -> None:
        """Delete the events with these ids from the copies that `back_up` has made."""
        ...

    def note_erasure(self) -> str:
        """Inside the transaction that erases events: what `scrub` needs to know of it later."""
        ...

    def scrub(self, note: str, turn: AbstractContextManager[object]) -> tuple[str, str | None]:
        """Let no byte of erased events stay in the database's files, as far as that can be now.

        Returns
        -------
        note : str
            What the next call needs to know.
        waits : str or None
            What it waits for, in words; None if nothing of them is left.
        """
        ...

    def close(self) -> None:
        """Close the connection and let go of the lock, if it holds one."""
        ...
