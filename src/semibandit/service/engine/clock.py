"""The time of events and of deadlines: the wall clock's, unless that has just jumped."""

from __future__ import annotations

import logging

from semibandit.service.settings import Clock
from semibandit.store.ahead import Mark
from semibandit.store.store import Store

__all__ = ["LogClock"]

log = logging.getLogger("semibandit")
SLACK = 5.0  # seconds: by so much the clock may be corrected without a word
SETTLE = 10.0  # seconds that a jump must last before it is believed
DAY = 86400.0  # seconds that a log that was ahead of the clock is spoken of


class LogClock:
    """The wall clock as the log takes it; the writer looks at it, all threads may read `time`.

    A jump of more than `SLACK` seconds is believed once it has lasted `SETTLE` seconds: a clock
    that is wrong for a moment ends no deadline. Within `SLACK` the time never goes back in the log.
    If it does so by more, the log is ahead of the clock: the store notes when that was seen.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._offset = clock.time() - clock.monotonic()
        self._jumped: float | None = None  # when the wall clock was first seen to have jumped
        self.read()

    @property
    def time(self) -> float:
        """The time now, in seconds since 1970."""
        return self._clock.monotonic() + self._offset

    @property
    def ahead(self) -> float:
        """By how many seconds the log is ahead of the clock, for a day; 0 if it is not."""
        marks, now = self._marks.marks, self.time
        ahead = marks[-1].at - now if marks and now - marks[-1].seen < DAY else 0.0
        return ahead if ahead > SLACK else 0.0

    def read(self) -> None:
        """Begin with what the log has: another process may have written it."""
        self._marks, self._last = self._store.ahead(), self._store.last_time()

    def look(self) -> None:
        """Follow the wall clock."""
        now = self._clock.monotonic()
        offset = self._clock.time() - now
        jump = offset - self._offset
        if abs(jump) <= SLACK:
            self._jumped = None
        elif self._jumped is None:
            self._jumped = now
        if self._jumped is None or now - self._jumped >= SETTLE:
            if self._jumped is not None:
                log.warning("this machine's clock was set by %+.0f s", jump)
            self._offset, self._jumped = offset, None

    def stamp(self) -> float:
        """The time of an event that is logged now; only while the store may be written."""
        now = self.time
        if self._last - now > SLACK:
            self._store.note_ahead(Mark(self._store.last, now, self._last))
            self._marks = self._store.ahead()
            log.warning(
                "the log's newest event is %.0f s ahead of this machine's clock: events of the "
                "future count from now",
                self._last - now,
            )
            self._last = now
        self._last = max(now, self._last)
        return self._last

    def counts_from(self, seq: int, at: float) -> float:
        """The time that the age of event `seq` of the time `at` counts from."""
        return self._marks.counts_from(seq, at, self.time)
