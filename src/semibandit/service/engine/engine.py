"""The engine: the service without HTTP. A learner, its store, and the two threads between them.

The writer (`writer.py`) decides and writes; learning (`learning.py`) takes in what the log has,
event by event. Ranking waits for one event to be learned at most.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
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
from semibandit.service.engine.feature_list import describe_features
from semibandit.service.engine.learning import Learning
from semibandit.service.engine.queue import RequestQueue
from semibandit.service.engine.requests import (
    AnswerFuture,
    Pending,
    PendingRank,
    Reply,
    set_results,
)
from semibandit.service.engine.statistics import Statistics
from semibandit.service.engine.writer import Writer
from semibandit.service.settings import Settings
from semibandit.store.named_context import normalised
from semibandit.store.rebuild import check_learns_from_shown, rebuild
from semibandit.store.store import Store

__all__ = ["Engine"]

log = logging.getLogger("semibandit")
LARGEST = 1e100  # that an unscaled context may have: squares must not overflow
NOT_ENCODED = np.empty(0)  # a context with names is encoded when its turn has come


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

    Raises
    ------
    InputError
        If the store's learner needs to be told of labels that were not shown (OBR).
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
    ) -> None:
        self.store, self.settings = store, settings or Settings()
        # names that the store has for the numbers of a learner that was made without any
        self._names: list[str] | None = store.about.get("feature_names")
        self._column = {name: i for i, name in enumerate(self._names or [])}
        learner, position = rebuild(store)
        self._checker = None if learner.features is None else learner.features.encoder()
        check_learns_from_shown(learner)
        prepare(learner, say)
        self.learner: Learner = learner
        self.statistics = Statistics.from_log(store)
        self.queue = RequestQueue(self.settings.limits.queue)
        every = self.settings.snapshot_every
        self.learning = Learning(learner, store, position, every, lambda: bool(self.queue))
        self.writer = Writer(
            learner, store, self.settings, self.queue, self.learning, self.statistics
        )

    def start(self, deliver: Callable[[list[Reply]], None] = set_results) -> None:
        """Begin to answer and to learn.

        `deliver` is called with answers, in one of the engine's threads, and sets the futures.
        """
        self.writer.deliver = deliver
        self.learning.start()
        self.writer.start()

    def stop(self) -> None:
        """Answer what waits, write a last snapshot, and close the store."""
        self.queue.stop()
        self.writer.join()
        self.learning.stop()
        self.store.close()

    @property
    def problem(self) -> str | None:
        """Why it cannot decide or learn, without any secret; None if it can."""
        if self.writer.store_down is not None:
            return "the store is away"
        if self.writer.behind:
            return "a group of requests failed while it was written; the service's log says why"
        if not self.writer.alive:
            return "it does not answer any more"
        return self.learning.problem

    @property
    def healthy(self) -> bool:
        """Whether it can decide and learn."""
        return self.problem is None

    @property
    def features(self) -> list[dict[str, Any]] | None:
        """The named features of contexts, for forms; None if contexts are plain numbers."""
        return describe_features(self.learner, self._names)

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
    ) -> PendingRank:
        """Make a request to rank, for `submit`.

        Parameters
        ----------
        context : sequence of float, or mapping
            A number for each feature; or {name: value} if the features have names, and those left
            out are unknown (0 if the learner was made without names).
        slots, candidates, exclude
            As for `Learner.rank`; labels are checked when the request's turn has come.
        id : str or None
            The decision's id; None gives it a new one.
        answer : AnswerFuture
            Gets the `Decision`, or the error.

        Raises
        ------
        InputError
            If the context or the slots cannot be used.
        """
        limit, named = self.learner.read_slots(slots), None
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
        return PendingRank(given, limit, candidates, exclude, 0, id, answer, named=named)

    def submit(self, requests: Sequence[Pending]) -> None:
        """Hand requests in, all or none; their futures get the answers.

        Raises
        ------
        ServiceUnavailable
            If too many requests wait, if more feedback waits to be learned than may, or if the
            service is stopping or has stopped learning. Nothing is recorded then.
        """
        to_learn = sum(not isinstance(one, PendingRank) for one in requests)
        if to_learn and not self.learning.alive:
            raise ServiceUnavailable("learning has stopped; nothing more is taken in")
        if to_learn and self.learning.backlog + to_learn > self.settings.limits.backlog:
            raise ServiceUnavailable(
                "there is more feedback than can be learned now: try again later"
            )
        self.queue.put(requests)

    def ask(self, make: Callable[[AnswerFuture], Pending]) -> Any:
        """Hand in one request, made by this function for a future, and wait for its answer."""
        future: Future[Any] = Future()
        self.submit([make(future)])
        return future.result()

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
