"""Learning: one thread takes in what the log has, event by event, in the log's order."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from time import sleep

from semibandit.errors import ServiceUnavailable
from semibandit.policies.learner import Learner
from semibandit.service.engine.snapshot_writer import SnapshotWriter
from semibandit.store.event import Decision, Event, LabelChange
from semibandit.store.rebuild import learn_event
from semibandit.store.store import Store

__all__ = ["Learning", "LoggedEvent"]

log = logging.getLogger("semibandit")


@dataclass(frozen=True, eq=False)
class LoggedEvent:
    """An event of the log to learn from, and whom to tell."""

    seq: int
    event: Event
    decision: Decision | None  # that feedback is about
    on_learned: Callable[[bool], None] | None = None  # called with False if it is learned later


class Learning:
    """Learns events in the order they are put; `rank` may go on beside every one of them.

    A bug stops it: the event stays in the log, unlearned, and no later one is learned.
    """

    def __init__(
        self,
        learner: Learner,
        store: Store,
        position: int,
        snapshot_every: int,
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self.learner = learner
        self.position = self.last_put = position  # seq of the last event learned, and put here
        self.learned = self.passed_over = 0  # events since the start
        self.failed: BaseException | None = None  # the bug that stopped it
        self._busy = busy  # whether someone waits for a slate
        self._snapshots = SnapshotWriter(learner, store, snapshot_every)
        self._events: deque[LoggedEvent] = deque()
        self._label_changes = 0  # among the events
        self._wanted: list[tuple[int, Future[int]]] = []  # snapshots, once that seq is learned
        self._condition = threading.Condition()
        self._stopping = self._ended = False
        self._thread = threading.Thread(target=self._run, name="learning")

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def put(self, events: Sequence[LoggedEvent]) -> None:
        """Events that are in the log, in its order; those that were put before are left out."""
        new = [one for one in events if one.seq > self.last_put]
        if not new:
            return  # and wake nobody
        with self._condition:
            if self._ended:
                _tell_later(new)
            self._events.extend(new)
            self.last_put = new[-1].seq
            self._label_changes += sum(isinstance(one.event, LabelChange) for one in new)
            self._condition.notify_all()

    @property
    def backlog(self) -> int:
        """Events that are in the log, but not yet learned."""
        return len(self._events)

    @property
    def changing_labels(self) -> bool:
        """Whether labels are about to change."""
        return self._label_changes > 0

    @property
    def alive(self) -> bool:
        """Whether it still learns."""
        return self._thread.is_alive() and self.failed is None

    @property
    def problem(self) -> str | None:
        """Why it does not learn, for those who watch; None if it does."""
        if self.failed is not None:
            seq = self._events[0].seq if self._events else self.position
            name = type(self.failed).__name__
            return f"learning stopped at event {seq} with {name}; the service's log says why"
        return None if self._thread.is_alive() else "it does not learn any more"

    @property
    def snapshot_position(self) -> int:
        """The place in the log of the newest snapshot."""
        return self._snapshots.position

    def snapshot(self) -> Future[int]:
        """Ask for a snapshot after all that has been put; its seq, once it is in the store."""
        future: Future[int] = Future()
        with self._condition:
            last = self._events[-1].seq if self._events else self.position
            self._wanted.append((last, future))
            self._condition.notify_all()
        return future

    def stop(self) -> None:
        """Stop after the present event; the log has the rest. A last snapshot is written."""
        with self._condition:
            self._stopping = True
            self._condition.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        if self.failed is None and self.position > self.snapshot_position:
            self._snapshots.begin(self.position)
        self._snapshots.close()

    def _run(self) -> None:
        try:
            while self._next():
                pass
        except BaseException as why:  # nothing may be learned out of order: stop, and say so
            self.failed = why
            log.exception("%s", self.problem)
        with self._condition:
            self._ended = True
            wanted, self._wanted = self._wanted, []
            _tell_later(self._events)
        for _, future in wanted:
            with suppress(InvalidStateError):
                future.set_exception(ServiceUnavailable("learning has stopped"))

    def _next(self) -> bool:
        """Learn one event, or wait for one; False when it is time to stop."""
        with self._condition:
            while not (self._events or self._due() or self._stopping):
                self._condition.wait()
            if self._stopping:
                return False
            event = self._events[0] if self._events else None
        if event is not None:
            self._learn(event)
        due = self._due()
        if due or self._snapshots.is_due():
            with self._condition:
                self._wanted = [one for one in self._wanted if one[1] not in due]
            self._snapshots.begin(self.position, due)
        return True

    def _learn(self, event: LoggedEvent) -> None:
        start = time.thread_time()  # without the time it waited
        good = learn_event(self.learner, event.event, event.decision)
        seconds = time.thread_time() - start
        with self._condition:
            self._events.popleft()
            self._label_changes -= isinstance(event.event, LabelChange)
            self.position = event.seq
            self.learned += 1
            self.passed_over += not good
        self._snapshots.count_event()
        if event.on_learned is not None:
            event.on_learned(True)
        if self._busy():  # half of the time is theirs
            sleep(seconds)

    def _due(self) -> list[Future[int]]:
        return [future for seq, future in self._wanted if seq <= self.position]


def _tell_later(events: Sequence[LoggedEvent] | deque[LoggedEvent]) -> None:
    """These are not learned before the service starts again."""
    for one in events:
        if one.on_learned is not None:
            one.on_learned(False)
