"""Retention: old events leave the log in the background, in small steps."""

from __future__ import annotations

import logging
import math
import threading
import time

from semibandit.errors import StoreError
from semibandit.service.engine.clock import LogClock
from semibandit.service.engine.learning import Learning
from semibandit.service.engine.statistics import Statistics
from semibandit.service.settings import Settings
from semibandit.store.store import Store

__all__ = ["Retention"]

log = logging.getLogger("semibandit")
LONGEST_PAUSE = 60.0  # seconds between two looks
DAY = 86400.0  # seconds
SHARE = 0.2  # of the time at most, while there is something to remove


class Retention:
    """Removes events that are older than `settings.keep` and that a snapshot has learned.

    A decision leaves the log together with its feedback. It leaves a little later than feedback to
    it is refused, so that no feedback is ever without its decision.
    """

    def __init__(
        self, store: Store, settings: Settings, learning: Learning, statistics: Statistics,
        clock: LogClock,
    ) -> None:  # fmt: skip
        assert settings.keep is not None
        self.removed = 0  # events, since the start
        self._store, self._learning, self._statistics = store, learning, statistics
        self._clock = clock
        self._waits = settings.wait is not None
        self._keep = settings.keep
        self._margin = 2 * settings.timeouts.store  # a group of requests is written in this time
        self._pause = min(LONGEST_PAUSE, settings.keep / 10)
        self._verified = 0  # the snapshot that was last found to be whole
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="retention")

    def start(self) -> None:
        """Begin."""
        log.info("events leave the log after %g days (--keep)", self._keep / DAY)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the present step."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                if self._store.owned:  # whoever writes the log removes from it
                    before = self.removed
                    with self._store.beside() as store:
                        self.remove(store, self._clock.time)
                    if self.removed > before:
                        log.info("%d old events have left the log", self.removed - before)
            except StoreError as why:
                log.warning("old events could not be removed: %s", why)
            except Exception:
                log.exception("old events could not be removed")
            self._stopping.wait(self._pause)

    def remove(self, store: Store, now: float) -> None:
        """Remove all that is due, with pauses for those who write the log.

        What the older one of the last two snapshots has learned goes first; if something else is
        due, what the newest has learned; and if that is too old as well, one is asked for.
        """
        before = now - self._keep - self._margin
        first = store.first_decision()
        if first is None or store.ahead().counts_from(*first, now) >= before:
            return
        counted = self._statistics.position
        self._statistics.save(store, self._learning.learner.labels)
        places = [0, *(place for place in store.snapshots() if place > 0)]
        for place in places[-2:]:
            if place > 0 and not self._is_whole(store, place):
                log.error("the snapshot at event %d is damaged: nothing is removed", place)
                break
            if not self._remove(store, before, now, place, counted):
                return
        self._learning.snapshot()

    def _remove(self, store: Store, before: float, now: float, place: int, counted: int) -> int:
        """Remove what a snapshot has learned and is counted; how many wait for a newer one."""
        later = [event.after for seq, event in store.new_learners() if seq > place]
        settled = min(store.waited if self._waits else math.inf, counted)
        unlearned, after = 0, 0
        while not self._stopping.is_set():
            start = time.monotonic()
            learned = min([place, counted, *later])
            step = store.remove_old(before, now, learned, settled, after)
            self.removed += step.events
            unlearned += step.unlearned
            if step.after is None:
                break
            after = step.after
            self._stopping.wait((time.monotonic() - start) * (1 / SHARE - 1))
        return unlearned

    def _is_whole(self, store: Store, place: int) -> bool:
        if self._verified != place and store.snapshot_is_whole(place):
            self._verified = place
        return self._verified == place
