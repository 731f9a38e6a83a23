"""What a store has besides its log: snapshots, statistics, learners; and what leaves the log."""

from __future__ import annotations

import json
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from semibandit._util.json import to_json
from semibandit.policies.learner import Learner
from semibandit.store import learner_files, removal, snapshots
from semibandit.store.ahead import Ahead, Mark
from semibandit.store.database import Database
from semibandit.store.event import Event, NewLearner
from semibandit.store.tables import read_meta, write_meta

__all__ = ["Maintenance"]


class Maintenance(ABC):
    """The half of `Store` that is not its log."""

    _db: Database
    _turn: threading.Lock
    device: str | None = None  # where learners are loaded to; nothing of it is written

    @abstractmethod
    def events(self, after: int = 0, kinds: Sequence[str] = ()) -> Iterator[tuple[int, Event]]:
        """The log in its order."""

    # -- what there is ------------------------------------------------------------------------

    def ids_of(self, subject: str) -> list[str]:
        """The ids of the decisions about a subject."""
        found = self._db.rows(
            "SELECT id FROM semibandit_events WHERE subject = ? ORDER BY seq", (subject,)
        )
        return [id for (id,) in found]

    def first_decision(self) -> tuple[int, float] | None:
        """The seq and the time of the oldest decision that is still in the log."""
        return self._decision_at_the_end("ASC")

    def last_decision(self) -> tuple[int, float] | None:
        """The seq and the time of the newest decision in the log."""
        return self._decision_at_the_end("DESC")

    def last_time(self) -> float:
        """The time of the newest event in the log; 0 if it has none."""
        found = self._db.rows("SELECT at FROM semibandit_events ORDER BY seq DESC LIMIT 1")
        return float(found[0][0]) if found else 0.0

    def ahead(self) -> Ahead:
        """From when events count that a clock which was ahead has logged."""
        return Ahead.read(self._db)

    def note_ahead(self, mark: Mark) -> None:
        """Note that the log is ahead of the clock."""
        with self._turn:
            ahead = self.ahead()
            ahead.add(mark)
            ahead.write(self._db)

    def _decision_at_the_end(self, order: str) -> tuple[int, float] | None:
        found = self._db.rows(
            "SELECT seq, at FROM semibandit_events WHERE kind = 'decision' "
            f"ORDER BY seq {order} LIMIT 1"
        )
        return (int(found[0][0]), float(found[0][1])) if found else None

    # -- events that leave the log -------------------------------------------------------------

    @property
    def removed(self) -> int:
        """The largest seq of feedback that was removed: the log is whole only after it."""
        return int(read_meta(self._db, "removed") or 0)

    def remove_old(
        self, before: float, now: float, learned: int, settled: float = math.inf, after: int = 0
    ) -> removal.Step:
        """Remove some old decisions with their feedback; see `removal.remove_old`."""
        return removal.remove_old(self._db, self._turn, before, now, learned, settled, after)

    def erase(self, ids: Sequence[str], now: float) -> int:
        """Remove these decisions and their feedback, which the newest snapshot has learned."""
        return removal.erase(self._db, self._turn, ids, now)

    def scrub(self) -> removal.Pending | None:
        """Let no byte of erased events stay in files; what is still pending, None if nothing is."""
        return removal.scrub(self._db, self._turn)

    def pending_erasure(self) -> removal.Pending | None:
        """What was erased and may still be in files; None if nothing is."""
        return removal.read_pending(self._db)

    # -- learners that took another's place ----------------------------------------------------

    def new_learners(self) -> list[tuple[int, NewLearner]]:
        """The events of learners that took the place of the one before, with their seq."""
        found = self.events(0, ("learner",))
        return [(seq, event) for seq, event in found if isinstance(event, NewLearner)]

    def add_file(self, content: bytes) -> int:
        """Keep the file of a learner until its event is in the log; its number.

        Files that no event needs any more are dropped.
        """
        needed = [event.file for seq, event in self.new_learners() if seq > self.removed]
        return learner_files.add_file(self._db, self._turn, content, needed)

    def file_learner(self, number: int) -> Learner:
        """The learner of a file, as it was given; `FileError` if the file is no longer kept."""
        return learner_files.read_learner(self._db, number, self.device)

    # -- snapshots -----------------------------------------------------------------------------

    def snapshots(self) -> list[int]:
        """The places in the log at which there are snapshots, oldest first."""
        return snapshots.list_snapshots(self._db)

    def snapshot(self, seq: int) -> Learner:
        """The learner as it was after event `seq`; `FileError` if its snapshot is damaged."""
        return snapshots.read_snapshot(self._db, seq, self.device)

    def add_snapshot(self, seq: int, content: bytes) -> None:
        """Keep the learner after event `seq`; older ones go, except the first and the last but one.

        The log may be written meanwhile, by another connection of the same owner (`beside`).
        """
        snapshots.add_snapshot(self._db, self._turn, seq, content)

    def snapshot_is_whole(self, seq: int) -> bool:
        """Whether every byte of the snapshot after event `seq` is as it was written."""
        return snapshots.snapshot_is_whole(self._db, seq)

    def save_statistics(self, dump: Mapping[str, Any]) -> None:
        """Keep what was counted of the log, as JSON can hold it; the last one counts."""
        with self._turn:
            write_meta(self._db, "statistics", to_json(dict(dump)).decode())

    def saved_statistics(self) -> dict[str, Any] | None:
        """What `save_statistics` was last given; None if it never was."""
        found = read_meta(self._db, "statistics")
        return None if found is None else dict(json.loads(found))
