"""The store: one log in one order, and snapshots of the learner at places in it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import takewhile
from pathlib import Path
from typing import Any

from semibandit.errors import FileError, MissingFile, StoreError, StoreMoved
from semibandit.policies.learner import Learner
from semibandit.policies.persistence import snapshot_of
from semibandit.store import event as events
from semibandit.store.connect import connect, may_exist, take_lock
from semibandit.store.database import Database
from semibandit.store.event import Decision, Event, Feedback, Row
from semibandit.store.fence import begin_epoch
from semibandit.store.maintenance import Maintenance
from semibandit.store.migrate import migrate_or_refuse
from semibandit.store.tables import FORMAT, create_tables, read_format, read_meta, write_meta

__all__ = ["SCAN", "Store"]

PAGE = 1000  # rows read at a time
WITHOUT_ID = {"labels", "learner"}  # kinds of events
SCAN = 600.0  # seconds that reading the whole log in one statement may take
REOPEN_PATIENCE = 0.5  # seconds: a server may need a moment to see that our old connection ended


class Store(Maintenance):
    """A log and its snapshots, in a folder or at a postgresql:// URL.

    Parameters
    ----------
    where : str or path
        A folder (SQLite), or postgresql://user:password@host/database.
    write : bool
        Whether to write to it. One process at a time may; any number may read.
    timeout : float, optional
        Seconds that connecting, a statement or waiting for someone else's transaction may take;
        5 by default, 60 if nothing will be written.
    lock : bool
        Whether to be the store's owner at once. If not, `try_lock` makes it so, and until then
        nothing may be written.

    Attributes
    ----------
    last : int
        The seq of the last event in the log, 0 if it has none.

    Raises
    ------
    MissingFile
        If there is no store in the folder.
    FileError
        If the database is not a store, or of another format.
    StoreInUse
        If another process writes to it.
    StoreError
        If it cannot be reached, read or written.

    Examples
    --------
    >>> import tempfile, semibandit as sb
    >>> folder = tempfile.mkdtemp()
    >>> store = Store.create(folder, sb.SlateUCB(3, ["sea", "sun"]))
    >>> store.append([Feedback("visit-1", at=0.0, clicked=["sea"])])
    1
    >>> [one.clicked for _, one in store.events()]
    [['sea']]
    >>> store.close()
    """

    def __init__(
        self,
        where: str | Path,
        *,
        write: bool = True,
        timeout: float | None = None,
        lock: bool = True,
    ) -> None:
        db = connect(where, write=write, lock=lock, timeout=timeout)
        try:
            if db.locked:
                migrate_or_refuse(db)
            columns = _columns(read_format(db, write=write))
            self._set(where, write, db, threading.Lock(), _find_last(db), timeout, columns)
            if db.locked:
                self.epoch = begin_epoch(db)
        except BaseException:
            db.close()
            raise

    @classmethod
    def create(
        cls,
        where: str | Path,
        learner: Learner,
        about: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> Store:
        """Make a new store for this learner.

        Parameters
        ----------
        where : str or path
            A folder, which may be new, or a postgresql:// URL.
        learner : Learner
            The learner before the first event: it becomes snapshot 0.
        about : mapping, optional
            What the store is for, as JSON can hold it; `about` gives it back.
        timeout : float, optional
            As for `Store`.

        Returns
        -------
        Store
            Open for writing.

        Raises
        ------
        InputError
            If there is a store already.
        StoreError
            If it cannot be written there.
        """
        db = connect(where, write=True, create=True, timeout=timeout)
        store = cls.__new__(cls)
        try:
            create_tables(db, snapshot_of(learner).to_bytes(), about or {})
            store._set(where, True, db, threading.Lock(), 0, timeout, _columns(FORMAT))
            store.epoch = begin_epoch(db)
        except BaseException:
            db.close()
            raise
        return store

    @classmethod
    def exists(cls, where: str | Path, *, timeout: float | None = None) -> bool:
        """Whether there is a store to open."""
        if not may_exist(where):
            return False
        db = connect(where, write=False, timeout=timeout)
        try:
            return db.has_table("semibandit_meta")
        finally:
            db.close()

    def _set(
        self,
        where: str | Path,
        write: bool,
        db: Database,
        turn: threading.Lock,
        last: int,
        timeout: float | None,
        columns: str,
    ) -> None:
        self.where, self.write, self._db, self.last = where, write, db, last
        self.timeout, self._columns = timeout, columns
        self.epoch = 0  # grows whenever a process becomes the owner; 0 if this never did
        self._turn = turn  # one thread writes at a time; SQLite would let the others sleep

    @property
    def name(self) -> str:
        """Where it is, without a password."""
        return self._db.name

    @property
    def about(self) -> dict[str, Any]:
        """What it is for, as it was given when it was made."""
        return dict(json.loads(read_meta(self._db, "about") or "{}"))

    @property
    def waited(self) -> int:
        """Decisions up to this seq have feedback, or are not waited for any more."""
        return int(read_meta(self._db, "waited") or 0)

    # -- the log -------------------------------------------------------------------------------

    def append(self, new: Sequence[Event], waited: int | None = None) -> int:
        """Write events to the log, all or none.

        Parameters
        ----------
        new : sequence of events
            The events, in the order they get in the log.
        waited : int, optional
            From now on, decisions up to this seq are not waited for any more.

        Returns
        -------
        int
            The seq of the last event. All of them are on disk.

        Raises
        ------
        DuplicateId
            If the log has a decision with one of the ids, or feedback to it, already.
        StoreMoved
            If the files of the store are not those that were opened.
        StoreError
            If the store fails. If the connection was lost, the events may be in the log or not.
        """
        first = self.last + 1
        rows = [(seq, *events.row(event)) for seq, event in enumerate(new, first)]
        if not rows and waited is None:
            return self.last
        if len(rows) <= PAGE and waited is None:
            with self._turn:
                self._insert(rows)
        else:
            with self._turn, self._db.transaction():
                for i in range(0, len(rows), PAGE):
                    self._insert(rows[i : i + PAGE])
                if waited is not None:
                    write_meta(self._db, "waited", str(waited))
        self.check()  # what went into a deleted file is not acknowledged
        self.last += len(rows)
        return self.last

    def _insert(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """In one statement: at every one a driver lets go of the interpreter and waits for it."""
        self._db.rows(
            "INSERT INTO semibandit_events (seq, kind, id, at, context, body, subject) VALUES "
            + ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * len(rows)),
            [value for row in rows for value in row],
        )

    def decisions(self, ids: Iterable[str]) -> dict[str, Decision]:
        """The decisions with these ids, as far as they are in the log."""
        return self._by_id("decision", ids)

    def feedback(self, ids: Iterable[str]) -> dict[str, Feedback]:
        """The feedback to the decisions with these ids, as far as there is any."""
        return self._by_id("feedback", ids)

    def events(self, after: int = 0, kinds: Sequence[str] = ()) -> Iterator[tuple[int, Event]]:
        """The log in its order, with every event's seq; of all kinds, or of these."""
        return ((seq, events.read(*row)) for seq, row in self.rows(after, kinds))

    def rows(self, after: int = 0, kinds: Sequence[str] = ()) -> Iterator[tuple[int, Row]]:
        """The same as rows, which `events.read` reads."""
        some = f"kind IN ({', '.join('?' * len(kinds))}) AND " if kinds else ""
        if kinds and WITHOUT_ID.issuperset(kinds):  # then an index finds the few there are
            some += "id IS NULL AND "
        sql = (
            f"SELECT seq, {self._columns} FROM semibandit_events "
            f"WHERE {some}seq > ? ORDER BY seq LIMIT {PAGE}"
        )
        while True:
            page = self._db.rows(sql, (*kinds, after))
            for seq, *row in page:
                yield seq, tuple(row)
            if len(page) < PAGE:
                return
            after = page[-1][0]

    def learnable_events(self, after: int = 0) -> Iterator[tuple[int, Event, Decision | None]]:
        """What there is to learn, in the log's order: all but decisions, feedback with its own."""
        group: list[tuple[int, Event]] = []
        for entry in self.events(after, ("feedback", "labels", "learner")):
            group.append(entry)
            if len(group) == PAGE:
                yield from self._with_decisions(group)
                group = []
        yield from self._with_decisions(group)

    def unanswered(self, after: int, before: float, now: float) -> list[tuple[int, str, bool]]:
        """Decisions after seq `after`, up to the first that counts from `before` or later.

        Returns
        -------
        list of (int, str, bool)
            The seq of each, its id, and whether there is feedback; some of them, if there are many.
        """
        decision = "FROM semibandit_events WHERE kind = 'decision' AND seq > ?"
        young = self._db.rows(
            f"SELECT seq {decision} AND at BETWEEN ? AND ? ORDER BY seq LIMIT 1",
            (after, before, now),
        )
        found = self._db.rows(
            "SELECT d.seq, d.id, d.at, f.seq IS NOT NULL FROM semibandit_events d "
            "LEFT JOIN semibandit_events f ON f.kind = 'feedback' AND f.id = d.id "
            f"WHERE d.kind = 'decision' AND d.seq > ? AND d.seq < ? ORDER BY d.seq LIMIT {PAGE}",
            (after, young[0][0] if young else self.last + 1),
        )
        ahead = self.ahead()
        late = takewhile(lambda one: ahead.counts_from(one[0], one[2], now) < before, found)
        return [(seq, id, bool(answered)) for seq, id, _, answered in late]

    def count(self, kind: str) -> int:
        """How many events of a kind there are."""
        with self._db.allowing(SCAN):
            found = self._db.rows("SELECT COUNT(*) FROM semibandit_events WHERE kind = ?", (kind,))
        return int(found[0][0])

    # -- connections ---------------------------------------------------------------------------

    @property
    def owned(self) -> bool:
        """Whether this holds the lock of the store, so that nobody else writes."""
        return self._db.locked

    @property
    def busy_since(self) -> float | None:
        """When the present call to the database began, by time.monotonic(); None if there is none.

        May be asked by any thread.
        """
        return self._db.since

    def try_lock(self, patience: float = 0.0) -> bool:
        """Become the owner if no process is, within so many seconds; whether this is the owner now.

        If it is, it can be written, `last` is read again, and a new `epoch` has begun.
        """
        if not take_lock(self._db, patience):
            return False
        self.epoch = begin_epoch(self._db)
        self.refresh()
        return True

    def check(self) -> None:
        """Raise `StoreMoved` if the files of the store were deleted, replaced or cut short."""
        self._db.check()

    def refresh(self) -> None:
        """Read `last` again: another process may have written."""
        self.last = _find_last(self._db)

    def reopen(self) -> None:
        """Connect anew to the same store; `last` is read again.

        Afterwards `owned` says whether this is the owner: if so, it can be written. If not, another
        process has become the owner meanwhile.
        """
        self.check()
        self._db.close()
        self._db = self._connect_again()
        if not self.try_lock(REOPEN_PATIENCE):
            self.refresh()

    def beside(self) -> Store:
        """A second connection of the same owner, for another thread.

        It writes nothing any more once another process has become the owner: `StoreInUse`.
        """
        self.check()
        other = object.__new__(Store)
        db = self._connect_again()
        db.fence = self.epoch
        other._set(self.where, self.write, db, self._turn, self.last, self.timeout, self._columns)
        other.epoch, other.device = self.epoch, self.device
        return other

    def allowing(self, seconds: float) -> AbstractContextManager[None]:
        """Let every call of the block take so long, in place of `timeout`."""
        return self._db.allowing(seconds)

    def _connect_again(self) -> Database:
        try:
            db = connect(self.where, write=self.write, lock=False, timeout=self.timeout)
        except MissingFile as why:  # it was there: it may come back
            raise StoreError(str(why)) from None
        if db.identity != self._db.identity:
            db.close()
            raise StoreMoved(f"{self.name} is another file than the one that was opened")
        return db

    def tidy(self) -> None:
        """Do now what would else have to be done while someone waits; for a thread of its own."""
        if self._db.tidy():
            with self._turn:
                self._db.tidy()

    def close(self) -> None:
        """Close the connection, and let others write."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- inside --------------------------------------------------------------------------------

    def _by_id(self, kind: str, ids: Iterable[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        wanted = list(ids)
        for first in range(0, len(wanted), PAGE):
            some = wanted[first : first + PAGE]
            for one in self._db.rows(
                f"SELECT {self._columns} FROM semibandit_events "
                f"WHERE kind = ? AND id IN ({', '.join('?' * len(some))})",
                (kind, *some),
            ):
                found[one[1]] = events.read(*one)
        return found

    def _with_decisions(
        self, group: list[tuple[int, Event]]
    ) -> Iterator[tuple[int, Event, Decision | None]]:
        ids = {event.id for _, event in group if isinstance(event, Feedback)}
        found = self.decisions(ids) if ids else {}
        for seq, event in group:
            if isinstance(event, Feedback) and event.id not in found:
                raise FileError(
                    f"{self.name}: event {seq} is feedback to {event.id!r}, "
                    "a decision that is not in the log"
                )
            yield seq, event, found[event.id] if isinstance(event, Feedback) else None


def _find_last(db: Database) -> int:
    """The last seq that was ever given: the last events of the log may have been erased."""
    found = int(db.rows("SELECT COALESCE(MAX(seq), 0) FROM semibandit_events")[0][0])
    return max(found, int(read_meta(db, "highest") or 0))


def _columns(form: int) -> str:
    """The columns of an event in a store of this format."""
    return f"kind, id, at, context, body, {'subject' if form >= 3 else 'NULL'}"
