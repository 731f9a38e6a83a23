"""What the log asks of a database: SQLite and PostgreSQL answer to the same few calls."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

__all__ = ["Database"]


class Database(Protocol):
    """A connection. Placeholders are `?`; errors of the driver come out as StoreError."""

    name: str  # for people: a path, or a URL without its password
    whole: str  # the type of a 64-bit whole number
    blob: str  # the type of bytes
    real: str  # the type of a float64

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a statement finds. One that writes is on disk when this returns, outside of a
        transaction, and DuplicateId where a key is not new."""
        ...

    def many(self, sql: str, values: Sequence[Sequence[Any]]) -> None: ...

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing, and on disk when the block has ended."""
        ...

    def has_table(self, name: str) -> bool: ...

    def tidy(self) -> bool:
        """Do now what would else have to be done while someone waits.

        True where it should be done once more, while nobody writes.
        """
        ...

    def close(self) -> None: ...
