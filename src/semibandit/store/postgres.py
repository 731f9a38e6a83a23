"""PostgreSQL: the same log in four tables of a database of yours."""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from time import monotonic
from typing import Any

from semibandit._util.extras import import_extra
from semibandit.errors import DuplicateId, StoreDamaged, StoreError, StoreFull
from semibandit.store.fence import check_fence, is_write
from semibandit.store.watchdog import WATCHDOG

__all__ = ["PostgreSQL"]

VACUUM_TIMEOUT = 600.0  # seconds
TABLE = "semibandit_events"
REWRITE_MOST = 1 << 26  # bytes of a table that is rewritten while requests wait
LOCK_WAIT = 0.2  # seconds that all others wait behind a rewrite which waits for its lock
TOO_LARGE = (
    "VACUUM FULL semibandit_events: its {:.0f} MB are too many to rewrite while requests wait, so "
    "run it when they may; until then the bytes are in free space of the table's pages"
)
HOLDERS = """
    WITH held AS (
        SELECT 'process ' || pid AS who, backend_xmin AS oldest FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND coalesce(datname, current_database()) = current_database()
        AND backend_type IS DISTINCT FROM 'autovacuum worker'
        UNION ALL SELECT 'process ' || pid, backend_xid FROM pg_stat_activity
        WHERE pid <> pg_backend_pid()
        UNION ALL SELECT 'prepared transaction ' || gid, transaction FROM pg_prepared_xacts
        UNION ALL SELECT 'replication slot ' || slot_name, xmin FROM pg_replication_slots
    )
    SELECT who FROM held WHERE age(oldest) >= age(?::text::xid) ORDER BY age(oldest) DESC
"""
LOCK = 7_363_941_152  # of the whole database: one writer
MARGIN = 0.25  # seconds that the server has to say itself that a call took too long
PROBES = 3  # without an answer, after which a connection counts as broken


