"""SQLite: one file in one folder, write-ahead log, every commit on disk before it counts."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from semibandit._util.extras import import_extra
from semibandit.errors import (
    DuplicateId,
    MissingFile,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreMoved,
)
from semibandit.store.fence import check_fence, is_write

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = ["FILE", "SQLite"]

FILE, LOCK = "semibandit.db", "semibandit.lock"
REWRITE_MOST = 1 << 26  # bytes of a file that is vacuumed while requests wait
TOO_LARGE = (
    "VACUUM: the database's {:.0f} MB are too many to rewrite while requests wait, so stop the "
    "service and run `sqlite3 semibandit.db VACUUM`; until then copies of ids and of small rows "
    "may be in unused parts of its pages"
)
READER = "a reader of the database, such as an export: it holds the write-ahead log"
CHECK_EVERY = 0.5  # seconds between two looks at the files, if nothing came or went
BACKUP = ".backup"  # ends the names of copies from before a migration
WAL = 20_000  # pages of the write-ahead log; most are put in their place before, see `tidy`.
# Those who write beside the log's owner leave it to `tidy`: they hold the log up while they commit.


class SQLite:
    """A connection to `folder/semibandit.db`; the writer holds `folder/semibandit.lock`."""

    whole, blob, real = "INTEGER", "BLOB", "REAL"
    share = ""  # a transaction that writes is alone

    def __init__(
        self, folder: Path, *, write: bool, timeout: float = 5.0, create: bool = False
    ) -> None:
        self._folder, self.name, self._timeout = folder, str(folder / FILE), timeout
        self._lock: FileLock | None = None
        self.since: float | None = None
        self.fence: int | None = None
        if write:
            _filelock()  # before there is a folder
        try:
            if create:
                _check_is_new(folder)
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # it is about visitors
            elif not (folder / FILE).is_file():
                raise MissingFile(f"there is no store in {folder}: no file {FILE}")
        except MissingFile:
            raise
        except OSError as why:
            raise StoreError(f"{self.name}: {why.strerror or why}") from None
        self._next_check = 0.0
        self._folder_then: object = None
        self._size = 0  # of the file, the largest that was seen
        self._files: dict[str, object] = {}  # that belong to it, and which they were
        mode = "rwc" if create else "rw" if write else "ro"
        try:
            uri = f"{(folder / FILE).absolute().as_uri()}?mode={mode}"
            self._db = sqlite3.connect(
                uri, uri=True, isolation_level=None, timeout=timeout, check_same_thread=False
            )
        except sqlite3.Error as why:
            raise _failure(self.name, why) from None
        try:
            if write:
                self.rows("PRAGMA journal_mode=WAL")
                self.rows("PRAGMA synchronous=FULL")
                self.rows("PRAGMA wal_autocheckpoint=0")
                self.rows("BEGIN IMMEDIATE")  # it can be written, or says so now
                self.rows("ROLLBACK")
            else:
                self.rows("SELECT 1 FROM sqlite_master")
            names = [self.name + end for end in ("", "-wal", "-shm")]
            self._files = {name: found for name in names if (found := _which(name)) is not None}
            self.identity = self._files.get(self.name)
            self._schema = self._schema_version()
        except StoreError:
            self.close()
            raise

    @property
    def locked(self) -> bool:
        """Whether it holds the lock of the store."""
        return self._lock is not None

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if self.fence is not None and is_write(sql) and not self._db.in_transaction:
            with self.transaction():
                return self.rows(sql, values)
        self.since = monotonic()
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.IntegrityError as why:
            raise DuplicateId(f"{self.name}: {why}") from None
        except sqlite3.Error as why:
            raise _failure(self.name, why) from None
        finally:
            self.since = None

    def many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        self.since = monotonic()
        try:
            self._db.executemany(sql, values)
        except sqlite3.Error as why:
            raise _failure(self.name, why) from None
        finally:
            self.since = None

    @contextmanager
    def transaction(self, *, overwrite: bool = False) -> Iterator[None]:
        if overwrite:  # only then: it doubles what is written when snapshots go
            self.rows("PRAGMA secure_delete=ON")
        self.rows("BEGIN IMMEDIATE")
        try:
            if self.fence is not None:
                check_fence(self)
            yield
            self.rows("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self.rows("ROLLBACK")
            raise
        finally:
            if overwrite:
                self.rows("PRAGMA secure_delete=OFF")

    def try_lock(self) -> bool:
        if self._lock is None:  # taken by one thread, let go of by another
            filelock = _filelock()
            file = self._folder / LOCK
            lock: FileLock = filelock.FileLock(file, timeout=0, thread_local=False)
            try:
                lock.acquire()
            except filelock.Timeout:
                return False
            except OSError as why:
                raise StoreError(f"{self.name}: {why.strerror or why}") from None
            self._lock = lock
            self.rows(f"PRAGMA wal_autocheckpoint={WAL}")
        return True

    @contextmanager
    def allowing(self, seconds: float) -> Iterator[None]:
        before, self._timeout = self._timeout, seconds
        self.rows(f"PRAGMA busy_timeout={int(1000 * seconds)}")
        try:
            yield
        finally:
            self._timeout = before
            with suppress(StoreError):  # whoever uses the connection next will hear of it
                self.rows(f"PRAGMA busy_timeout={int(1000 * before)}")

    def has_table(self, name: str) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)))

    def check(self) -> None:
        """After every commit: all of it is looked at if the folder changed, or twice a second."""
        now, folder = monotonic(), _which(self._folder, changed=True)
        if not self._files or (now < self._next_check and folder == self._folder_then):
            return
        for name, opened in self._files.items():
            found = _which(name)
            if found != opened:
                what = "deleted or moved" if found is None else "replaced by another"
                raise _moved(name, what)
        self._check_size()
        self._next_check, self._folder_then = now + CHECK_EVERY, folder

    def _check_size(self) -> None:
        """It shrinks only if someone vacuums it, which changes the version of the schema."""
        size, schema = os.stat(self.name).st_size, self._schema
        if size < self._size:
            try:
                schema = self._schema_version()
            except StoreError:
                raise _moved(self.name, "cut short") from None
            if schema == self._schema:
                raise _moved(self.name, "cut short")
        self._size, self._schema = size, schema

    def tidy(self) -> bool:
        """Put the write-ahead log in its place: if another thread does, writing need not.

        Only if nothing is written meanwhile does the log begin anew, and stops growing.
        """
        _, pages, _ = self.rows("PRAGMA wal_checkpoint(PASSIVE)")[0]
        return int(pages) > WAL // 2

    def back_up(self, name: str) -> str:
        kept = Path(f"{self.name}.{name}{BACKUP}")
        part = kept.with_name(f"{kept.name}.part")
        try:
            part.unlink(missing_ok=True)
            self.rows("VACUUM INTO ?", (str(part),))
            os.replace(part, kept)
        except OSError as why:
            raise StoreError(f"{kept}: {why.strerror or why}") from None
        return str(kept)

    def erase_in_copies(self, ids: Sequence[str]) -> None:
        for kept in self._folder.glob(f"{FILE}.*{BACKUP}"):
            _erase_in_backup(kept, ids)

    def note_erasure(self) -> str:
        """The version of the schema, which a vacuum increments."""
        return self._schema_version()

    def scrub(self, note: str, turn: AbstractContextManager[object]) -> tuple[str, str | None]:
        """Vacuum the file, and put its write-ahead log in its place.

        Erased rows were overwritten where they were. But when SQLite moves rows between pages, it
        leaves copies of them in the unused parts, so that the whole file has to be written anew.
        """
        with turn:
            self.rows("PRAGMA busy_timeout=50")  # others wait for their turn meanwhile
            waits = self._vacuum() if note == self._schema_version() else None
            busy, *_ = self.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0]
        return note, READER if busy else waits

    def _vacuum(self) -> str | None:
        """Why it cannot be done now; None if it was done."""
        size = os.stat(self.name).st_size
        if size > REWRITE_MOST:
            return TOO_LARGE.format(size / 1e6)
        try:
            self.rows("PRAGMA temp_store=MEMORY")  # no file elsewhere
            self.rows("VACUUM")
        except StoreError as why:
            reason = str(why).removeprefix(f"{self.name}: ")
            return f"a moment in which the database can be vacuumed ({reason})"
        return None

    def _schema_version(self) -> str:
        return str(self.rows("PRAGMA schema_version")[0][0])

    def close(self) -> None:
        self._files = {}  # the last one to close it deletes some of them
        try:
            self._db.close()
        except sqlite3.Error:
            pass  # what was committed is on disk
        finally:
            lock, self._lock = self._lock, None
            if lock is not None:
                lock.release()


def _check_is_new(folder: Path) -> None:
    """Make no empty store in the place of one whose database was deleted."""
    left = sorted(path.name for name in (f"{FILE}*", LOCK) for path in folder.glob(name))
    if left and FILE not in left:
        raise StoreError(
            f"{folder} has {', '.join(left)}, but no {FILE}: the database of this store was "
            "deleted or moved. Put it back or restore a backup; to begin anew, delete the folder"
        )


def _which(name: str | Path, *, changed: bool = False) -> object:
    """What tells a file from another of the same name; None if there is none.

    With `changed` it is another one, too, once something in a folder came or went.
    """
    try:
        found = os.stat(name)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns if changed else 0


def _moved(name: str, what: str) -> StoreMoved:
    """The text is for everybody: it does not say where the folder is."""
    return StoreMoved(
        f"the store's file {Path(name).name} was {what} while it was open. Put that very file "
        "back; or stop the service, restore a backup, and start it again"
    )


def _failure(name: str, why: sqlite3.Error) -> StoreError:
    """What a call failed with, and what to do about it if that is known."""
    code = getattr(why, "sqlite_errorcode", 0) & 0xFF  # none if the driver itself complains
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(f"{name}: the disk is full: make room on it ({why})")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreDamaged(
            f"{name}: the database is damaged ({why}): restore a backup, or see how much of it "
            "`sqlite3 semibandit.db .recover` can save"
        )
    return StoreError(f"{name}: {why}")


def _filelock() -> Any:
    """The package that locks files; only those who write to a store need it."""
    return import_extra("filelock", "service", "writing to a store")


def _erase_in_backup(path: Path, ids: Sequence[str]) -> None:
    try:
        db = sqlite3.connect(path, isolation_level=None)
        try:
            db.execute("PRAGMA secure_delete=ON")
            for id in ids:
                db.execute("DELETE FROM semibandit_events WHERE id = ?", (id,))
            db.execute("VACUUM")
        finally:
            db.close()
    except sqlite3.Error as why:
        raise _failure(str(path), why) from None
