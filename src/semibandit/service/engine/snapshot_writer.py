"""Snapshots of the learner, written in the background while it goes on."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress

from semibandit.errors import ClusterError, StoreError, StoreInUse
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.persistence import Snapshot, snapshot_of
from semibandit.service.engine.requests import InternalError
from semibandit.service.engine.statistics import Statistics
from semibandit.store.store import Store

__all__ = ["SnapshotWriter"]

log = logging.getLogger("semibandit")
TRY_AGAIN = 5.0  # seconds until a snapshot that failed is tried again


class SnapshotWriter:
    """Writes a snapshot after every so many events, and when it is asked to, with the statistics.

    `position` is the place in the log of the newest snapshot.
    """

    def __init__(self, store: Store, every: int, statistics: Statistics) -> None:
        self.position = max(store.snapshots())
        self._store, self._every, self._statistics = store, every, statistics
        self._events = 0  # learned since the last snapshot
        self._not_before = 0.0
        self._background = ThreadPoolExecutor(1, "snapshot")
        self._writing: Future[None] | None = None

    def count_events(self, n: int) -> None:
        """So many more events were learned."""
        self._events += n

    def hurry(self) -> None:
        """The next one is due at once."""
        self._events = self._every

    def is_due(self) -> bool:
        """Whether it is time for one, the last one is written, and the store is ours."""
        idle = self._writing is None or self._writing.done()
        due = self._events >= self._every and self._store.owned
        return due and idle and time.monotonic() >= self._not_before

    def begin(self, learner: Learner, seq: int, futures: Sequence[Future[int]] = ()) -> None:
        """Copy the learner now, between two events; it is written in the background.

        The futures get `seq` once the snapshot is in the store, or the reason why it is not.
        """
        self._events = 0
        try:
            snapshot, labels = snapshot_of(learner), learner.labels
        except ClusterError as why:
            log.error("no snapshot was written: %s", why)
            self._fail(why, futures)
            return
        self._writing = self._background.submit(self._write, seq, snapshot, labels, futures)

    def close(self) -> None:
        """Wait until what was begun is written."""
        self._background.shutdown()

    def _write(
        self, seq: int, snapshot: Snapshot, labels: list[Label], futures: Sequence[Future[int]]
    ) -> None:
        failure: Exception
        try:
            if not self._store.owned:
                raise StoreInUse(f"another process writes to {self._store.name}")
            with self._store.beside() as store:
                store.add_snapshot(seq, snapshot.to_bytes())
                self._statistics.save(store, labels)
        except StoreError as why:
            log.error("no snapshot was written: %s", why)
            failure = why
        except Exception:
            log.exception("no snapshot was written")
            failure = InternalError("the snapshot failed")
        else:
            self.position = seq
            for future in futures:
                with suppress(InvalidStateError):  # nobody waits any more
                    future.set_result(seq)
            return
        self._fail(failure, futures)

    def _fail(self, failure: Exception, futures: Sequence[Future[int]]) -> None:
        """Try again later, and tell those who wait why."""
        self._events, self._not_before = self._every, time.monotonic() + TRY_AGAIN
        for future in futures:
            with suppress(InvalidStateError):
                future.set_exception(failure)
