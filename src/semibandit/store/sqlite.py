"""SQLite: one file in one folder, write-ahead log, every commit on disk before it counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from semibandit.errors import DuplicateId, MissingFile, StoreError, StoreInUse

__all__ = ["FILE", "SQLite"]

FILE = "semibandit.db"
WAL = 20_000  # pages of the write-ahead log; most are put in their place before, see `tidy`.
# Those who write beside the log's owner leave it to `tidy`: they hold the log up while they commit.


class SQLite:
    """A connection to `folder/semibandit.db`; the writer holds `folder/semibandit.lock`."""

    whole, blob, real = "INTEGER", "BLOB", "REAL"

    def __init__(self, folder: Path, *, write: bool, lock: bool, create: bool = False) -> None:
        self.name = str(folder / FILE)
        self._lock = None
        if lock:  # taken by one thread, let go of by another
            self._lock = FileLock(folder / "semibandit.lock", timeout=10, thread_local=False)
        try:
            if create:
                folder.mkdir(parents=True, exist_ok=True)
            elif not (folder / FILE).is_file():
                raise MissingFile(f"there is no store in {folder}: no file {FILE}")
            if self._lock is not None:
                self._lock.acquire()
        except Timeout:
            raise StoreInUse(f"another process is using {self.name}") from None
        except MissingFile:
            raise
        except OSError as why:
            raise StoreError(f"{self.name}: {why.strerror or why}") from None
        mode = "rwc" if create else "rw" if write else "ro"
        try:
            uri = f"{(folder / FILE).absolute().as_uri()}?mode={mode}"
            self._db = sqlite3.connect(
                uri, uri=True, isolation_level=None, timeout=30, check_same_thread=False
            )
            if write:
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=FULL")
                self._db.execute(f"PRAGMA wal_autocheckpoint={WAL if lock else 0}")
                self._db.execute("BEGIN IMMEDIATE")  # it can be written, or says so now
                self._db.execute("ROLLBACK")
            else:
                self._db.execute("SELECT 1 FROM sqlite_master")
        except sqlite3.Error as why:
            self._free()
            raise StoreError(f"{self.name}: {why}") from None

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.IntegrityError as why:
            raise DuplicateId(f"{self.name}: {why}") from None
        except sqlite3.Error as why:
            raise StoreError(f"{self.name}: {why}") from None

    def many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        try:
            self._db.executemany(sql, values)
        except sqlite3.Error as why:
            raise StoreError(f"{self.name}: {why}") from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.rows("BEGIN IMMEDIATE")
        try:
            yield
            self.rows("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self.rows("ROLLBACK")
            raise

    def has_table(self, name: str) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)))

    def tidy(self) -> bool:
        """Put the write-ahead log in its place: if another thread does, writing need not.

        Only if nothing is written meanwhile does the log begin anew, and stops growing.
        """
        _, pages, _ = self.rows("PRAGMA wal_checkpoint(PASSIVE)")[0]
        return int(pages) > WAL // 2

    def close(self) -> None:
        try:
            self._db.close()
        except sqlite3.Error:
            pass  # what was committed is on disk
        finally:
            self._free()

    def _free(self) -> None:
        if self._lock is not None:
            self._lock.release()
