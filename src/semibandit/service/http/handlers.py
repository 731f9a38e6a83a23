"""The desk: bodies in, jobs to the engine, and what comes back as JSON can hold it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from semibandit.service.engine.engine import Engine
from semibandit.service.engine.requests import Give, Job, Rank, Refused
from semibandit.service.http import schema
from semibandit.service.http.metrics import Metrics
from semibandit.store.event import Decision, Feedback

__all__ = ["Desk", "all_said", "decided", "problem"]

Body = TypeVar("Body", bound=BaseModel)


class Desk:
    """Hands jobs to the engine, and turns what comes back into HTTP."""

    def __init__(self, engine: Engine, metrics: Metrics) -> None:
        self.engine, self.metrics = engine, metrics
        self.changing = asyncio.Lock()  # one change of labels at a time

    def rank_job(self, asked: schema.RankRequest, answer: asyncio.Future[Any]) -> Rank:
        limits = self.engine.settings.limits
        if asked.slots is not None and asked.slots > limits.slots:
            raise Refused(422, f"slots = {asked.slots}, but at most {limits.slots} can be had")
        for what, labels in (("candidates", asked.candidates), ("exclude", asked.exclude)):
            if labels is not None and len(labels) > limits.labels:
                raise Refused(422, f"{what} has more than {limits.labels} labels")
        try:
            return self.engine.rank_job(
                asked.context, asked.slots, asked.candidates, asked.exclude, asked.id, answer
            )
        except ValueError as why:
            raise Refused(422, str(why)) from None

    def give_job(self, told: schema.FeedbackRequest, answer: asyncio.Future[Any]) -> Give:
        return Give(Feedback(told.id, 0.0, told.clicked, told.examined), answer)

    async def rank(self, body: bytes) -> dict[str, Any]:
        """The answer to POST /rank."""
        return decided(await self.one("rank", body, self._read_rank))

    async def feedback(self, body: bytes) -> dict[str, Any]:
        """The answer to POST /feedback."""
        found = await self.one("feedback", body, self._read_give)
        return {"id": found.id, "status": "accepted"}

    def _read_rank(self, body: bytes, answer: asyncio.Future[Any]) -> Rank:
        return self.rank_job(_read(body, schema.RankRequest), answer)

    def _read_give(self, body: bytes, answer: asyncio.Future[Any]) -> Give:
        return self.give_job(_read(body, schema.FeedbackRequest), answer)

    async def one(self, what: str, asked: Any, make: Callable[..., Job]) -> Any:
        """The answer to one job; Refused comes out as an HTTP error."""
        start, status = time.perf_counter(), 500
        try:
            answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self.engine.put([make(asked, answer)])
            result = await answer
            status = 200
            return result
        except Refused as why:
            status = why.status
            raise
        finally:
            self.metrics.answered(what, status, time.perf_counter() - start)

    async def many(self, what: str, asked: Sequence[Any], make: Callable[..., Job]) -> list[Any]:
        """The answers to many jobs, or for each why not."""
        start = time.perf_counter()
        most = self.engine.settings.limits.batch
        if len(asked) > most:
            raise Refused(422, f"{len(asked)} in one batch, but at most {most} can be had")
        loop = asyncio.get_running_loop()
        answers: list[asyncio.Future[Any]] = [loop.create_future() for _ in asked]
        jobs = []
        for one, answer in zip(asked, answers, strict=True):
            try:
                jobs.append(make(one, answer))
            except Refused as why:
                answer.set_exception(why)
        try:
            if jobs:
                self.engine.put(jobs)
        except Refused:
            for answer in answers:
                answer.cancel() if not answer.done() else answer.exception()
            raise
        results = await asyncio.gather(*answers, return_exceptions=True)
        seconds = time.perf_counter() - start
        for one in results:
            if isinstance(one, BaseException) and not isinstance(one, Refused):
                raise one
            self.metrics.answered(what, one.status if isinstance(one, Refused) else 200, seconds)
        return results


def decided(decision: Decision) -> dict[str, Any]:
    """The answer to a request to rank."""
    slate = zip(decision.labels, decision.prob, decision.estimate, decision.width, strict=True)
    return {
        "id": decision.id,
        "slate": [
            {"label": label, "position": i, "prob": prob, "estimate": estimate, "width": width}
            for i, (label, prob, estimate, width) in enumerate(slate, 1)
        ],
        "version": decision.version,
    }


def problem(result: Any) -> dict[str, Any] | None:
    """What a batch says of one that was refused; None if it was not."""
    if isinstance(result, Refused):
        return {"status": result.status, "detail": result.why}
    return None


def all_said(errors: Sequence[Any]) -> str:
    """What pydantic found wrong, in our words."""
    return "; ".join(_said(one) for one in errors[:5])


def _said(error: Any) -> str:
    """Where, what was given, and what was expected."""
    place = [p for p in error["loc"] if p not in ("body", "list", "names", "int", "str")]
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in place).lstrip(".")
    given = repr(error.get("input"))
    given = given if len(given) <= 60 else given[:57] + "..."
    if error["type"] == "missing":
        return f"{where or 'the body'} is missing"
    if error["type"] == "json_invalid":
        return "the body is no JSON"
    return f"{where or 'the body'} = {given}: {error['msg']}"


def _read(body: bytes, model: type[Body]) -> Body:
    """The body, read by pydantic at once: by way of json and dicts it takes four times as long."""
    try:
        return model.model_validate_json(body)
    except ValidationError as why:
        raise Refused(422, all_said(why.errors(include_url=False))) from None
