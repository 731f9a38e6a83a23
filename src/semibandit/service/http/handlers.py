"""Handlers: bodies in, requests to the engine, and what comes back as JSON can hold it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from semibandit.errors import InputError
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.requests import (
    Pending,
    PendingFeedback,
    PendingLabelChange,
    PendingRank,
)
from semibandit.service.http import schema
from semibandit.service.http.errors import describe_mistakes, status_and_detail, status_of
from semibandit.service.http.metrics import Metrics
from semibandit.store.event import Decision, Feedback, LabelChange

__all__ = ["Handlers"]

Body = TypeVar("Body", bound=BaseModel)
Future = asyncio.Future[Any]


class Handlers:
    """Gives requests to the engine, and turns what comes back into content for JSON."""

    def __init__(self, engine: Engine, metrics: Metrics) -> None:
        self.engine, self.metrics = engine, metrics
        self._one_label_change = asyncio.Lock()

    async def rank(self, body: bytes) -> dict[str, Any]:
        """POST /rank."""
        return _decided(await self._answer("rank", body, self._read_rank))

    async def feedback(self, body: bytes) -> dict[str, Any]:
        """POST /feedback."""
        return _accepted(await self._answer("feedback", body, self._read_feedback))

    async def rank_batch(self, given: schema.RankBatch) -> dict[str, Any]:
        """POST /rank/batch."""
        results = await self._answer_many("rank", given.requests, self._pending_rank)
        return {"results": [_problem(one) or _decided(one) for one in results]}

    async def feedback_batch(self, given: schema.FeedbackBatch) -> dict[str, Any]:
        """POST /feedback/batch."""
        results = await self._answer_many("feedback", given.feedback, self._pending_feedback)
        return {"results": [_problem(one) or _accepted(one) for one in results]}

    async def change_labels(self, change: LabelChange) -> dict[str, Any]:
        """POST and DELETE /labels: all labels, once the change has taken effect."""
        async with self._one_label_change:
            await self._answer("labels", change, PendingLabelChange)
        return self.labels()

    def labels(self) -> dict[str, Any]:
        """GET /labels."""
        return {"labels": self.engine.learner.labels}

    # -- bodies --------------------------------------------------------------------------------

    def _read_rank(self, body: bytes, answer: Future) -> PendingRank:
        return self._pending_rank(_read(body, schema.RankRequest), answer)

    def _read_feedback(self, body: bytes, answer: Future) -> PendingFeedback:
        return self._pending_feedback(_read(body, schema.FeedbackRequest), answer)

    def _pending_rank(self, given: schema.RankRequest, answer: Future) -> PendingRank:
        limits = self.engine.settings.limits
        if given.slots is not None and given.slots > limits.slots:
            raise InputError(f"slots = {given.slots}, but at most {limits.slots} can be had")
        for what, labels in (("candidates", given.candidates), ("exclude", given.exclude)):
            if labels is not None and len(labels) > limits.labels:
                raise InputError(f"{what} has more than {limits.labels} labels")
        return self.engine.pending_rank(
            given.context, given.slots, given.candidates, given.exclude, given.id, answer
        )

    def _pending_feedback(self, given: schema.FeedbackRequest, answer: Future) -> PendingFeedback:
        return PendingFeedback(Feedback(given.id, 0.0, given.clicked, given.examined), answer)

    # -- answers -------------------------------------------------------------------------------

    async def _answer(self, what: str, given: Any, make: Callable[..., Pending]) -> Any:
        """The engine's answer to one request."""
        start, status = time.perf_counter(), 500
        try:
            answer: Future = asyncio.get_running_loop().create_future()
            self.engine.submit([make(given, answer)])
            result = await answer
            status = 200
            return result
        except Exception as why:
            status = status_of(why)
            raise
        finally:
            self.metrics.count_request(what, status, time.perf_counter() - start)

    async def _answer_many(
        self, what: str, given: Sequence[Any], make: Callable[..., Pending]
    ) -> list[Any]:
        """The engine's answers to many requests; an exception for each that has none."""
        start, most = time.perf_counter(), self.engine.settings.limits.batch
        if len(given) > most:
            raise InputError(f"{len(given)} in one batch, but at most {most} can be had")
        results: list[Any] = []  # futures, or why there is none
        pending: list[Pending] = []
        for one in given:
            answer: Future = asyncio.get_running_loop().create_future()
            try:
                pending.append(make(one, answer))
                results.append(answer)
            except InputError as why:
                results.append(why)
        if pending:
            self.engine.submit(pending)
        waiting = [one for one in results if isinstance(one, asyncio.Future)]
        answers = iter(await asyncio.gather(*waiting, return_exceptions=True))
        results = [next(answers) if isinstance(one, asyncio.Future) else one for one in results]
        seconds = time.perf_counter() - start
        for one in results:
            status = status_of(one) if isinstance(one, BaseException) else 200
            self.metrics.count_request(what, status, seconds)
        return results


def _decided(decision: Decision) -> dict[str, Any]:
    """What is answered to a request to rank."""
    slate = decision.slate()
    for position, shown in enumerate(slate, 1):
        shown["position"] = position
    return {"id": decision.id, "slate": slate, "version": decision.version}


def _accepted(feedback: Feedback) -> dict[str, Any]:
    """What is answered to feedback."""
    return {"id": feedback.id, "status": "accepted"}


def _problem(result: Any) -> dict[str, Any] | None:
    """What a batch says of a request that failed; None if it did not."""
    if isinstance(result, BaseException):
        status, detail = status_and_detail(result)
        return {"status": status, "detail": detail}
    return None


def _read(body: bytes, model: type[Body]) -> Body:
    """The body, read by pydantic at once: by way of json and dicts it takes four times as long."""
    try:
        return model.model_validate_json(body)
    except ValidationError as why:
        raise InputError(describe_mistakes(why.errors(include_url=False))) from None
