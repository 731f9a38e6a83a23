"""Handlers: bodies in, requests to the engine, and what comes back as JSON can hold it."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future as ThreadFuture
from typing import Any

from semibandit.errors import InputError, ServiceUnavailable, StoreError
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.queue import WAITED_TOO_LONG
from semibandit.service.engine.requests import (
    AnswerFuture,
    Pending,
    PendingFeedback,
    PendingLabelChange,
    PendingRank,
    Unlogged,
)
from semibandit.service.http import schema
from semibandit.service.http.bodies import read_batch, read_body
from semibandit.service.http.errors import status_and_detail, status_of
from semibandit.service.http.metrics import Metrics
from semibandit.store.event import Decision, Feedback, LabelChange

__all__ = ["Handlers", "accepted", "decided"]

Future = asyncio.Future[Any]
MOST_DRY_RUNS = 64  # that may wait; they are for people who try something out
YIELD_EVERY = 16  # items of a batch, between which other requests have their turn
STORE_AWAY = "the store cannot be written at the moment"


class Handlers:
    """Gives requests to the engine, and turns what comes back into content for JSON."""

    def __init__(self, engine: Engine, metrics: Metrics) -> None:
        self.engine, self.metrics = engine, metrics
        self._waking = False  # whether `_wake` is about to be called
        self._one_label_change = asyncio.Lock()
        self._one_dry_run, self._dry_runs = asyncio.Lock(), 0

    async def rank(self, body: bytes, arrived: float) -> dict[str, Any]:
        """POST /v1/rank."""
        return decided(await self._answer(lambda answer: self.submit_rank(body, answer, arrived)))

    def submit_rank(self, body: bytes, answer: AnswerFuture, arrived: float) -> None:
        """Hand a request to rank to the engine; `decided` says what its answer means."""
        self._check_wait(arrived)
        pending = self._pending_rank(read_body(body, schema.RankRequest), answer)
        self._submit([pending], arrived)

    async def dry_run(self, body: bytes, arrived: float) -> dict[str, Any]:
        """POST /v1/rank?dry_run=true: one at a time, beside the writer."""
        self._check_wait(arrived)
        if self._dry_runs >= MOST_DRY_RUNS:
            raise ServiceUnavailable("too many dry runs are waiting: try again later")
        pending = self._pending_rank(read_body(body, schema.RankRequest), ThreadFuture())
        self._dry_runs += 1
        try:
            async with self._one_dry_run:
                self._check_wait(arrived)
                decision = await asyncio.to_thread(self.engine.dry_run, pending)
        finally:
            self._dry_runs -= 1
        return decided(decision) | {"id": None, "dry_run": True}

    async def feedback(self, body: bytes, arrived: float) -> dict[str, Any]:
        """POST /v1/feedback."""
        found = await self._answer(lambda answer: self.submit_feedback(body, answer, arrived))
        return accepted(found)

    def submit_feedback(self, body: bytes, answer: AnswerFuture, arrived: float) -> None:
        """Hand feedback to the engine; `accepted` says what its answer means."""
        self._check_wait(arrived)
        pending = _pending_feedback(read_body(body, schema.FeedbackRequest), answer)
        self._submit([pending], arrived)

    async def rank_batch(self, body: bytes, arrived: float) -> dict[str, Any]:
        """POST /v1/rank/batch."""
        self._check_wait(arrived)
        most = self.engine.settings.limits.batch
        given = read_batch(body, schema.RankBatch, "requests", schema.RankRequest, most)
        results = await self._answer_many("rank", given, self._pending_rank, arrived)
        return {"results": [_problem(one) or decided(one) for one in results]}

    async def feedback_batch(self, body: bytes, arrived: float) -> dict[str, Any]:
        """POST /v1/feedback/batch."""
        self._check_wait(arrived)
        most = self.engine.settings.limits.batch
        given = read_batch(body, schema.FeedbackBatch, "feedback", schema.FeedbackRequest, most)
        results = await self._answer_many("feedback", given, _pending_feedback, arrived)
        return {"results": [_problem(one) or accepted(one) for one in results]}

    async def add_labels(self, body: bytes) -> dict[str, Any]:
        """POST /v1/labels."""
        return await self._change_labels(LabelChange(0.0, add=read_body(body, schema.Added).labels))

    async def retire_labels(self, body: bytes) -> dict[str, Any]:
        """DELETE /v1/labels."""
        return await self._change_labels(
            LabelChange(0.0, retire=read_body(body, schema.Retired).labels)
        )

    async def _change_labels(self, change: LabelChange) -> dict[str, Any]:
        """All labels, once the change has taken effect."""
        async with self._one_label_change:
            await self._answer(lambda answer: self._submit([PendingLabelChange(change, answer)]))
        return self.labels()

    def labels(self) -> dict[str, Any]:
        """GET /v1/labels."""
        return {"labels": self.engine.learner.labels}

    async def snapshot(self) -> dict[str, Any]:
        """POST /v1/snapshot."""
        if not self.engine.learning.alive:
            raise ServiceUnavailable("learning has stopped")
        return {"position": await self._store_answer(self.engine.learning.snapshot())}

    async def erase(
        self, ids: Sequence[str] = (), subjects: Sequence[str] = (), *, dry_run: bool = False
    ) -> dict[str, Any]:
        """DELETE /v1/events and POST /v1/events/erase, by ids or by subjects of requests."""
        if not ids and not subjects:
            raise InputError("ids and subjects are both empty: say what to erase")
        return dict(await self._store_answer(self.engine.erase(ids, subjects, dry_run)))

    async def replace_learner(self, content: bytes, after: int | None) -> dict[str, Any]:
        """POST /v1/learner."""
        return dict(await self._store_answer(self.engine.replace_learner(content, after)))

    # -- requests ------------------------------------------------------------------------------

    def _pending_rank(self, given: schema.RankRequest, answer: Any) -> PendingRank:
        limits = self.engine.settings.limits
        if given.slots is not None and given.slots > limits.slots:
            raise InputError(f"slots = {given.slots}, but at most {limits.slots} can be had")
        for what, labels in (("candidates", given.candidates), ("exclude", given.exclude)):
            if labels is not None and len(labels) > limits.labels:
                raise InputError(f"{what} has more than {limits.labels} labels")
        return self.engine.pending_rank(
            given.context,
            given.slots,
            given.candidates,
            given.exclude,
            given.id,
            answer,
            given.subject,
        )

    def _check_wait(self, arrived: float) -> None:
        """Refuse a request that has waited for too long, before any work is done for it."""
        if time.perf_counter() - arrived > self.engine.settings.timeouts.queue:
            raise ServiceUnavailable(WAITED_TOO_LONG)

    def _submit(self, requests: Sequence[Pending], arrived: float = math.inf) -> None:
        """Hand requests in; the engine is woken up once for all that the event loop has read now.

        Woken up by the first of them, it would answer that one alone, and let the others wait.
        """
        self.engine.submit(requests, arrived=arrived, wake=False)
        if not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_soon(self._wake)

    def _wake(self) -> None:
        self._waking = False
        self.engine.queue.wake()

    # -- answers -------------------------------------------------------------------------------

    async def _answer(self, submit: Callable[[Future], None]) -> Any:
        """The engine's answer to the request that is handed in for a future."""
        answer: Future = asyncio.get_running_loop().create_future()
        submit(answer)
        return await answer

    async def _answer_many(
        self, what: str, given: Iterable[Any], make: Callable[..., Pending], arrived: float
    ) -> list[Any]:
        """The engine's answers to many requests; an exception for each that has none."""
        results: list[Any] = []  # futures, or why there is none
        pending: list[Pending] = []
        for i, one in enumerate(given, 1):
            if i % YIELD_EVERY == 0:  # contexts with names may take long
                await asyncio.sleep(0)
            answer: Future = asyncio.get_running_loop().create_future()
            try:
                if isinstance(one, InputError):
                    raise one
                pending.append(make(one, answer))
                results.append(answer)
            except InputError as why:
                results.append(why)
        if pending:
            self._submit(pending, arrived)
        waiting = [one for one in results if isinstance(one, asyncio.Future)]
        answers = iter(await asyncio.gather(*waiting, return_exceptions=True))
        results = [next(answers) if isinstance(one, asyncio.Future) else one for one in results]
        statuses = (status_of(one) if isinstance(one, BaseException) else 200 for one in results)
        self.metrics.count_items(what, statuses)
        return results

    async def _store_answer(self, future: ThreadFuture[Any]) -> Any:
        """What a thread of the engine answers; the store's own error text is not for clients."""
        try:
            return await asyncio.wrap_future(future)
        except StoreError:
            raise StoreError(STORE_AWAY) from None


def _pending_feedback(given: schema.FeedbackRequest, answer: AnswerFuture) -> PendingFeedback:
    examined = None if isinstance(given.examined, str) else given.examined
    feedback = Feedback(given.id, 0.0, given.clicked, examined)
    return PendingFeedback(feedback, answer, up_to_last_click=isinstance(given.examined, str))


def decided(decision: Decision | Unlogged) -> dict[str, Any]:
    """What is answered to a request to rank."""
    if isinstance(decision, Unlogged):
        return decided(decision.decision) | {"id": None, "dry_run": True}
    slate = decision.slate()
    for position, shown in enumerate(slate, 1):
        shown["position"] = position
    found = {"id": decision.id, "slate": slate, "version": decision.version}
    if decision.slate_propensity is not None:
        found["propensity"] = decision.slate_propensity
    return found


def accepted(feedback: Feedback) -> dict[str, Any]:
    """What is answered to feedback."""
    return {"id": feedback.id, "status": "accepted"}


def _problem(result: Any) -> dict[str, Any] | None:
    """What a batch says of a request that failed; None if it did not."""
    if isinstance(result, BaseException):
        status, detail = status_and_detail(result)
        return {"status": status, "detail": detail}
    return None
