"""Erasure: what is known of a visit, or of a person, leaves the log and all files at once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from semibandit.errors import ServiceUnavailable, StoreError, UnknownDecision
from semibandit.models.dual import Dual
from semibandit.policies.learner import Learner
from semibandit.service.engine.learning import Learning
from semibandit.service.engine.queue import RequestQueue
from semibandit.service.engine.requests import PendingErasure
from semibandit.service.engine.statistics import Statistics
from semibandit.service.engine.writer import Writer
from semibandit.store.removal import Pending
from semibandit.store.store import Store

__all__ = ["Eraser", "describe_what_stays"]

log = logging.getLogger("semibandit")
TRIES, PAUSE = 10, 0.2  # seconds, to let readers of the database end before the answer
TRY_AGAIN = 10.0  # seconds until it is tried again, and twice as long each time, up to
LONGEST_PAUSE = 300.0  # so many: a try may hold up requests

NUMBERS = (
    "What was learned from them stays in the learner's numbers. These are sums over visits; of a "
    "label that has learned from a few visits only, their scaled contexts can be computed. To take "
    "them out of the numbers, too, relearn from the log: semibandit replay STORE --save FILE, then "
    "POST /v1/learner. Totals per day and per label stay. Files that were exported, backups that "
    "others made, and a database server's write-ahead log, archives and dumps are not reached."
)
POINTS = "This learner has a kernel and keeps the contexts it has learned as they are. "
VALUES = "The values of categories that were ever learned stay known. "


class Eraser:
    """Erases decisions and the feedback to them.

    A snapshot that has learned the feedback is written first, so that the learner goes on as it
    is, to the bit; snapshots from before go with the events. What stays in files because others
    still read it is `pending`, and tried again until it is gone, by whoever owns the store.
    """

    def __init__(
        self, store: Store, queue: RequestQueue, writer: Writer, learning: Learning,
        statistics: Statistics,
    ) -> None:  # fmt: skip
        self._pending = store.pending_erasure()
        self._store, self._queue, self._writer = store, queue, writer
        self._learning, self._statistics = learning, statistics
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="erasure")

    @property
    def pending(self) -> Pending | None:
        """What was erased and may still be in files; a standby does not know, and says None."""
        return self._pending if self._store.owned else None

    def start(self) -> None:
        """Begin to try again what is pending."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the present try; the store knows what is pending."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def erase(
        self, ids: Sequence[str] = (), subjects: Sequence[str] = (), dry_run: bool = False
    ) -> dict[str, Any]:
        """Erase decisions with these ids or subjects; how many events that are, and what stays.

        With `dry_run` they are only counted.

        Raises
        ------
        UnknownDecision
            If no decision has one of the ids. A subject may have none.
        StoreError
            If the store fails: then all or nothing is erased.
        """
        with self._store.beside() as store:
            found = store.decisions(ids)
            for id in ids:
                if id not in found:
                    raise UnknownDecision(f"id = {id!r}, but no decision has that id")
            of_subjects = (id for subject in subjects for id in store.ids_of(subject))
            known = list(dict.fromkeys([*found, *of_subjects]))
            if dry_run:
                events = len(known) + len(store.feedback(known))
                return self._answer(events) | {"dry_run": True}
            if not known:
                return self._answer(0)
            closed: Future[None] = Future()
            self._queue.put([PendingErasure(frozenset(known), closed)])
            try:
                closed.result()
                if store.feedback(known):
                    self._write_snapshot(store)
                self._statistics.save(store, self._learning.learner.labels)
                events = store.erase(known, self._writer.clock.time)
                self._statistics.forget_decisions(known)
                log.info("%d events were erased", events)
                self._scrub(store)
                return self._answer(events)
            finally:
                self._writer.erasing.difference_update(known)

    def _write_snapshot(self, store: Store) -> None:
        """One that has learned all feedback there is, and that can be read."""
        if not self._learning.alive:
            raise ServiceUnavailable("learning has stopped: nothing can be erased now")
        place = self._learning.snapshot().result()
        if not store.snapshot_is_whole(place):
            raise ServiceUnavailable("the snapshot before erasing is damaged: try again")

    def _answer(self, events: int) -> dict[str, Any]:
        pending = None if self.pending is None else self.pending.waits
        stays = describe_what_stays(self._learning.learner)
        return {"events": events, "stays": stays, "pending": pending}

    def _scrub(self, store: Store) -> None:
        self._pending = store.pending_erasure()  # from now on it is tried again in any case
        try:
            for _ in range(TRIES):
                if self._try(store) or self._stopping.wait(PAUSE):
                    return
        except StoreError as why:
            log.warning("erased events may still be in files: %s", why)
        if self._pending is not None:
            log.warning("erased events are still in files: it waits for %s", self._pending.waits)

    def _try(self, store: Store) -> bool:
        """Whether nothing of erased events is in files now."""
        before, self._pending = self._pending, store.scrub()
        if before is not None and self._pending is None:
            log.info("%d erased events are gone from the files", before.events)
        return self._pending is None

    def _run(self) -> None:
        """Whoever owns the store tries again, also what another owner has left."""
        epoch, pause = -1, TRY_AGAIN
        while not self._stopping.wait(pause):
            pause = min(2 * pause, LONGEST_PAUSE) if self._pending else TRY_AGAIN
            try:
                if self._store.owned and (self._pending or epoch != self._store.epoch):
                    with self._store.beside() as store:
                        self._try(store)
                    epoch = self._store.epoch
            except StoreError as why:
                log.warning("erased events may still be in files: %s", why)
            except Exception:
                log.exception("erased events may still be in files")


def describe_what_stays(learner: Learner) -> str:
    """What erasing does not reach, in plain words."""
    model = getattr(learner, "model", None)
    points = POINTS if isinstance(model, Dual) else ""
    values = VALUES if learner.features is not None else ""
    return NUMBERS + (" " + points + values).rstrip()
