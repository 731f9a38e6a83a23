"""PostgreSQL: the same log in four tables of a database of yours."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from semibandit.errors import DuplicateId, MissingExtra, StoreError, StoreInUse

__all__ = ["PostgreSQL"]

LOCK = 7_363_941_152  # of the whole database: one writer
PATIENCE = 10.0  # seconds: the server may not have noticed yet that the last writer died


class PostgreSQL:
    """A connection; the writer holds an advisory lock, which the server frees if we die."""

    whole, blob, real = "BIGINT", "BYTEA", "DOUBLE PRECISION"

    def __init__(self, url: str, *, write: bool, lock: bool) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtra(
                "PostgreSQL needs its driver: pip install 'semibandit[postgres]'"
            ) from None
        self._psycopg = psycopg
        try:
            told = psycopg.conninfo.conninfo_to_dict(url)
            self.name = f"postgresql://{told.get('host', '')}/{told.get('dbname', '')}"
            self._db = psycopg.connect(url, autocommit=True, connect_timeout=5)
            if write:
                self._db.execute("SET synchronous_commit TO on")
        except psycopg.Error as why:
            raise StoreError(f"PostgreSQL: {str(why).strip()}") from None
        if lock:
            self._take_lock()

    def _take_lock(self) -> None:
        until = time.monotonic() + PATIENCE
        while not self.rows("SELECT pg_try_advisory_lock(?)", (LOCK,))[0][0]:
            if time.monotonic() > until:
                self.close()
                raise StoreInUse(f"another process is using {self.name}")
            time.sleep(0.1)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            cursor = self._db.execute(sql.replace("?", "%s").encode(), values or None)
            return cursor.fetchall() if cursor.description else []
        except self._psycopg.errors.UniqueViolation as why:
            raise DuplicateId(f"{self.name}: {str(why).strip()}") from None
        except self._psycopg.Error as why:
            raise StoreError(f"{self.name}: {str(why).strip()}") from None

    def many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        try:
            with self._db.cursor() as cursor:
                cursor.executemany(sql.replace("?", "%s").encode(), values)
        except self._psycopg.Error as why:
            raise StoreError(f"{self.name}: {str(why).strip()}") from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        try:
            with self._db.transaction():
                yield
        except self._psycopg.Error as why:
            raise StoreError(f"{self.name}: {str(why).strip()}") from None

    def has_table(self, name: str) -> bool:
        return self.rows("SELECT to_regclass(?::text)", (name,))[0][0] is not None

    def tidy(self) -> bool:
        return False  # the server does

    def close(self) -> None:
        with suppress(self._psycopg.Error):  # what was committed is on disk
            self._db.close()
