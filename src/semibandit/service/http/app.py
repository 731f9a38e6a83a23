"""The HTTP side: FastAPI in front of the engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from semibandit._util.json import to_json
from semibandit.errors import StoreError
from semibandit.policies.labels import Label
from semibandit.policies.persistence import config_of
from semibandit.service.engine.engine import Engine, settle
from semibandit.service.engine.requests import Change, Refused, Reply
from semibandit.service.http import schema
from semibandit.service.http.auth import Door
from semibandit.service.http.fast_path import BROKEN, Lane
from semibandit.service.http.handlers import Desk, all_said, decided, problem
from semibandit.service.http.metrics import Metrics
from semibandit.service.http.pages import add_docs, add_page
from semibandit.store.event import LabelChange

__all__ = ["create_app"]

WRONG = {
    400: "The body is no JSON.",
    401: "A key is needed.",
    403: "This key is for reading only.",
    413: "The body is too large.",
    415: "The body must be application/json.",
    422: "Something in the request is wrong; the answer says what.",
    503: "Too much is waiting, or the store is away: try again after Retry-After seconds.",
}


def create_app(engine: Engine) -> ASGIApp:
    """The service around an engine, which starts and stops with it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()

        def deliver(replies: list[Reply]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, replies)

        engine.deliver = deliver
        engine.start()
        yield
        await asyncio.to_thread(engine.stop)

    app = FastAPI(
        title="semibandit",
        version=metadata.version("semibandit"),
        description="Which items to show, in which order and how many, learned from feedback on "
        "what was shown.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    metrics = Metrics(engine)
    desk = Desk(engine, metrics)
    _add_errors(app)
    _add_decisions(app, desk)
    _add_labels(app, desk)
    _add_watching(app, desk, metrics)
    add_page(app)
    add_docs(app, engine)
    lane = Lane(app, {"/rank": desk.rank, "/feedback": desk.feedback})
    return Door(lane, engine.settings)


def _takes(model: str) -> dict[str, Any]:
    """What OpenAPI says of a body that `_read` reads."""
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{model}"}}}
    return {"requestBody": {"required": True, "content": content}}


def _responses(*more: int) -> dict[int | str, dict[str, Any]]:
    texts = WRONG | {
        404: "There is no such decision, or no such label.",
        409: "It was said otherwise before.",
    }
    return {code: {"model": schema.Problem, "description": texts[code]} for code in (*WRONG, *more)}


def _add_decisions(app: FastAPI, desk: Desk) -> None:
    rank_again, both = _responses(409), _responses(404, 409)

    @app.post(
        "/rank",
        response_model=schema.Decided,
        responses=rank_again,
        tags=["decide"],
        openapi_extra=_takes("RankRequest"),
    )
    async def rank(request: Request) -> Response:
        """Which labels to show for this context, in which order and how many."""
        return _json(await desk.rank(await request.body()))

    @app.post(
        "/feedback",
        response_model=schema.Accepted,
        responses=both,
        tags=["learn"],
        openapi_extra=_takes("FeedbackRequest"),
    )
    async def feedback(request: Request) -> Response:
        """What was clicked. It may come late, in any order, and again."""
        return _json(await desk.feedback(await request.body()))

    @app.post(
        "/rank/batch", response_model=schema.RankResults, responses=_responses(), tags=["decide"]
    )
    async def rank_batch(asked: schema.RankBatch) -> Response:
        """Many decisions in one request; a problem with one is no problem of the others."""
        results = await desk.many("rank", asked.requests, desk.rank_job)
        return _json({"results": [problem(r) or decided(r) for r in results]})

    @app.post(
        "/feedback/batch",
        response_model=schema.FeedbackResults,
        responses=_responses(),
        tags=["learn"],
    )
    async def feedback_batch(told: schema.FeedbackBatch) -> Response:
        """Feedback to many decisions in one request, learned in this order."""
        results = await desk.many("feedback", told.feedback, desk.give_job)
        return _json(
            {"results": [problem(r) or {"id": r.id, "status": "accepted"} for r in results]}
        )


def _add_labels(app: FastAPI, desk: Desk) -> None:
    engine = desk.engine

    async def change(add: list[Label] | int | None, retire: list[Label] | None) -> Response:
        async with desk.changing:
            await desk.one(
                "labels", LabelChange(0.0, add, retire), lambda what, answer: Change(what, answer)
            )
        return _json({"labels": engine.learner.labels})

    @app.get("/labels", response_model=schema.LabelList, responses=_only(401), tags=["labels"])
    async def labels() -> Response:
        """The labels that can be shown."""
        return _json({"labels": engine.learner.labels})

    @app.post(
        "/labels", response_model=schema.LabelList, responses=_responses(409), tags=["labels"]
    )
    async def add_labels(given: schema.Added) -> Response:
        """Add labels; answered once they can be shown. What was learned of the others stays."""
        return await change(given.labels, None)

    @app.delete(
        "/labels", response_model=schema.LabelList, responses=_responses(404), tags=["labels"]
    )
    async def retire_labels(given: schema.Retired) -> Response:
        """Never show these labels again; answered once that is so."""
        return await change(None, given.labels)


def _add_watching(app: FastAPI, desk: Desk, metrics: Metrics) -> None:
    engine = desk.engine

    @app.get("/state", responses=_only(401), tags=["watch"])
    async def state() -> dict[str, Any]:
        """What the learner is, what it has learned, and what happened in the last hour."""
        return _state(engine)

    @app.get("/metrics", responses=_only(401), tags=["watch"], response_class=Response)
    async def prometheus() -> Response:
        """The same for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/healthz", responses=_only(503), tags=["watch"])
    async def healthz() -> Response:
        """200 if it can decide and learn, 503 if not."""
        if engine.healthy:
            return _json({"status": "ok"})
        what = "the store is away" if engine.down else "it does not learn any more"
        return _json({"detail": what}, 503)

    @app.post("/snapshot", response_model=schema.Snapshot, responses=_responses(), tags=["watch"])
    async def snapshot() -> Response:
        """Write a snapshot of the learner now: the next start is quicker."""
        if not engine.learning.alive:
            raise Refused(503, "learning has stopped")
        future: Future[int] = engine.learning.snapshot()
        try:
            return _json({"position": await asyncio.wrap_future(future)})
        except StoreError:
            raise Refused(503, "the store cannot be written at the moment") from None


def _state(engine: Engine) -> dict[str, Any]:
    learner = engine.learner
    header, limits = config_of(learner), engine.settings.limits
    return {
        "learner": header["learner"],
        "settings": header["settings"] | header["common"],
        "n_features": learner.n_features,
        "feature_names": engine.feature_names,
        "n_labels": learner.n_labels,
        "version": learner.t,
        "position": engine.store.last,
        "learned": engine.learning.position,
        "snapshot": engine.learning.snapshot_at,
        "backlog": engine.learning.backlog,
        "waiting": engine.waiting,
        "healthy": engine.healthy,
        "wait": engine.settings.wait,
        "limits": {"slots": limits.slots, "batch": limits.batch, "body": limits.body},
        **engine.tally.summary(),
    }


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(Refused)
    async def refused(request: Request, why: Refused) -> Response:
        return _json({"detail": why.why}, why.status)

    @app.exception_handler(HTTPException)
    async def wrong(request: Request, why: HTTPException) -> Response:
        return _json({"detail": str(why.detail)}, why.status_code, why.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, why: RequestValidationError) -> Response:
        return _json({"detail": all_said(why.errors())}, 422)

    @app.exception_handler(Exception)
    async def broken(request: Request, why: Exception) -> Response:
        return _json({"detail": BROKEN}, 500)


def _only(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {code: {"model": schema.Problem, "description": WRONG[code]} for code in codes}


def _json(content: Any, status: int = 200, headers: Any = None) -> Response:
    more = dict(headers or {})
    if status == 503:
        more["Retry-After"] = "1"
    return Response(to_json(content), status, more, "application/json")
