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

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a statement finds; `DuplicateId` if it inserts a key that is there already.

        A statement that writes, outside of a transaction, is on disk when this returns.
        """
        ...

    def many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        """Run a statement that finds nothing, once for each of these values."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing, and on disk when the block has ended."""
        ...

    def has_table(self, name: str) -> bool:
        """Whether there is a table of this name."""
        ...

    def tidy(self) -> bool:
        """Do now what would else have to be done while someone waits.

        True if it should be done once more, while nobody writes.
        """
        ...

    def close(self) -> None:
        """Close the connection and let go of the lock, if it holds one."""
        ...