class PostgreSQL:
    """A connection; the writer holds an advisory lock, which the server frees if we die.

    The server ends statements that take too long, or wait too long for a lock; if it does not
    answer at all, the watchdog cuts the connection. If we vanish, the server notices in time.
    """

    whole, blob, real = "BIGINT", "BYTEA", "DOUBLE PRECISION"
    share = " FOR SHARE"

    def __init__(self, url: str, *, write: bool, timeout: float) -> None:
        psycopg = import_extra("psycopg", "postgres", f"a store at {url.partition(':')[0]}://...")
        self._psycopg, self._timeout = psycopg, timeout
        self.since: float | None = None
        self.limit = timeout + MARGIN
        self.locked = False
        self.fence: int | None = None
        self._inside = False  # a transaction
        self._was_cut = False
        try:
            told = psycopg.conninfo.conninfo_to_dict(url)
            self.name = f"postgresql://{told.get('host', '')}/{told.get('dbname', '')}"
            ours = {key: value for key, value in _options(timeout).items() if key not in told}
            self._db = psycopg.connect(url, autocommit=True, **ours)
        except psycopg.Error as why:
            raise StoreError(f"PostgreSQL: {str(why).strip()}") from None
        WATCHDOG.add(self)
        try:
            self._set(_session(timeout))
            if write:
                self._set({"synchronous_commit": "on"})
        except StoreError:
            self.close()
            raise

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        if self.fence is not None and not self._inside and is_write(sql):
            with self.transaction():
                return self.rows(sql, values)
        self.since = monotonic()
        try:
            cursor = self._db.execute(sql.replace("?", "%s").encode(), values or None)
            return cursor.fetchall() if cursor.description else []
        except self._psycopg.errors.UniqueViolation as why:
            raise DuplicateId(f"{self.name}: {str(why).strip()}") from None
        except self._psycopg.Error as why:
            raise self._failure(why) from None
        finally:
            self.since = None

    def many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        self.since = monotonic()
        try:
            with self._db.cursor() as cursor:
                cursor.executemany(sql.replace("?", "%s").encode(), values)
        except self._psycopg.Error as why:
            raise self._failure(why) from None
        finally:
            self.since = None

    @contextmanager
    def transaction(self, *, overwrite: bool = False) -> Iterator[None]:
        self.rows("BEGIN")
        self._inside = True
        try:
            if self.fence is not None:
                check_fence(self)
            yield
            self.rows("COMMIT")
        except BaseException:
            with suppress(StoreError):  # a connection that is gone has rolled back
                self.rows("ROLLBACK")
            raise
        finally:
            self._inside = False

    def try_lock(self) -> bool:
        if not self.locked:
            self.locked = bool(self.rows("SELECT pg_try_advisory_lock(?)", (LOCK,))[0][0])
        return self.locked

    @contextmanager
    def allowing(self, seconds: float) -> Iterator[None]:
        before = self._timeout
        self._allow(seconds)
        try:
            yield
        finally:
            with suppress(StoreError):  # whoever uses the connection next will hear of it
                self._allow(before)

    def has_table(self, name: str) -> bool:
        return self.rows("SELECT to_regclass(?::text)", (name,))[0][0] is not None

    @property
    def identity(self) -> None:
        return None

    def check(self) -> None:
        """The server's files are its own."""

    def tidy(self) -> bool:
        return False  # the server does

    def back_up(self, name: str) -> None:
        return None  # that is the server's

    def erase_in_copies(self, ids: Sequence[str]) -> None:
        """There are none of ours."""

    def note_erasure(self) -> str:
        """The number of the transaction, for those who may still see what it erases."""
        return f"seen by {self.rows('SELECT txid_current()')[0][0]}"

    def scrub(self, note: str, turn: AbstractContextManager[object]) -> tuple[str, str | None]:
        """Rewrite the table, once nobody can see the erased rows any more.

        A vacuum alone would leave their bytes in the free space of its pages; and a rewrite takes
        along what a transaction that is still open may see. So the note says first who erased, and
        then in which file the table was when nobody could see the rows any more: it is gone with
        that file. Backups, archives and the server's own write-ahead log are not reached.
        """
        what, _, number = note.rpartition(" ")
        if what == "seen by":
            if (holder := self._holder(int(number))) is not None:
                return note, holder
            note = f"in file {self._file()}"
        elif number != self._file():
            return note, None
        ((size,),) = self.rows(f"SELECT pg_total_relation_size('{TABLE}')")
        if size > REWRITE_MOST:
            if what == "seen by":
                self._vacuum()
            return note, TOO_LARGE.format(size / 1e6)
        try:
            self._rewrite()
        except StoreError as why:
            reason = str(why).removeprefix(f"{self.name}: ")
            return note, f"a moment in which the table {TABLE} can be rewritten ({reason})"
        return note, None

    def _holder(self, number: int) -> str | None:
        """Who may still see what the transaction of this number has deleted; None if nobody."""
        found = self.rows(HOLDERS, [number % 2**32])
        if not found:
            return None
        return f"a transaction that began before the erasure: {found[0][0]} of the database server"

    def _file(self) -> str:
        return str(self.rows(f"SELECT pg_relation_filenode('{TABLE}')")[0][0])

    def _vacuum(self) -> None:
        """So that the space is used again, and its bytes are overwritten in time."""
        with suppress(StoreError), self.allowing(VACUUM_TIMEOUT):
            self.rows(f"VACUUM {TABLE}")

    def _rewrite(self) -> None:
        """Requests to the service wait meanwhile: for half of the store's timeout at most."""
        with self.allowing(self._timeout / 2):
            self._set({"lock_timeout": int(LOCK_WAIT * 1000)})
            self.rows(f"VACUUM FULL {TABLE}")

    def cut(self) -> None:
        """Let the call that is under way fail, as if the server had closed the connection."""
        self._was_cut = True
        with suppress(OSError, self._psycopg.Error), _shared(self._db.pgconn.socket) as shared:
            shared.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        WATCHDOG.remove(self)
        self.locked = False
        with suppress(self._psycopg.Error):  # what was committed is on disk
            self._db.close()

    def _failure(self, why: Exception) -> StoreError:
        """Why a call failed: if the connection was cut, the driver does not know."""
        if self._was_cut:
            return StoreError(f"{self.name} did not answer within {self._timeout:g} s")
        text, known = str(why).strip(), self._psycopg.errors
        if isinstance(why, known.DiskFull):
            return StoreFull(f"{self.name}: the server's disk is full: make room on it ({text})")
        if isinstance(why, known.DataCorrupted | known.IndexCorrupted):
            return StoreDamaged(f"{self.name}: the database is damaged ({text}): restore a backup")
        return StoreError(f"{self.name}: {text}")

    def _allow(self, seconds: float) -> None:
        self._timeout, self.limit = seconds, seconds + MARGIN
        self._set(_statements(seconds))

    def _set(self, values: dict[str, Any]) -> None:
        self.rows("; ".join(f"SET {name} TO {value}" for name, value in values.items()))


def _shared(number: int) -> socket.socket:
    """A second handle of a socket, to be closed by itself.

    The number may be another's as soon as the driver has closed its own. `os.dup` would do but on
    Windows; the family is asked for by nobody.
    """
    return socket.fromfd(number, socket.AF_INET, socket.SOCK_STREAM)


def _options(timeout: float) -> dict[str, Any]:
    """How libpq connects, unless the URL says otherwise: a host that is gone is noticed in time."""
    return {
        "connect_timeout": math.ceil(timeout),
        "keepalives_idle": math.ceil(timeout),
        "keepalives_interval": math.ceil(timeout / PROBES),
        "keepalives_count": PROBES,
        "tcp_user_timeout": int(1000 * timeout),
    }


def _session(timeout: float) -> dict[str, Any]:
    """The same for the server's side: a lock of ours is free soon after our machine has died."""
    return {
        **_statements(timeout),
        "idle_in_transaction_session_timeout": int(2000 * timeout),
        "tcp_keepalives_idle": math.ceil(timeout),
        "tcp_keepalives_interval": math.ceil(timeout / PROBES),
        "tcp_keepalives_count": PROBES,
        "tcp_user_timeout": int(1000 * timeout),
    }


def _statements(seconds: float) -> dict[str, Any]:
    milliseconds = max(1, int(1000 * seconds))
    return {"statement_timeout": milliseconds, "lock_timeout": milliseconds}
