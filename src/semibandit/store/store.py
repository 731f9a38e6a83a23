"""The store: one log in one order, and snapshots of the learner at places in it.

    semibandit_meta       its format, what it is for, and how far decisions were waited for
    semibandit_events     the log: seq 1, 2, 3, ... in the order in which it was written
    semibandit_snapshots  the learner after event `seq`; 0 is the learner before the first
    semibandit_parts      a snapshot's bytes, cut up; without a row in snapshots they do not count

A snapshot's parts are written before the row that makes them count, each in a transaction of its
own: however large a learner is, the log need not wait for it, and half a snapshot is none.
"""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from semibandit.errors import InputError, StoreError
from semibandit.policies.learner import Learner
from semibandit.policies.persistence import load, snapshot_of
from semibandit.store import event as events
from semibandit.store.database import Database
from semibandit.store.event import Decision, Event, Feedback

__all__ = ["Store"]

FORMAT = 1
PART = 1 << 18  # bytes of a snapshot in one transaction
PAUSE = 0.001  # seconds after it, for the log to have its turn
SOME = 64  # such parts after which the store is tidied
PAGE = 1000  # rows read at a time
KEPT = 2  # snapshots kept besides the first


class Store:
    """A log and its snapshots, in a folder or at a postgresql:// URL.

    >>> import tempfile, semibandit as sb
    >>> folder = tempfile.mkdtemp()
    >>> store = Store.create(folder, sb.SlateUCB(3, ["sea", "sun"]))
    >>> store.append([Feedback("visit-1", at=0.0, clicked=["sea"])])
    1
    >>> [one.clicked for _, one in store.events()]
    [['sea']]
    >>> store.close()
    """

    def __init__(self, where: str | Path, *, write: bool = True, _create: bool = False) -> None:
        self.where, self.write = where, write
        self._turn = threading.Lock()  # one thread writes; SQLite would let the others sleep
        self._db = _connect(where, write=write, create=_create)
        if _create:
            return
        try:
            self._check_format()
            self.last = self._find_last()
        except BaseException:
            self._db.close()
            raise

    @classmethod
    def create(
        cls, where: str | Path, learner: Learner, about: Mapping[str, Any] | None = None
    ) -> Store:
        """A new store for this learner: its snapshot number 0. `about` says what it is for."""
        store = cls(where, _create=True)
        try:
            if store._has_tables():
                raise InputError(f"there is a store at {store.name} already")
            store._make_tables(learner, about or {})
            store.last = 0
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def exists(cls, where: str | Path) -> bool:
        """Whether there is a store to open."""
        if not _is_url(where) and not (_folder(where) / _sqlite_file()).is_file():
            return False
        db = _connect(where, write=False)
        try:
            return db.has_table("semibandit_meta")
        finally:
            db.close()

    @property
    def name(self) -> str:
        """Where it is, without a password."""
        return self._db.name

    @property
    def about(self) -> dict[str, Any]:
        """What it is for, as it was given when it was made."""
        return dict(json.loads(self._meta("about") or "{}"))

    def append(self, new: Sequence[Event], waited: int | None = None) -> int:
        """Write events to the log, all or none; they are on disk when this returns the last seq.

        waited  decisions up to this seq need not be waited for any more, from now on

        DuplicateId if the log has a decision with one of the ids, or feedback to it, already.
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
                    self._db.rows(
                        "UPDATE semibandit_meta SET value = ? WHERE key = 'waited'", (str(waited),)
                    )
        self.last += len(rows)
        return self.last

    def _insert(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """In one statement: at every one a driver lets go of the interpreter and waits for it."""
        self._db.rows(
            "INSERT INTO semibandit_events (seq, kind, id, at, context, body) VALUES "
            + ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(rows)),
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
        some = f"kind IN ({', '.join('?' * len(kinds))}) AND " if kinds else ""
        sql = (
            "SELECT seq, kind, id, at, context, body FROM semibandit_events "
            f"WHERE {some}seq > ? ORDER BY seq LIMIT {PAGE}"
        )
        while True:
            page = self._db.rows(sql, (*kinds, after))
            for seq, *rest in page:
                yield seq, events.read(*rest)
            if len(page) < PAGE:
                return
            after = page[-1][0]

    def lessons(self, after: int = 0) -> Iterator[tuple[int, Event, Decision | None]]:
        """What there is to learn, in the log's order: feedback with its decision, label changes."""
        group: list[tuple[int, Event]] = []
        for entry in self.events(after, ("feedback", "labels")):
            group.append(entry)
            if len(group) == PAGE:
                yield from self._with_decisions(group)
                group = []
        yield from self._with_decisions(group)

    def unanswered(self, after: int, before: float) -> list[tuple[int, str, bool]]:
        """Decisions after seq `after` made before a time: (seq, id, whether there is feedback)."""
        return [
            (seq, id, bool(answered))
            for seq, id, answered in self._db.rows(
                "SELECT d.seq, d.id, f.seq IS NOT NULL FROM semibandit_events d "
                "LEFT JOIN semibandit_events f ON f.kind = 'feedback' AND f.id = d.id "
                f"WHERE d.kind = 'decision' AND d.seq > ? AND d.at < ? ORDER BY d.seq LIMIT {PAGE}",
                (after, before),
            )
        ]

    @property
    def waited(self) -> int:
        """Decisions up to this seq have feedback, or were given up waiting for."""
        return int(self._meta("waited") or 0)

    def count(self, kind: str) -> int:
        """How many events of a kind there are."""
        found = self._db.rows("SELECT COUNT(*) FROM semibandit_events WHERE kind = ?", (kind,))
        return int(found[0][0])

    # -- snapshots -----------------------------------------------------------------------------

    def snapshots(self) -> list[int]:
        """The places in the log at which there are snapshots, oldest first."""
        return [s for (s,) in self._db.rows("SELECT seq FROM semibandit_snapshots ORDER BY seq")]

    def snapshot(self, seq: int) -> Learner:
        """The learner as it was after event `seq`, from its snapshot."""
        parts = self._db.rows(
            "SELECT bytes FROM semibandit_parts WHERE seq = ? ORDER BY part", (seq,)
        )
        return load(io.BytesIO(b"".join(bytes(part) for (part,) in parts)))

    def add_snapshot(self, seq: int, content: bytes) -> None:
        """Keep the learner after event `seq`; older ones go, but the first and the last but one."""
        if seq in self.snapshots():
            return
        self._drop_parts()  # left by a crash
        for part, first in enumerate(range(0, len(content), PART)):
            with self._turn:
                self._db.rows(
                    "INSERT INTO semibandit_parts (seq, part, bytes) VALUES (?, ?, ?)",
                    (seq, part, content[first : first + PART]),
                )
            time.sleep(PAUSE)
            if part % SOME == SOME - 1:
                self.tidy()
        older = [s for s in self.snapshots() if s > 0]
        with self._turn, self._db.transaction():
            self._db.rows("INSERT INTO semibandit_snapshots (seq) VALUES (?)", (seq,))
            for gone in older[: -(KEPT - 1)]:
                self._db.rows("DELETE FROM semibandit_snapshots WHERE seq = ?", (gone,))
        self._drop_parts()

    def _drop_parts(self) -> None:
        """Those of no snapshot, one at a time: the log need not wait for all of them."""
        for seq, part in self._db.rows(
            "SELECT seq, part FROM semibandit_parts "
            "WHERE seq NOT IN (SELECT seq FROM semibandit_snapshots)"
        ):
            with self._turn:
                self._db.rows(
                    "DELETE FROM semibandit_parts WHERE seq = ? AND part = ?", (seq, part)
                )
            time.sleep(PAUSE)

    # -- coming and going ----------------------------------------------------------------------

    def reopen(self) -> None:
        """A new connection to the same store, which can be written; `last` is what is in it now."""
        self._db.close()
        try:
            self._db = _connect(self.where, write=self.write)
        except OSError as why:
            raise StoreError(str(why)) from None
        with self._db.transaction():  # a disk may be full
            self._db.rows("UPDATE semibandit_meta SET value = value WHERE key = 'waited'")
        self.last = self._find_last()

    def beside(self) -> Store:
        """A second connection of the same owner, for another thread."""
        other = object.__new__(Store)
        other.where, other.write, other.last = self.where, self.write, self.last
        other._turn = self._turn
        other._db = _connect(self.where, write=self.write, lock=False)
        return other

    def tidy(self) -> None:
        """Do now what would else have to be done while someone waits; for a thread of its own."""
        if self._db.tidy():
            with self._turn:
                self._db.tidy()

    def close(self) -> None:
        """Let go of the store."""
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
                "SELECT kind, id, at, context, body FROM semibandit_events "
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
            yield seq, event, found[event.id] if isinstance(event, Feedback) else None

    def _find_last(self) -> int:
        return int(self._db.rows("SELECT COALESCE(MAX(seq), 0) FROM semibandit_events")[0][0])

    def _meta(self, key: str) -> str | None:
        found = self._db.rows("SELECT value FROM semibandit_meta WHERE key = ?", (key,))
        return str(found[0][0]) if found else None

    def _has_tables(self) -> bool:
        return self._db.has_table("semibandit_meta") or self._db.has_table("semibandit_events")

    def _check_format(self) -> None:
        if not self._db.has_table("semibandit_meta"):
            raise InputError(f"{self.name} is not a semibandit store: it has no semibandit_meta")
        form = self._meta("format")
        if form != str(FORMAT):
            raise InputError(
                f"{self.name} has store format {form}, this semibandit reads format {FORMAT}"
            )

    def _make_tables(self, learner: Learner, about: Mapping[str, Any]) -> None:
        whole, blob, real = self._db.whole, self._db.blob, self._db.real
        run = self._db.rows
        content = snapshot_of(learner).to_bytes()
        with self._db.transaction():
            run("CREATE TABLE semibandit_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
            run(
                f"CREATE TABLE semibandit_events (seq {whole} PRIMARY KEY, kind TEXT NOT NULL, "
                f"id TEXT, at {real} NOT NULL, context {blob}, body TEXT NOT NULL)"
            )
            run("CREATE UNIQUE INDEX semibandit_by_id ON semibandit_events (id, kind)")
            run(f"CREATE TABLE semibandit_snapshots (seq {whole} PRIMARY KEY)")
            run(
                f"CREATE TABLE semibandit_parts (seq {whole}, part INTEGER, bytes {blob} NOT NULL, "
                "PRIMARY KEY (seq, part))"
            )
            for part, first in enumerate(range(0, len(content), PART)):
                run(
                    "INSERT INTO semibandit_parts (seq, part, bytes) VALUES (0, ?, ?)",
                    (part, content[first : first + PART]),
                )
            run("INSERT INTO semibandit_snapshots (seq) VALUES (0)")
            self._db.many(
                "INSERT INTO semibandit_meta (key, value) VALUES (?, ?)",
                [
                    ("format", str(FORMAT)),
                    ("about", json.dumps(dict(about))),
                    ("waited", "0"),
                ],
            )


def _connect(
    where: str | Path, *, write: bool, create: bool = False, lock: bool = True
) -> Database:
    if _is_url(where):
        from semibandit.store.postgres import PostgreSQL

        return PostgreSQL(str(where), write=write, lock=write and lock)
    from semibandit.store.sqlite import SQLite

    return SQLite(_folder(where), write=write, create=create, lock=write and lock)


def _is_url(where: str | Path) -> bool:
    text = str(where)
    if text.startswith(("postgresql://", "postgres://")):
        return True
    if "://" in text:
        scheme = text.split("://")[0]
        raise InputError(f"store = {scheme}://..., but it must be a folder or postgresql://...")
    return False


def _folder(where: str | Path) -> Path:
    return Path(where).expanduser()


def _sqlite_file() -> str:
    from semibandit.store.sqlite import FILE

    return FILE
