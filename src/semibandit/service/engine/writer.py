"""The writer: one thread that decides, writes the log, and only then answers.

It takes all requests that wait at once: it ranks them together (one matrix product), writes
decisions and feedback to the log in one transaction, hands the log's news to learning, and then
answers. So nothing is answered, and nothing is learned, that is not in the log.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TypeAlias

from semibandit.errors import Conflict, DuplicateId, InputError, ServiceUnavailable, StoreError
from semibandit.policies.learner import Learner
from semibandit.policies.slate import Slate
from semibandit.service.engine.added_labels import AddedLabels
from semibandit.service.engine.clock import LogClock
from semibandit.service.engine.deadline import FeedbackDeadline
from semibandit.service.engine.decisions import decide
from semibandit.service.engine.holdout import Holdout
from semibandit.service.engine.learning import Learning, LoggedEvent
from semibandit.service.engine.next_label import NextLabelLookup
from semibandit.service.engine.queue import WAITED_TOO_LONG, RequestQueue
from semibandit.service.engine.recent import RecentDecisions
from semibandit.service.engine.requests import (
    AnswerFuture,
    InternalError,
    Pending,
    PendingErasure,
    PendingFeedback,
    PendingLabelChange,
    PendingNewLearner,
    PendingRank,
    Reply,
    Unlogged,
    set_results,
)
from semibandit.service.engine.statistics import Statistics
from semibandit.service.engine.store_access import FOLLOW_EVERY, STORE_AWAY, StoreAccess
from semibandit.service.engine.validation import (
    check_label_change,
    check_replacement,
    sort_feedback,
)
from semibandit.service.settings import Settings
from semibandit.store.event import Decision, Event, Feedback, LabelChange, NewLearner
from semibandit.store.store import Store

__all__ = ["Writer"]

log = logging.getLogger("semibandit")
GROUP = 512  # requests answered together
TIDY_EVERY = 1000  # events between two times the store is tidied
SAVE_EVERY = 20_000  # events between two times the statistics are saved, at least
CHECK_EVERY = 1.0  # seconds between two looks at the store and at decisions without feedback

Decided: TypeAlias = list[tuple[Decision, list[AnswerFuture]]]
Given: TypeAlias = list[tuple[Feedback, Decision, list[AnswerFuture]]]
Change: TypeAlias = PendingLabelChange | PendingNewLearner
Changed: TypeAlias = list[tuple[LabelChange | NewLearner, Change]]


class Writer:
    """Answers the requests of a queue, if it has access to the store; else it refuses them."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        queue: RequestQueue,
        learning: Learning,
        statistics: Statistics,
    ) -> None:
        self.access = StoreAccess(store, settings, learning, statistics)
        self.deliver: Callable[[list[Reply]], None] = set_results
        self.observe_commit: Callable[[float], object] = _ignore  # told the seconds of a commit
        self.recent = RecentDecisions(store, settings.limits.recent)
        self.erasing: set[str] = set()  # ids of decisions that are about to leave the log
        self._store, self._settings = store, settings
        self._queue, self._learning, self._statistics = queue, learning, statistics
        self.clock = LogClock(store, settings.clock)
        self._deadline = FeedbackDeadline(store, settings.wait)
        self._added = AddedLabels(store)
        self._next_labels = NextLabelLookup(statistics)
        self.holdout = Holdout.from_settings(settings, statistics)
        self._group: list[Pending] = []  # at work
        self._looked = 0.0  # when the store's files were last looked at without a write
        self._recording = False  # from the first byte written until learning knows of it
        self._background = ThreadPoolExecutor(1, "tidy")
        self._tidied, self._tidying = store.last, Future[None]()
        self._tidying.set_result(None)
        self._thread = threading.Thread(target=self._run, name="writer")

    @property
    def alive(self) -> bool:
        """Whether it answers."""
        return self._thread.is_alive()

    @property
    def store_down(self) -> str | None:
        """Why the store cannot be used, or None."""
        return self.access.down

    @property
    def behind(self) -> bool:
        """Whether the log may have events that learning was not given.

        So it is after a failure that may have come after a commit, and while following.
        """
        return self.access.behind

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
            every = FOLLOW_EVERY if self.access.following else CHECK_EVERY
            taken = self._queue.take(GROUP, every)
            if taken is None:
                return
            group, late = taken
            self._group = group
            replies = self._process(group)
            replies += [(one.answer, ServiceUnavailable(WAITED_TOO_LONG)) for one in late]
            self._group = []
            self.access.stuck = False
            if replies:
                self.deliver(replies)

    def _process(self, group: list[Pending]) -> list[Reply]:
        """The replies to a group of requests; whatever fails, the writer goes on."""
        access, start = self.access, time.monotonic()
        self.clock.look()
        try:
            if not group or access.behind or start - self._looked > CHECK_EVERY:
                with access.calling():  # groups that are written are checked by that
                    self._store.check()
                self._looked = start
            if access.behind:
                if not access.catch_up():
                    return self._refuse(group)
                self._start_anew()
            now = self.clock.stamp()
            self._give_up_late(now)
            group, replies = self._sort_erasures(group)
            return replies + self._answer(group, now) if group else replies
        except StoreError as why:
            access.fail(why, time.monotonic() - start)
            late = self._queue.drain() if access.refusing else []
            return self._refuse(group + late)
        except Exception:
            log.exception("a group of %d requests failed", len(group))
            access.behind = access.behind or self._recording
            access.postpone()
            return [(one.answer, InternalError("a group failed")) for one in group]
        finally:
            self._recording = False

    def _start_anew(self) -> None:
        """Forget what was known of the log: it may have been written by another process."""
        self.recent.forget()
        self._deadline = FeedbackDeadline(self._store, self._settings.wait)
        self.clock.read()
        self._added = AddedLabels(self._store)

    def _refuse(self, group: list[Pending]) -> list[Reply]:
        """Replies without the store: to rank, if that is wanted while following; else refusals."""
        ranks: list[PendingRank] = []
        replies: list[Reply] = []
        follows = self.access.following and self._settings.follow_rank
        for one in group:
            if follows and isinstance(one, PendingRank):
                one.id = None  # as if nobody had asked for it before
                ranks.append(one)
            else:
                replies.append((one.answer, self.access.refusal()))
        current = self._learning.current
        decided, refused, _ = self._decide(current, ranks, {}, lambda _: {}, self.clock.time)
        for decision, answers in decided:
            replies += [(answer, Unlogged(decision)) for answer in answers]
        return replies + refused

    def check_stuck(self) -> None:
        """If the store does not answer, refuse what waits for it; for another thread to call.

        The call goes on: if it returns after all, what it wrote is in the log, and learned.
        """
        if not self.access.is_stuck():
            return
        if not self.access.stuck:
            log.error("the store does not answer")
        self.access.stuck = True
        waiting = [*self._group, *self._queue.drain()]
        replies = [(one.answer, StoreError(STORE_AWAY)) for one in waiting if not one.answer.done()]
        if replies:
            self.deliver(replies)

    def _answer(self, group: list[Pending], now: float, *, assume_new: bool = True) -> list[Reply]:
        """Decide, check, write, and only then answer.

        With `assume_new`, ids that are not in memory are taken to be new: the log says if they are
        not, nothing is written then, and the group is answered again with all ids looked up.
        """
        recent = self.recent
        replies: list[Reply] = []
        ranks = [one for one in group if isinstance(one, PendingRank)]
        feedback = [one for one in group if isinstance(one, PendingFeedback)]
        changes = [one for one in group if isinstance(one, Change)]
        decided: Decided = []
        given: Given = []
        current, slates = self._learning.current, list[Slate]()
        if ranks:
            find = recent.in_memory if assume_new else recent.decisions
            known = find({one.id for one in ranks if one.id is not None})
            decided, more, slates = self._decide(current, ranks, known, recent.decisions, now)
            replies += more
        if feedback:
            ids = {one.feedback.id for one in feedback}
            decisions, known_feedback = recent.decisions(ids), recent.feedback(ids)
            given, more = sort_feedback(feedback, decisions, known_feedback, now, self._expired)
            replies += more
        changed, more = self._sort_changes(changes, now)
        try:
            more += self._record(decided, given, changed)
        except DuplicateId:
            if not assume_new:
                raise
            return self._answer(group, now, assume_new=False)
        current[0].expect(slates)  # the next ones are ranked long before these are answered
        return replies + more

    def _decide(
        self,
        current: tuple[Learner, int],
        ranks: list[PendingRank],
        known: Mapping[str, Decision],
        find: Callable[[set[str]], Mapping[str, Decision]],
        now: float,
    ) -> tuple[Decided, list[Reply], list[Slate]]:
        """As `decide`; refusals if the policy cannot draw around the learner that is there now."""
        learner, since = current
        try:
            policy = self._settings.policy_in_use(learner)
        except ServiceUnavailable as why:
            return [], [(one.answer, ServiceUnavailable(str(why))) for one in ranks], []
        first = self._store.last + 1
        return decide(policy, ranks, known, find, first, now, since, self.holdout)

    def _record(
        self, decided: Decided, given: Given, changed: Changed, waited: int | None = None
    ) -> list[Reply]:
        """Write it all to the log; then hand it to learning, remember it, count it, and reply."""
        given = [(self._added.mark(*one[:2]), *one[1:]) for one in given]
        decisions, feedback = [one[0] for one in decided], [one[0] for one in given]
        events: list[Event] = [*decisions, *feedback, *(event for event, _ in changed)]
        if not events and waited is None:
            return []
        seq = self._store.last + 1 + len(decided)
        to_learn = [LoggedEvent(seq + i, one[0], one[1]) for i, one in enumerate(given)]
        seq += len(given)
        to_learn += [self._logged(seq + i, *one) for i, one in enumerate(changed)]
        self._recording, start = True, time.perf_counter()
        try:
            with self.access.calling():
                self._store.append(events, waited)
        except DuplicateId:  # nothing was written
            self._recording = False
            raise
        self.observe_commit(time.perf_counter() - start)
        for i, (event, _) in enumerate(changed):
            self._added.note(seq + i, event)
        self._learning.put(to_learn)
        self.recent.add(decisions, feedback)
        self.access.hand_over(self._store.last)
        self._recording = False
        self._tidy()
        return self._count(decided, given, [event for event, _ in changed])

    def _count(self, decided: Decided, given: Given, changes: Sequence[Event]) -> list[Reply]:
        """Add these to the statistics, and make the replies."""
        self._statistics.add(
            [one[0] for one in decided],
            [one[:2] for one in given],
            self._store.last,
            changes,
        )
        replies: list[Reply] = []
        for decision, answers in decided:
            replies += [(answer, decision) for answer in answers]
        for feedback, _, answers in given:
            replies += [(answer, feedback) for answer in answers]
        if decided:
            self._next_labels.add(self._learning.learner, decided[-1][0])
        return replies

    # -- changes of labels and learners, erasures -----------------------------------------------

    def _sort_changes(self, changes: list[Change], now: float) -> tuple[Changed, list[Reply]]:
        """One change at a time: the next is checked against labels that are no longer moving."""
        good: Changed = []
        replies: list[Reply] = []
        for one in changes:
            try:
                if self._learning.changing or good:
                    raise ServiceUnavailable("another change is under way: try again")
                good.append((self._checked(one, now), one))
            except (InputError, ServiceUnavailable) as why:
                replies.append((one.answer, why))
        return good, replies

    def _checked(self, one: Change, now: float) -> LabelChange | NewLearner:
        """The event of a change that can be made; an `InputError` if it cannot."""
        learner = self._learning.learner
        if isinstance(one, PendingNewLearner):
            check_replacement(learner, one.learner)
            self._settings.policy(one.learner)  # it can be inside of it
            return replace(one.event, at=now)
        check_label_change(learner, one.change, self._settings.limits.labels)
        return LabelChange(now, one.change.add, one.change.retire)

    def _logged(self, seq: int, event: LabelChange | NewLearner, one: Change) -> LoggedEvent:
        """A change for learning, which answers whoever asked for it."""
        prepared = (one.learner, one.learned) if isinstance(one, PendingNewLearner) else None
        later = ServiceUnavailable(
            "the change is in the log, and takes effect when the service starts"
        )

        def reply(learned: bool) -> None:
            self.deliver([(one.answer, (seq, event) if learned else later)])

        return LoggedEvent(seq, event, None, reply, prepared)

    def _sort_erasures(self, group: list[Pending]) -> tuple[list[Pending], list[Reply]]:
        """The requests that have nothing to do with erasures, and replies to the others."""
        others: list[Pending] = []
        replies: list[Reply] = []
        if not self.erasing and not any(isinstance(one, PendingErasure) for one in group):
            return group, replies
        for one in group:
            if isinstance(one, PendingErasure):
                self.erasing |= one.ids
                self.recent.drop(one.ids)
                replies.append((one.answer, None))
        for one in group:
            id = one.id if isinstance(one, PendingRank) else None
            id = one.feedback.id if isinstance(one, PendingFeedback) else id
            if id is not None and id in self.erasing:
                replies.append((one.answer, Conflict(f"id = {id!r} is being erased")))
            elif not isinstance(one, PendingErasure):
                others.append(one)
        return others, replies

    # -- besides -------------------------------------------------------------------------------

    def _give_up_late(self, now: float) -> None:
        """Record decisions that waited too long for feedback as nothing clicked.

        Not while learning has stopped: feedback is refused then, so nobody could have answered.
        """
        if self._settings.wait is None or not self._learning.alive:
            return
        room = self._settings.limits.backlog - self._learning.backlog
        late = self._deadline.find_late(now, room)
        if late is not None:
            given_up, waited = late
            kept: Given = [(*one, []) for one in given_up if one[0].id not in self.erasing]
            self._record([], kept, [], waited)
            self._deadline.settle(waited)

    def _tidy(self) -> None:
        """Let the store tidy up in the background, now and then."""
        if self._store.last - self._tidied < TIDY_EVERY or not self._tidying.done():
            return
        self._tidied = self._store.last
        self._tidying = self._background.submit(self._tidy_beside)

    def _tidy_beside(self) -> None:
        try:
            with self._store.beside() as beside:
                beside.tidy()
                if self._statistics.unsaved > SAVE_EVERY:  # without feedback there is no snapshot
                    self._statistics.save(beside, self._learning.learner.labels)
        except StoreError as why:
            log.warning("the store could not be tidied: %s", why)
        except Exception:
            log.exception("the store could not be tidied")

    def _expired(self, decision: Decision) -> bool:
        """Whether a decision is about to leave the log; its draw is its place in it."""
        keep, clock = self._settings.keep or math.inf, self.clock
        return clock.counts_from(decision.draw, decision.at) < clock.time - keep


def _ignore(seconds: float) -> None:
    """For those who do not want to know."""
