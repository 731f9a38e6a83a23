"""Erasure: what is known of a visit, or of a person, leaves the log and all files at once."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from semibandit.errors import ServiceUnavailable, UnknownDecision
from semibandit.models.dual import Dual
from semibandit.policies.learner import Learner
from semibandit.service.engine.learning import Learning
from semibandit.service.engine.queue import RequestQueue
from semibandit.service.engine.requests import PendingErasure
from semibandit.service.engine.statistics import Statistics
from semibandit.service.engine.writer import Writer
from semibandit.store.store import Store

__all__ = ["Eraser", "describe_what_stays"]

log = logging.getLogger("semibandit")
TRIES, PAUSE = 25, 0.2  # seconds, to let readers of the database end

NUMBERS = (
    "What was learned from them stays in the learner's numbers. These are sums over visits; of a "
    "label that has learned from a few visits only, their scaled contexts can be computed. To take "
    "them out of the numbers, too, relearn from the log: semibandit replay STORE --save FILE, then "
    "POST /v1/learner. Totals per day and per label stay. Files that were exported, and backups "
    "that others made, are not reached."
)
POINTS = "This learner has a kernel and keeps the contexts it has learned as they are. "
VALUES = "The values of categories that were ever learned stay known. "
READERS = (
    "A reader of the database is in the way: its write-ahead log still has the events, until the "
    "service starts again. "
)


class Eraser:
    """Erases decisions and the feedback to them.

    A snapshot that has learned the feedback is written first, so that the learner goes on as it
    is, to the bit; snapshots from before go with the events.
    """

    def __init__(
        self, store: Store, queue: RequestQueue, writer: Writer, learning: Learning,
        statistics: Statistics,
    ) -> None:  # fmt: skip
        self._store, self._queue, self._writer = store, queue, writer
        self._learning, self._statistics = learning, statistics

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
                return self._answer(events, True) | {"dry_run": True}
            if not known:
                return self._answer(0, True)
            closed: Future[None] = Future()
            self._queue.put([PendingErasure(frozenset(known), closed)])
            try:
                closed.result()
                if store.feedback(known):
                    self._write_snapshot(store)
                self._statistics.save(store, self._learning.learner.labels)
                events = store.erase(known)
                self._statistics.forget_decisions(known)
                log.info("%d events were erased", events)
                return self._answer(events, _scrub(store, known))
            finally:
                self._writer.erasing.difference_update(known)

    def _write_snapshot(self, store: Store) -> None:
        """One that has learned all feedback there is, and that can be read."""
        if not self._learning.alive:
            raise ServiceUnavailable("learning has stopped: nothing can be erased now")
        place = self._learning.snapshot().result()
        if not store.snapshot_is_whole(place):
            raise ServiceUnavailable("the snapshot before erasing is damaged: try again")

    def _answer(self, events: int, scrubbed: bool) -> dict[str, Any]:
        stays = describe_what_stays(self._learning.learner)
        return {"events": events, "stays": stays if scrubbed else READERS + stays}


def describe_what_stays(learner: Learner) -> str:
    """What erasing does not reach, in plain words."""
    model = getattr(learner, "model", None)
    points = POINTS if isinstance(model, Dual) else ""
    values = VALUES if learner.features is not None else ""
    return NUMBERS + (" " + points + values).rstrip()


def _scrub(store: Store, ids: Sequence[str]) -> bool:
    for _ in range(TRIES):
        if store.scrub(ids):
            return True
        time.sleep(PAUSE)
    log.warning("erased events are still in the write-ahead log: it is being read")
    return False
