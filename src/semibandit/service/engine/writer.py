"""The writer: one thread that decides, writes the log, and only then answers.

It takes all requests that wait at once: it ranks them together (one matrix product), writes
decisions and feedback to the log in one transaction, hands the log's news to learning, and then
answers. So nothing is answered, and nothing is learned, that is not in the log.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias

from semibandit.errors import DuplicateId, InputError, ServiceUnavailable, StoreError
from semibandit.policies.learner import Learner
from semibandit.service.engine.deadline import FeedbackDeadline
from semibandit.service.engine.decisions import decide
from semibandit.service.engine.learning import Learning, LoggedEvent
from semibandit.service.engine.next_label import NextLabelLookup
from semibandit.service.engine.queue import RequestQueue
from semibandit.service.engine.recent import RecentDecisions
from semibandit.service.engine.requests import (
    AnswerFuture,
    InternalError,
    Pending,
    PendingFeedback,
    PendingLabelChange,
    PendingRank,
    Reply,
    set_results,
)
from semibandit.service.engine.statistics import Statistics
from semibandit.service.engine.validation import check_label_change, sort_feedback
from semibandit.service.settings import Settings
from semibandit.store.event import Decision, Event, Feedback, LabelChange
from semibandit.store.store import Store

__all__ = ["Writer"]

log = logging.getLogger("semibandit")
GROUP = 512  # requests answered together
TIDY_EVERY = 1000  # events between two times the store is tidied
CHECK_EVERY = 1.0  # seconds between two looks at the store and at decisions without feedback
STORE_AWAY = "the store cannot be reached or written at the moment: try again with the same id"

Decided: TypeAlias = list[tuple[Decision, list[AnswerFuture]]]
Given: TypeAlias = list[tuple[Feedback, Decision, list[AnswerFuture]]]
Changed: TypeAlias = list[tuple[LabelChange, AnswerFuture]]


class Writer:
    """Answers the requests of a queue.

    `store_down` says why the store cannot be used, if it cannot. `behind` is True while the log may
    have events that learning was not given: after a failure that may have come after a commit.
    """

    def __init__(
        self,
        learner: Learner,
        store: Store,
        settings: Settings,
        queue: RequestQueue,
        learning: Learning,
        statistics: Statistics,
    ) -> None:
        self.store_down: str | None = None
        self.behind = False
        self.deliver: Callable[[list[Reply]], None] = set_results
        self.recent = RecentDecisions(store, learner.n_features)
        self._learner, self._store, self._settings = learner, store, settings
        self._queue, self._learning, self._statistics = queue, learning, statistics
        self._deadline = FeedbackDeadline(store, settings.wait)
        self._next_labels = NextLabelLookup(learner, statistics)
        self._recording = False  # from the first byte written until learning knows of it
        self._last_time = 0.0
        self._background = ThreadPoolExecutor(1, "tidy")
        self._tidied, self._tidying = store.last, Future[None]()
        self._tidying.set_result(None)
        self._thread = threading.Thread(target=self._run, name="writer")

    @property
    def alive(self) -> bool:
        """Whether it answers."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def join(self) -> None:
        """Wait until all requests of a stopped queue are answered."""
        if self._thread.is_alive():
            self._thread.join()
        self._background.shutdown()

    # -- groups of requests --------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            idle = self.store_down is None and not self.behind and self._settings.wait is None
            group = self._queue.take(GROUP, None if idle else CHECK_EVERY)
            if group is None:
                return
            replies = self._process(group)
            if replies:
                self.deliver(replies)

    def _process(self, group: list[Pending]) -> list[Reply]:
        """The replies to a group of requests; whatever fails, the writer goes on."""
        try:
            self._catch_up()
            self._give_up_late()
            return self._answer(group) if group else []
        except StoreError as why:
            if self.store_down is None:
                log.error("the store failed: %s", why)
            self.store_down, self.behind = str(why), True
            return [(one.answer, StoreError(STORE_AWAY)) for one in group]
        except Exception:
            log.exception("a group of %d requests failed", len(group))
            self.behind = self.behind or self._recording
            return [(one.answer, InternalError("a group failed")) for one in group]
        finally:
            self._recording = False

    def _catch_up(self) -> None:
        """After a failure: connect again, and learn what was written though nobody was told."""
        if not self.behind:
            return
        self._store.reopen()
        self.recent.forget()
        missed = self._store.learnable_events(self._learning.last_put)
        self._learning.put([LoggedEvent(*one) for one in missed])
        if self.store_down is not None:
            log.warning("the store is back")
        self.store_down, self.behind = None, False

    def _answer(self, group: list[Pending], *, assume_new: bool = True) -> list[Reply]:
        """Decide, check, write, and only then answer.

        With `assume_new`, ids that are not in memory are taken to be new: the log says if they are
        not, nothing is written then, and the group is answered again with all ids looked up.
        """
        now, recent = self._now(), self.recent
        ranks = [one for one in group if isinstance(one, PendingRank)]
        feedback = [one for one in group if isinstance(one, PendingFeedback)]
        changes = [one for one in group if isinstance(one, PendingLabelChange)]
        decided: Decided = []
        given: Given = []
        replies: list[Reply] = []
        if ranks:
            find = recent.in_memory if assume_new else recent.decisions
            known = find({one.id for one in ranks if one.id is not None})
            first = self._store.last + 1
            decided, replies = decide(self._learner, ranks, known, recent.decisions, first, now)
        if feedback:
            ids = {one.feedback.id for one in feedback}
            given, more = sort_feedback(feedback, recent.decisions(ids), recent.feedback(ids), now)
            replies += more
        changed, more = self._sort_changes(changes, now)
        try:
            return replies + more + self._record(decided, given, changed)
        except DuplicateId:
            if not assume_new:
                raise
            return self._answer(group, assume_new=False)

    def _record(
        self, decided: Decided, given: Given, changed: Changed, waited: int | None = None
    ) -> list[Reply]:
        """Write it all to the log; then hand it to learning, remember it, count it, and reply."""
        decisions, feedback = [one[0] for one in decided], [one[0] for one in given]
        events: list[Event] = [*decisions, *feedback, *(change for change, _ in changed)]
        if not events and waited is None:
            return []
        seq = self._store.last + 1 + len(decided)
        to_learn = [LoggedEvent(seq + i, one[0], one[1]) for i, one in enumerate(given)]
        seq += len(given)
        to_learn += [
            LoggedEvent(seq + i, change, None, self._reply_when_learned(answer, change))
            for i, (change, answer) in enumerate(changed)
        ]
        self._recording = True
        try:
            self._store.append(events, waited)
        except DuplicateId:  # nothing was written
            self._recording = False
            raise
        self._learning.put(to_learn)
        self.recent.add(decisions, feedback)
        self._recording = False
        self._tidy()
        return self._count(decided, given)

    def _count(self, decided: Decided, given: Given) -> list[Reply]:
        """Add these to the statistics, and make the replies."""
        replies: list[Reply] = []
        for decision, answers in decided:
            self._statistics.add_decision(decision)
            replies += [(answer, decision) for answer in answers]
        for feedback, decision, answers in given:
            self._statistics.add_feedback(feedback, decision)
            replies += [(answer, feedback) for answer in answers]
        if decided:
            self._next_labels.add(decided[-1][0])
        return replies

    # -- label changes -------------------------------------------------------------------------

    def _sort_changes(
        self, changes: list[PendingLabelChange], now: float
    ) -> tuple[Changed, list[Reply]]:
        """One change at a time: the next is checked against labels that are no longer moving."""
        good: Changed = []
        replies: list[Reply] = []
        for one in changes:
            try:
                if self._learning.changing_labels or good:
                    raise ServiceUnavailable("another change of labels is under way: try again")
                check_label_change(self._learner, one.change, self._settings.limits.labels)
            except (InputError, ServiceUnavailable) as why:
                replies.append((one.answer, why))
            else:
                good.append((LabelChange(now, one.change.add, one.change.retire), one.answer))
        return good, replies

    def _reply_when_learned(
        self, answer: AnswerFuture, change: LabelChange
    ) -> Callable[[bool], None]:
        later = ServiceUnavailable(
            "the change is in the log, and takes effect when the service starts"
        )
        return lambda learned: self.deliver([(answer, change if learned else later)])

    # -- besides -------------------------------------------------------------------------------

    def _give_up_late(self) -> None:
        """Record decisions that waited too long for feedback as nothing clicked.

        Not while learning has stopped: feedback is refused then, so nobody could have answered.
        """
        if self._settings.wait is None or not self._learning.alive:
            return
        room = self._settings.limits.backlog - self._learning.backlog
        late = self._deadline.find_late(self._now(), room)
        if late is not None:
            given_up, waited = late
            self._record([], [(*one, []) for one in given_up], [], waited)
            self._deadline.settle(waited)

    def _tidy(self) -> None:
        """Let the store tidy up in the background, now and then."""
        if self._store.last - self._tidied < TIDY_EVERY or not self._tidying.done():
            return
        self._tidied = self._store.last
        self._tidying = self._background.submit(_tidy, self._store)

    def _now(self) -> float:
        """The time, which never goes back in the log."""
        self._last_time = max(time.time(), self._last_time)
        return self._last_time


def _tidy(store: Store) -> None:
    try:
        with store.beside() as beside:
            beside.tidy()
    except StoreError as why:
        log.warning("the store could not be tidied: %s", why)
    except Exception:
        log.exception("the store could not be tidied")
