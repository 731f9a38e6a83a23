"""Events of the future, logged by a clock that was ahead: they age from when they are seen.

The store notes up to which event, and when, its log was found to be ahead of the clock. An event
counts from its own time once that has come; until then it counts from when it was seen. Nothing
that is logged is changed: it may be the clock that is wrong now.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from semibandit.store.database import Database
from semibandit.store.tables import read_meta, write_meta

__all__ = ["Ahead", "Mark"]

KEY = "ahead"
MOST = 50  # marks that are kept; events of older ones count from the oldest that is


@dataclass(frozen=True)
class Mark:
    """The log up to event `seq`, the newest of which is of the time `at`, was seen at `seen`."""

    seq: int
    seen: float
    at: float


class Ahead:
    """What is noted of a log that was ahead of the clock; the oldest mark first.

    >>> ahead = Ahead([Mark(seq=7, seen=1000.0, at=5000.0)])
    >>> ahead.counts_from(7, 5000.0, now=1020.0), ahead.counts_from(6, 990.0, now=1020.0)
    (1000.0, 990.0)
    """

    def __init__(self, marks: Sequence[Mark] = ()) -> None:
        self.marks = list(marks)

    @classmethod
    def read(cls, db: Database) -> Ahead:
        """What the store has noted."""
        return cls([Mark(*one) for one in json.loads(read_meta(db, KEY) or "[]")])

    def add(self, mark: Mark) -> None:
        """Note that the log is ahead, unless it was noted of the same events before."""
        if not self.marks or self.marks[-1].seq < mark.seq:
            self.marks = [*self.marks, mark][-MOST:]

    def write(self, db: Database) -> None:
        """Keep it in the store."""
        marks = [[one.seq, one.seen, one.at] for one in self.marks]
        write_meta(db, KEY, json.dumps(marks))

    def counts_from(self, seq: int, at: float, now: float) -> float:
        """The time that the age of event `seq` of the time `at` counts from."""
        if at <= now:
            return at
        seen = next((one.seen for one in self.marks if seq <= one.seq), now)
        return min(seen, now)
