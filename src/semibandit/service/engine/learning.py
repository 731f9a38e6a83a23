"""Learning: one thread takes in what the log has, a few events at a time, in the log's order."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from itertools import islice
from time import sleep
from typing import NamedTuple

from semibandit.errors import ClusterError, ServiceUnavailable, StoreError
from semibandit.policies.learner import Learner
from semibandit.service.engine.snapshot_writer import SnapshotWriter
from semibandit.service.engine.statistics import Statistics
from semibandit.store.event import Decision, Event, LabelChange, NewLearner
from semibandit.store.rebuild import catch_up, learn_events, learner_since
from semibandit.store.store import Store

__all__ = ["Learning", "LoggedEvent"]

log = logging.getLogger("semibandit")
TRY_AGAIN = 1.0  # seconds until a store or a shard that failed is tried again
STUCK_AFTER = 60.0  # seconds at one group of events
GROUP = 64  # events learned in one go, at most
AT_ONCE = 0.001  # seconds that learning a group may take: so long may ranking have to wait


class LoggedEvent(NamedTuple):
    """An event of the log to learn from, and whom to tell."""

    seq: int
    event: Event
    decision: Decision | None  # that feedback is about
    on_learned: Callable[[bool], None] | None = None  # called with False if it is learned later
    prepared: tuple[Learner, int] | None = None  # of a new learner: it, and how far it has learned


class Learning:
    """Learns events in the order they are put; `rank` may go on after every few of them.

    `current` is the learner, and the seq of the event that brought it. A bug stops learning: the
    event stays in the log, unlearned, and no later one is learned.
    """

    def __init__(
        self,
        learner: Learner,
        store: Store,
        position: int,
        snapshot_every: int,
        statistics: Statistics,
        busy: Callable[[], bool] = lambda: False,
        place: Callable[[Learner], object] = lambda learner: None,
    ) -> None:
        self.current = learner, learner_since(store, position)
        self.position = self.last_put = position  # seq of the last event learned, and put here
        self.learned = self.passed_over = 0  # events since the start
        self.failed: BaseException | None = None  # the bug that stopped it
        self.busy_since: float | None = None  # when it began with the present event
        self._busy = busy  # whether someone waits for a slate
        self._place = place  # moves a learner to its shards, if there are some
        self._store = store
        self._snapshots = SnapshotWriter(store, snapshot_every, statistics)
        self._events: deque[LoggedEvent] = deque()
        self._changes = 0  # of labels or of the learner, among the events
        self._pace = AT_ONCE  # seconds that an event takes, about
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
            self._changes += sum(isinstance(one.event, LabelChange | NewLearner) for one in new)
            self._condition.notify_all()

    @property
    def backlog(self) -> int:
        """Events that are in the log, but not yet learned."""
        return len(self._events)

    @property
    def learner(self) -> Learner:
        """The learner as it is now."""
        return self.current[0]

    def lag(self, now: float) -> float:
        """Seconds since the oldest event was logged that is not yet learned; 0 if there is none."""
        try:
            oldest = self._events[0]
        except IndexError:  # it may be learned meanwhile
            return 0.0
        return max(0.0, now - oldest.event.at)

    @property
    def changing(self) -> bool:
        """Whether labels, or the learner itself, are about to change."""
        return self._changes > 0

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
        since = self.busy_since
        if since is not None and time.monotonic() - since > STUCK_AFTER:
            return f"learning has been at one event for {time.monotonic() - since:.0f} s"
        return None if self._thread.is_alive() else "it does not learn any more"

    @property
    def snapshot_position(self) -> int:
        """The place in the log of the newest snapshot."""
        return self._snapshots.position

    def snapshot(self) -> Future[int]:
        """Ask for a snapshot after all that has been put; its seq, once it is in the store."""
        future: Future[int] = Future()
        with self._condition:
            if self._ended:
                future.set_exception(ServiceUnavailable("learning has stopped"))
            last = self._events[-1].seq if self._events else self.position
            self._wanted.append((last, future))
            self._condition.notify_all()
        return future

    def stop(self, *, snapshot: bool = True) -> None:
        """Stop after the present event; the log has the rest. A last snapshot is written."""
        with self._condition:
            self._stopping = True
            self._condition.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        if snapshot and self.failed is None and self.position > self.snapshot_position:
            self._snapshots.begin(self.learner, self.position)
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
        """Learn some events, or wait for one; False when it is time to stop."""
        with self._condition:
            while not (self._events or self._due() or self._stopping):
                self._condition.wait()
            if self._stopping:
                return False
            most = min(GROUP, max(1, int(AT_ONCE / self._pace)))
            group = list(islice(self._events, most))
        if group:
            self.busy_since = time.monotonic()
            self._learn(group)
            self.busy_since = None
        due = self._due()
        if due or self._snapshots.is_due():
            with self._condition:
                self._wanted = [one for one in self._wanted if one[1] not in due]
            self._snapshots.begin(self.learner, self.position, due)
        return True

    def _learn(self, group: list[LoggedEvent]) -> None:
        """Learn the first events of a group, as many as go together."""
        start = time.thread_time()  # without the time it waited
        learned = self._learn_first(group)
        seconds, n = time.thread_time() - start, len(learned)
        if not n:
            return
        self._pace += 0.2 * (seconds / n - self._pace)
        with self._condition:
            for _ in range(n):
                one = self._events.popleft()
                self._changes -= isinstance(one.event, LabelChange | NewLearner)
            self.position = one.seq
            self.learned += n
            self.passed_over += n - sum(learned)
        self._snapshots.count_events(n)
        for one in group[:n]:
            if one.on_learned is not None:
                one.on_learned(True)
        if self._busy():  # half of the time is theirs
            sleep(seconds)

    def _learn_first(self, group: list[LoggedEvent]) -> list[bool]:
        """As `learn_events`; nothing if it has to be tried again, or if it is time to stop before
        a new learner is ready."""
        if isinstance(group[0].event, NewLearner):
            return [True] if self._replace(group[0], group[0].event) else []
        learner, since = self.current
        events = [(one.event, one.decision) for one in group]
        try:
            return learn_events(learner, events, since=since)
        except ClusterError as why:
            log.error("learning waits: %s", why)
            self._pause()
            return []
        except Exception:  # the events before the one with the bug can still be learned
            if len(group) == 1:
                raise
            return learn_events(learner, events[:1], since=since)

    def _replace(self, one: LoggedEvent, event: NewLearner) -> bool:
        """Let the learner of a file take over, once it has learned the log up to its event."""
        prepared = one.prepared
        while not self._stopping:
            try:
                with self._store.beside() as store:
                    if prepared is None:
                        prepared = store.file_learner(event.file), event.after
                        self._place(prepared[0])
                    catch_up(prepared[0], store, prepared[1], one.seq)
            except (StoreError, ClusterError) as why:
                log.error("the new learner cannot learn the log yet: %s", why)
                prepared = None  # it may have learned a part
                self._pause()
                continue
            self.current = prepared[0], one.seq
            self._snapshots.hurry()
            return True
        return False

    def _pause(self) -> None:
        """Wait until it is worth to try again, or time to stop."""
        with self._condition:
            if not self._stopping:
                self._condition.wait(TRY_AGAIN)

    def _due(self) -> list[Future[int]]:
        return [future for seq, future in self._wanted if seq <= self.position]


def _tell_later(events: Sequence[LoggedEvent] | deque[LoggedEvent]) -> None:
    """These are not learned before the service starts again."""
    for one in events:
        if one.on_learned is not None:
            one.on_learned(False)
