"""The engine: the service without HTTP. A learner, its store, and the two threads between them.

The writer (`writer.py`) decides and writes; learning (`learning.py`) takes in what the log has,
event by event. Ranking waits for one event to be learned at most.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import listed, nearest, shortened
from semibandit.errors import InputError, ServiceUnavailable
from semibandit.models.model import dense
from semibandit.policies.batch import prepare
from semibandit.policies.features.value import read_number
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.service.engine.deciders import Deciders
from semibandit.service.engine.decisions import decide_alone
from semibandit.service.engine.erasure import Eraser
from semibandit.service.engine.feature_list import describe_features
from semibandit.service.engine.holdout import Holdout
from semibandit.service.engine.learning import Learning
from semibandit.service.engine.monitor import Monitor
from semibandit.service.engine.queue import RequestQueue
from semibandit.service.engine.replacement import replace_learner
from semibandit.service.engine.requests import (
    AnswerFuture,
    Pending,
    PendingRank,
    Reply,
    set_results,
)
from semibandit.service.engine.retention import Retention
from semibandit.service.engine.statistics import Statistics
from semibandit.service.engine.writer import Writer
from semibandit.service.settings import Settings
from semibandit.store.event import Decision
from semibandit.store.named_context import normalised
from semibandit.store.rebuild import check_learns_from_shown, rebuild
from semibandit.store.store import Store

__all__ = ["Engine"]

log = logging.getLogger("semibandit")
LARGEST = 1e100  # that an unscaled context may have: squares must not overflow
NOT_ENCODED = np.empty(0)  # a context with names is encoded when its turn has come
START_TIMEOUT = 60.0  # seconds that a call to the store may take while nobody waits for answers
RESTART_AFTER = 300.0  # seconds in one call or at one event, after which only a restart helps


class Engine:
    """Answers requests from a learner that is rebuilt from its store, and goes on learning.

    Parameters
    ----------
    store : Store
        The log to rebuild the learner from, and to write to. `stop` closes it.
    settings : Settings, optional
        How the service runs.
    say : function, optional
        Called with a text if starting takes its time.
    progress : function, optional
        Called with how many events of the log were learned, and how many there are to learn. What
        it raises comes out.

    Raises
    ------
    InputError
        If the store's learner needs to be told of labels that were not shown (OBR), or cannot
        be inside the policy that is to draw (Banditron).
    FileError
        If the store has no whole snapshot.

    Examples
    --------
    >>> import tempfile, semibandit as sb
    >>> engine = Engine(Store.create(tempfile.mkdtemp(), sb.SlateUCB(2, ["tea", "coffee"])))
    >>> engine.start()
    >>> decision = engine.ask(
    ...     lambda answer: engine.pending_rank([1.0, 0.5], 1, None, None, "visit-1", answer)
    ... )
    >>> len(decision.labels), decision.version
    (1, 1)
    >>> engine.stop()
    """

    def __init__(
        self,
        store: Store,
        settings: Settings | None = None,
        say: Callable[[str], object] = log.info,
        progress: Callable[[int, int], object] = lambda done, total: None,
    ) -> None:
        self.store, self.settings = store, settings or Settings()
        store.device = self.settings.load_device
        # names that the store has for the numbers of a learner that was made without any
        self._names: list[str] | None = store.about.get("feature_names")
        self._column = {name: i for i, name in enumerate(self._names or [])}
        with store.allowing(START_TIMEOUT):
            learner, position = rebuild(store, progress=progress, place=self.settings.place)
            self.statistics = Statistics.from_log(store, progress)
            before = Deciders.of_last(store)
        self._checker = None if learner.features is None else learner.features.encoder()
        check_learns_from_shown(learner)
        # raises an `InputError` if there can be no such policy around it
        words = getattr(self.settings.policy(learner), "words", None)
        prepare(learner, say)
        self.queue = RequestQueue(self.settings.limits.queue, self.settings.timeouts.queue)
        every = self.settings.snapshot_every
        self.learning = Learning(
            learner, store, position, every, self.statistics, lambda: bool(self.queue),
            self.settings.place,
        )  # fmt: skip
        self.writer = Writer(store, self.settings, self.queue, self.learning, self.statistics)
        self.deciders = Deciders(words, None if self.holdout is None else self.holdout.words)
        self.clock = self.writer.clock
        self.started = self.clock.time
        # what was there before this start, and is not any more
        self.left_out = None if before is None else self.deciders.warning(before)
        self._monitor = Monitor(self.writer.check_stuck)
        self.eraser = Eraser(store, self.queue, self.writer, self.learning, self.statistics)
        self._background = ThreadPoolExecutor(1, "maintenance")
        self.retention = None
        if self.settings.keep is not None:
            self.retention = Retention(
                store, self.settings, self.learning, self.statistics, self.clock
            )
        self._running = False

    def start(self, deliver: Callable[[list[Reply]], None] = set_results) -> None:
        """Begin to answer and to learn.

        `deliver` is called with answers, in one of the engine's threads, and sets the futures.
        """
        self.writer.deliver = deliver
        self.learning.start()
        self.writer.start()
        self._monitor.start()
        self.eraser.start()
        if self.retention is not None:
            self.retention.start()
        self._running = True

    def stop(self) -> None:
        """Answer what waits, write a last snapshot if the store can be written, and close it."""
        self._running = False
        if self.retention is not None:
            self.retention.stop()
        self.eraser.stop()
        self.queue.stop()
        self.writer.join()
        self.learning.stop(snapshot=self.writer.access.open)
        self._background.shutdown(cancel_futures=True)
        self._monitor.stop()
        self.store.close()

    @property
    def learner(self) -> Learner:
        """The learner as it is now; another may take its place."""
        return self.learning.learner

    @property
    def problem(self) -> str | None:
        """Why it cannot decide or learn, without any secret; None if it can."""
        access = self.writer.access
        if access.stuck or access.lost:
            return access.down
        if access.failure is not None:
            return access.failure if access.moved else "the store is away"
        if (why := self.settings.policy_problem(self.learner)) is not None:
            return why
        if (why := getattr(self.learner, "model_problem", None)) is not None:
            return str(why)
        if access.following:
            return self.learning.problem or self._following()
        if access.behind:
            return "a group of requests failed while it was written; the service's log says why"
        if not self.writer.alive:
            return "it does not answer any more"
        return self.learning.problem

    @property
    def live_problem(self) -> str | None:
        """Why only a restart helps: a thread has died, or is stuck for ever; None if it need not.

        A bug that stopped learning is none: it would stop it again, and until then it decides.
        """
        if not self._running:
            return None
        if self.writer.access.lost:
            return self.writer.access.failure
        if not self.writer.alive or (not self.learning.alive and self.learning.failed is None):
            return "a thread has died"
        for what, since in (
            ("the store has not answered", self.writer.access.busy_since),
            ("learning has been at one event", self.learning.busy_since),
        ):
            if since is not None and time.monotonic() - since > RESTART_AFTER:
                return f"{what} for {time.monotonic() - since:.0f} s"
        return None

    @property
    def following(self) -> bool:
        """Whether another process writes to the store, and this one only follows its log."""
        return self.writer.access.following

    def _following(self) -> str:
        behind = self.learning.backlog
        return f"following another service, which writes to the store; {behind} events behind"

    @property
    def healthy(self) -> bool:
        """Whether it can decide and learn."""
        return self.problem is None

    @property
    def features(self) -> list[dict[str, Any]] | None:
        """The named features of contexts, for forms; None if contexts are plain numbers."""
        return describe_features(self.learner, self._names)

    @property
    def holdout(self) -> Holdout | None:
        """The visits that the learner does not decide, to compare it with."""
        return self.writer.holdout

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self.queue)

    def pending_rank(
        self,
        context: Sequence[float] | Mapping[str, Any] | Floats,
        slots: int | None,
        candidates: list[Label] | None,
        exclude: list[Label] | None,
        id: str | None,
        answer: AnswerFuture,
        subject: str | None = None,
    ) -> PendingRank:
        """Make a request to rank, for `submit`.

        Parameters
        ----------
        context : sequence of float, or mapping
            A number for each feature; or {name: value} if the features have names, and those left
            out are unknown (0 if the learner was made without names).
        slots, candidates, exclude
            As for `Learner.rank`; labels are checked when the request's turn has come. If there
            are more labels than the limit on slots, that limit is the default.
        id : str or None
            The decision's id; None gives it a new one.
        answer : AnswerFuture
            Gets the `Decision`, or the error.
        subject : str, optional
            The client's name for the visitor, to find all decisions about one by.

        Raises
        ------
        InputError
            If the context or the slots cannot be used.
        """
        limit, named = self._default_slots() if slots is None else slots, None
        limit = self.learner.read_slots(limit)
        if self._checker is not None and isinstance(context, Mapping):
            named = normalised(context)
            numbers = dense(self._checker.encode(named).x)
        else:
            numbers = self._vector(context)
        if numbers.shape != (self.learner.n_features,):
            self.learner.read_context(numbers)  # says what is wrong, or that it is a single row
            numbers = numbers.ravel()
        if self.learner.scale == "none" and (np.abs(numbers) > LARGEST).any():
            raise InputError(
                f"context has numbers beyond {LARGEST:g}, and this learner takes them as they are"
            )
        given = numbers if named is None else NOT_ENCODED
        return PendingRank(
            given, limit, candidates, exclude, 0, id, answer, subject, slots is None, named=named
        )

    def dry_run(self, pending: PendingRank) -> Decision:
        """What would be decided now, in any thread; nothing is logged, counted or learned.

        Raises
        ------
        InputError
            If the request cannot be ranked.
        ServiceUnavailable
            If the policy cannot draw around the learner that is there now.
        InternalError
            If a bug made it fail.
        """
        policy = self.settings.policy_in_use(self.learner)
        pending.draw = self.store.last + 1
        return decide_alone(policy, pending, self.clock.time)

    def submit(
        self, requests: Sequence[Pending], *, arrived: float = math.inf, wake: bool = True
    ) -> None:
        """Hand requests in, all or none; their futures get the answers.

        Parameters
        ----------
        requests : sequence
            The requests.
        arrived : float
            When, by `time.perf_counter`: they are refused if their turn comes too late. By default
            it is never too late.
        wake : bool
            Whether to wake the writer up; if not, `queue.wake` is to be called soon.

        Raises
        ------
        ServiceUnavailable
            If too many requests wait, if more feedback waits to be learned than may, or if the
            service is stopping or has stopped learning. Nothing is recorded then.
        StoreError
            If the store cannot be used at the moment, or another process writes to it.
        """
        to_learn = sum(not isinstance(one, PendingRank) for one in requests)
        access = self.writer.access
        if access.refusing and (to_learn or not (access.following and self.settings.follow_rank)):
            raise access.refusal()
        if to_learn and not self.learning.alive:
            raise ServiceUnavailable("learning has stopped; nothing more is taken in")
        if to_learn and self.learning.backlog + to_learn > self.settings.limits.backlog:
            raise ServiceUnavailable(
                "there is more feedback than can be learned now: try again later"
            )
        self.queue.put(requests, arrived=arrived, wake=wake)

    def erase(
        self, ids: Sequence[str] = (), subjects: Sequence[str] = (), dry_run: bool = False
    ) -> Future[dict[str, Any]]:
        """Erase decisions and their feedback, in the background; see `Eraser.erase`."""
        return self._background.submit(self.eraser.erase, ids, subjects, dry_run)

    def replace_learner(self, content: bytes, after: int | None) -> Future[dict[str, Any]]:
        """Let the learner of a file take over, in the background; see `replace_learner`."""
        return self._background.submit(
            replace_learner, content, after, self.store, self.queue, self.learning,
            self.settings.place, self.settings.limits.labels,
        )  # fmt: skip

    def ask(self, make: Callable[[AnswerFuture], Pending]) -> Any:
        """Hand in one request, made by this function for a future, and wait for its answer."""
        future: Future[Any] = Future()
        self.submit([make(future)])
        return future.result()

    def _default_slots(self) -> int | None:
        """The most labels of a request that says nothing; None if there are no more than that."""
        most = self.settings.limits.slots
        return most if self.learner.n_labels > most else None

    def _vector(self, context: Sequence[float] | Mapping[str, Any] | Floats) -> Floats:
        """The context as it was given, as numbers in the order of the features."""
        if not isinstance(context, Mapping):
            try:
                return np.asarray(context, dtype=np.float64)
            except (TypeError, ValueError):
                text = f"context must be a list of numbers, got {shortened(context)}"
                raise InputError(text) from None
        if not self._column:
            raise InputError("context has names, but the features of this service have none")
        vector = np.zeros(self.learner.n_features)
        for name, value in context.items():
            if name not in self._column:
                raise InputError(
                    f"context names {name!r}, which is not a feature of this service"
                    f"{nearest(name, self._column)} (the features are {listed(self._column)})"
                )
            vector[self._column[name]] = 0.0 if value is None else read_number(name, value)
        return vector
