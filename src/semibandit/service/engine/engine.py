"""The engine: decisions and feedback into the log and out of it, without HTTP.

Two threads. The writer takes all requests that wait at once: it ranks them together (one matrix
product), writes decisions and feedback to the log in one transaction, and then answers. Learning
takes in what the log has, event by event, in the log's order. So nothing is answered that is not
in the log, nothing is learned that is not, and ranking waits for one event to be learned at most.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.errors import DuplicateId, InputError, StoreError
from semibandit.policies.batch import prepare
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.service.engine.decisions import decide, next_in_line
from semibandit.service.engine.learning import Learning, Lesson
from semibandit.service.engine.recent import Recent
from semibandit.service.engine.requests import Answer, Change, Give, Job, Rank, Refused, Reply
from semibandit.service.engine.statistics import Tally
from semibandit.service.engine.validation import check_feedback, wrong_change
from semibandit.service.settings import Settings
from semibandit.store.event import Decision, Event, Feedback, LabelChange
from semibandit.store.rebuild import rebuild
from semibandit.store.store import Store

__all__ = ["Engine"]

log = logging.getLogger("semibandit")
GROUP = 512  # requests answered together
LARGEST = 1e100  # that a context may have where it is not scaled: squares must not overflow
TIDY = 1000  # events between two times the store is tidied
GLANCE = 0.02  # the share of its time spent on looking at decisions more closely, for the page
AWAY = "the store cannot be reached or written at the moment: try again with the same id"


class Engine:
    """A learner, its store, and the two threads between them.

    deliver  is called with answers in the engine's thread; an event loop takes them over there
    say      is told if starting takes its time
    """

    def __init__(
        self,
        store: Store,
        settings: Settings | None = None,
        deliver: Callable[[list[Reply]], None] | None = None,
        say: Callable[[str], object] = log.info,
    ) -> None:
        self.store, self.settings = store, settings or Settings()
        self.deliver = deliver or settle
        self.feature_names: list[str] | None = store.about.get("feature_names")
        self._place_of = {name: i for i, name in enumerate(self.feature_names or [])}
        learner, position = rebuild(store)
        if learner.full_information:
            raise InputError(
                f"{type(learner).__name__} must be told every relevant label, "
                "and users only tell of what they were shown"
            )
        prepare(learner, say)
        self.learner: Learner = learner
        self.tally = Tally()
        self._prime()
        self._jobs: deque[Job] = deque()
        every = self.settings.snapshot_every
        self.learning = Learning(learner, store, position, every, lambda: bool(self._jobs))
        self._news = threading.Condition()
        self._stopping = False
        self._down: str | None = None  # why the store cannot be used
        self._at = 0.0
        self._glance_from = 0.0
        self._waited, self._wait_checked = store.waited, 0.0
        self._recent = Recent(store, learner.n_features)
        self._background = ThreadPoolExecutor(1, "tidy")
        self._tidied, self._tidying = store.last, Future[None]()
        self._tidying.set_result(None)
        self._taught = store.last  # what the log has up to here was learned, or is about to be
        self._thread = threading.Thread(target=self._run, name="writer")

    # -- for those who ask ---------------------------------------------------------------------

    def start(self) -> None:
        """Begin."""
        self.learning.start()
        self._thread.start()

    def stop(self) -> None:
        """Answer what waits, write a last snapshot, let go of the store."""
        with self._news:
            self._stopping = True
            self._news.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        self.learning.stop()
        self._background.shutdown()
        self.store.close()

    @property
    def healthy(self) -> bool:
        """Whether it can decide and learn."""
        return self._down is None and self._thread.is_alive() and self.learning.alive

    @property
    def down(self) -> str | None:
        """Why the store cannot be used, if it cannot."""
        return self._down

    @property
    def waiting(self) -> int:
        """Requests that wait."""
        return len(self._jobs)

    def rank_job(
        self,
        context: Sequence[float] | dict[str, float] | Floats,
        slots: int | None,
        candidates: list[Label] | None,
        exclude: list[Label] | None,
        id: str | None,
        answer: Answer,
    ) -> Rank:
        """A request to rank; ValueError where its context or slots cannot be right."""
        given = self._vector(context)
        if given.shape != (self.learner.n_features,):
            self.learner.read_context(given)  # says what is wrong, or that it is a single line
            given = given.ravel()
        if not self.learner.normalize and np.max(np.abs(given)) > LARGEST:
            raise InputError(
                f"context has numbers beyond {LARGEST:g}, and this learner takes them as they are"
            )
        limit = self.learner.read_slots(slots)
        return Rank(given, limit, candidates, exclude, 0, id, given, answer)

    def put(self, jobs: Sequence[Job]) -> None:
        """Hand jobs in, all or none: Refused with 503 where too many wait."""
        limits = self.settings.limits
        feedback = sum(not isinstance(job, Rank) for job in jobs)  # or changes of labels
        if feedback and not self.learning.alive:
            raise Refused(503, "learning has stopped; nothing more is taken in")
        if feedback and self.learning.backlog + feedback > limits.backlog:
            raise Refused(503, "there is more feedback than can be learned now: try again later")
        with self._news:
            if self._stopping:
                raise Refused(503, "the service is stopping")
            if len(self._jobs) + len(jobs) > limits.queue:
                raise Refused(503, "too many requests are waiting: try again later")
            self._jobs.extend(jobs)
            self._news.notify()

    def ask(self, make: Callable[[Answer], Job]) -> Any:
        """Hand in one job and wait for its answer."""
        future: Future[Any] = Future()
        self.put([make(future)])
        return future.result()

    # -- the writer's thread -------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            group = self._take()
            if group is None:
                return
            replies: list[Reply] = []
            try:
                self._recover()
                self._give_up_waiting()
                replies = self._answer(group) if group else []
            except StoreError as why:
                if self._down is None:
                    log.error("the store failed: %s", why)
                self._down = str(why)
                replies = [(job.answer, Refused(503, AWAY)) for job in group]
            except Exception as why:  # a mistake of ours must not stop the service
                log.exception("a group of requests failed")
                self._down = "a group of requests failed"  # what it left in the log is learned
                replies = [(job.answer, why) for job in group]
            if replies:
                self.deliver(replies)

    def _take(self) -> list[Job] | None:
        """All that waits; an empty list now and then where nothing does; None at the end."""
        pause = 1.0 if self._down or self.settings.wait is not None else None
        with self._news:
            if not self._jobs and not self._stopping:
                self._news.wait(pause)
            if not self._jobs and self._stopping:
                return None
            return [self._jobs.popleft() for _ in range(min(len(self._jobs), GROUP))]

    def _recover(self) -> None:
        """After a failure: connect again, and learn what was written though nobody was told."""
        if self._down is None:
            return
        self.store.reopen()
        self._recent.forget()
        self._teach([Lesson(*lesson) for lesson in self.store.lessons(self._taught)])
        self._down = None
        log.warning("the store is back")

    def _answer(self, group: list[Job], *, new: bool = True) -> list[Reply]:
        """Decide, check, write, and only then answer.

        new  take ids that are not in memory to be new: the log says if they are not
        """
        now = self._at = max(time.time(), self._at)
        ranks = [job for job in group if isinstance(job, Rank)]
        gives = [job for job in group if isinstance(job, Give)]
        changes = [job for job in group if isinstance(job, Change)]
        replies: list[Reply] = []
        decided: list[tuple[Decision, list[Answer]]] = []
        given: list[tuple[Feedback, Decision, list[Answer]]] = []
        changed: list[tuple[LabelChange, Answer]] = []
        if ranks:
            find = self._recent.decisions
            known_to = self._recent.at_hand if new else find
            known = known_to({job.id for job in ranks if job.id is not None})
            decided, more = decide(self.learner, ranks, known, find, self.store.last + 1, now)
            replies += more
        if gives:
            ids = {job.feedback.id for job in gives}
            recent = self._recent
            given, more = check_feedback(gives, recent.decisions(ids), recent.feedback(ids), now)
            replies += more
        if changes:
            changed = self._check_changes(changes, now, replies)
        events: list[Event] = [decision for decision, _ in decided]
        events += [feedback for feedback, _, _ in given]
        events += [change for change, _ in changed]
        if events:
            first = self.store.last + 1
            try:
                self.store.append(events)
            except DuplicateId:
                if not new:
                    raise
                return self._answer(group, new=False)
            self._after(first, decided, given, changed, replies)
        return replies

    def _after(
        self,
        first: int,
        decided: list[tuple[Decision, list[Answer]]],
        given: list[tuple[Feedback, Decision, list[Answer]]],
        changed: list[tuple[LabelChange, Answer]],
        replies: list[Reply],
    ) -> None:
        """The events are in the log from seq `first` on: count, answer, learn."""
        seq = first + len(decided)
        lessons = [Lesson(seq + i, one[0], one[1]) for i, one in enumerate(given)]
        seq += len(given)
        lessons += [
            Lesson(seq + i, change, None, self._telling(answer, change))
            for i, (change, answer) in enumerate(changed)
        ]
        self._teach(lessons)
        self._recent.add((one for one, _ in decided), (one for one, _, _ in given))
        self._tidy()
        for decision, answers in decided:
            self.tally.decided(decision)
            replies += [(answer, decision) for answer in answers]
        for feedback, decision, answers in given:
            self.tally.answered(feedback, decision)
            replies += [(answer, feedback) for answer in answers]
        if decided:
            self._glance(decided[-1][0])

    def _tidy(self) -> None:
        """Now and then, in the background."""
        if self.store.last - self._tidied < TIDY or not self._tidying.done():
            return
        self._tidied = self.store.last

        def work() -> None:
            try:
                with self.store.beside() as store:
                    store.tidy()
            except StoreError as why:
                log.warning("the store could not be tidied: %s", why)

        self._tidying = self._background.submit(work)

    def _teach(self, lessons: list[Lesson]) -> None:
        self.learning.put(lessons)
        self._taught = self.store.last

    def _telling(self, answer: Answer, change: LabelChange) -> Callable[[bool], None]:
        later = Refused(503, "the change is in the log, and takes effect when the service starts")
        return lambda learned: self.deliver([(answer, change if learned else later)])

    # -- what it does besides ------------------------------------------------------------------

    def _glance(self, decision: Decision) -> None:
        """Where there is time, see who was next in line: for the page to say where the cut fell."""
        start = time.monotonic()
        if start < self._glance_from:
            return
        self.tally.show(decision, next_in_line(self.learner, decision))
        end = time.monotonic()
        self._glance_from = end + (end - start) / GLANCE

    def _give_up_waiting(self) -> None:
        """Decisions that waited too long for feedback count as nothing clicked."""
        wait = self.settings.wait
        now = self._at = max(time.time(), self._at)
        if wait is None or now - self._wait_checked < min(1.0, wait / 4):
            return
        room = self.settings.limits.backlog - self.learning.backlog
        late = self.store.unanswered(self._waited, now - wait)[: max(room, 0)]
        if not late:
            self._wait_checked = now  # while there are some, there may be more
            return
        given_up = [id for _, id, answered in late if not answered]
        decisions = self.store.decisions(given_up)
        events = [Feedback(id, now, [], waited=True) for id in given_up]
        first = self.store.last + 1
        self.store.append(events, waited=late[-1][0])
        self._waited = late[-1][0]
        self._teach(
            [Lesson(seq, event, decisions[event.id]) for seq, event in enumerate(events, first)]
        )
        self._recent.add([], events)
        for event in events:
            self.tally.answered(event, decisions[event.id])

    def _check_changes(
        self, changes: list[Change], now: float, replies: list[Reply]
    ) -> list[tuple[LabelChange, Answer]]:
        """One change at a time: the next is checked against labels that are no longer moving."""
        good: list[tuple[LabelChange, Answer]] = []
        for job in changes:
            wrong: Refused | None = None
            if self.learning.changing or good:
                wrong = Refused(503, "another change of labels is under way: try again")
            else:
                most = self.settings.limits.labels
                wrong = wrong_change(self.learner, job.change, most)
            if wrong is not None:
                replies.append((job.answer, wrong))
            else:
                good.append((LabelChange(now, job.change.add, job.change.retire), job.answer))
        return good

    # -- inside --------------------------------------------------------------------------------

    def _vector(self, context: Sequence[float] | dict[str, float] | Floats) -> Floats:
        """The context as it was given, as numbers in the order of the features."""
        if not isinstance(context, dict):
            return np.asarray(context, dtype=np.float64)
        if not self._place_of:
            raise InputError("context has names, but the features of this service have none")
        vector = np.zeros(self.learner.n_features)
        for name, value in context.items():
            if name not in self._place_of:
                raise InputError(f"context names {name!r}, which is not a feature of this service")
            vector[self._place_of[name]] = value
        return vector

    def _prime(self) -> None:
        """Count what the end of the log says of the last hour, for those who watch a restart."""
        since = time.time() - 3600
        recent = [
            event
            for _, event in self.store.events(max(0, self.store.last - 5000))
            if event.at >= since
        ]
        asked = {one.id for one in recent if isinstance(one, Feedback)}
        decisions = self.store.decisions(asked) if asked else {}
        for event in recent:
            if isinstance(event, Decision):
                self.tally.decided(event)
                self.tally.show(event, None)
            elif isinstance(event, Feedback):
                self.tally.answered(event, decisions[event.id])
        self.tally.decisions = self.store.count("decision")
        self.tally.feedback = self.store.count("feedback")


def settle(replies: list[Reply]) -> None:
    """Set every future; one that was given up meanwhile stays as it is."""
    for answer, result in replies:
        if answer.done():
            continue
        if isinstance(result, BaseException):
            answer.set_exception(result)
        else:
            answer.set_result(result)
