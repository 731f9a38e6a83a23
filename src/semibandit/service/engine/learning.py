"""Learning: one thread takes in what the log has, event by event, and makes snapshots."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from time import sleep

from semibandit.errors import StoreError
from semibandit.policies.learner import Learner
from semibandit.policies.persistence import snapshot_of
from semibandit.store.event import Decision, Event, LabelChange
from semibandit.store.rebuild import learn_event
from semibandit.store.store import Store

__all__ = ["Learning", "Lesson"]

log = logging.getLogger("semibandit")
AGAIN = 5.0  # seconds until a snapshot that failed is tried again


@dataclass(frozen=True, eq=False)
class Lesson:
    """An event of the log, and whom to tell when it has been learned."""

    seq: int
    event: Event
    decision: Decision | None
    tell: Callable[[bool], None] | None = None  # with False where it will be learned later


class Learning:
    """Learns lessons in the order they are put; `rank` may go on beside every one of them."""

    def __init__(
        self,
        learner: Learner,
        store: Store,
        position: int,
        every: int,
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self.learner, self.position, self.every = learner, position, every
        self._busy = busy  # whether someone waits for a slate
        self.learned = self.passed_over = 0  # events since the start
        self.snapshot_at = max(store.snapshots())
        self.failed: BaseException | None = None
        self._store = store
        self._since = 0  # events since the last snapshot
        self._not_before = 0.0
        self._lessons: deque[Lesson] = deque()
        self._changing = 0
        self._wanted: list[tuple[int, Future[int]]] = []
        self._news = threading.Condition()
        self._stopping = self._over = False
        self._background = ThreadPoolExecutor(1, "snapshot")
        self._writing: Future[int] | None = None
        self._thread = threading.Thread(target=self._run, name="learning")

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def put(self, lessons: list[Lesson]) -> None:
        """Lessons that are in the log, in its order."""
        if not lessons:
            return  # and wake nobody
        with self._news:
            if self._over:
                for one in lessons:
                    if one.tell is not None:
                        one.tell(False)
            self._lessons.extend(lessons)
            self._changing += sum(isinstance(one.event, LabelChange) for one in lessons)
            self._news.notify_all()

    @property
    def backlog(self) -> int:
        """Events that are in the log, but not yet learned."""
        return len(self._lessons)

    @property
    def changing(self) -> bool:
        """Whether labels are about to change."""
        return self._changing > 0

    @property
    def alive(self) -> bool:
        """Whether it still learns."""
        return self._thread.is_alive() and self.failed is None

    def snapshot(self) -> Future[int]:
        """Ask for a snapshot after all that has been put; its seq, once it is in the store."""
        future: Future[int] = Future()
        with self._news:
            last = self._lessons[-1].seq if self._lessons else self.position
            self._wanted.append((last, future))
            self._news.notify_all()
        return future

    def stop(self) -> None:
        """Stop after the present event; the log has the rest. A last snapshot is written."""
        with self._news:
            self._stopping = True
            self._news.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        if self.failed is None and self.position > self.snapshot_at:
            self._begin_snapshot([])
        self._background.shutdown()

    def _run(self) -> None:
        try:
            while self._next():
                pass
        except BaseException as why:  # nothing may be learned out of order: stop, and say so
            log.exception("learning stopped")
            self.failed = why
        with self._news:
            self._over = True
            left, self._wanted = self._wanted, []
            for lesson in self._lessons:
                if lesson.tell is not None:
                    lesson.tell(False)
        for _, future in left:
            with suppress(InvalidStateError):
                future.set_exception(StoreError("learning has stopped"))

    def _next(self) -> bool:
        """Learn one event, or wait for one; False when it is time to stop."""
        with self._news:
            while not (self._lessons or self._due() or self._stopping):
                self._news.wait()
            if self._stopping:
                return False
            lesson = self._lessons[0] if self._lessons else None
        if lesson is not None:
            start = time.thread_time()  # without the time it waited
            good = learn_event(self.learner, lesson.event, lesson.decision)
            took = time.thread_time() - start
            with self._news:
                self._lessons.popleft()
                self._changing -= isinstance(lesson.event, LabelChange)
                self.position = lesson.seq
                self.learned += 1
                self.passed_over += not good
                self._since += 1
            if lesson.tell is not None:
                lesson.tell(True)
            if self._busy():  # half of the time is theirs
                sleep(took)
        ready = self._due()
        if ready or self._time_for_one():
            self._begin_snapshot(ready)
        return True

    def _due(self) -> list[Future[int]]:
        return [future for seq, future in self._wanted if seq <= self.position]

    def _time_for_one(self) -> bool:
        idle = self._writing is None or self._writing.done()
        return self._since >= self.every and idle and time.monotonic() >= self._not_before

    def _begin_snapshot(self, ready: list[Future[int]]) -> None:
        """Copy the learner now, between two events; the rest is done in the background."""
        with self._news:
            self._wanted = [one for one in self._wanted if one[1] not in ready]
        self._since = 0
        snapshot = snapshot_of(self.learner)
        seq = self.position

        def write() -> int:
            try:
                store = self._store.beside()
                try:
                    store.add_snapshot(seq, snapshot.to_bytes())
                finally:
                    store.close()
            except Exception as why:
                self._since, self._not_before = self.every, time.monotonic() + AGAIN
                log.error("no snapshot was written: %s", why)
                for future in ready:
                    with suppress(InvalidStateError):  # nobody waits any more
                        future.set_exception(StoreError(str(why)))
                raise
            self.snapshot_at = seq
            for future in ready:
                with suppress(InvalidStateError):
                    future.set_result(seq)
            return seq

        self._writing = self._background.submit(write)
