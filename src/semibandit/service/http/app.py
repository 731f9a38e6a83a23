"""The HTTP side: FastAPI in front of the engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp

from semibandit._util.version import __version__
from semibandit.errors import ServiceUnavailable, StoreError
from semibandit.policies.persistence import config_of
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.requests import Reply, set_results
from semibandit.service.http import schema
from semibandit.service.http.auth import AuthMiddleware
from semibandit.service.http.errors import ErrorMiddleware, error_response
from semibandit.service.http.fast_path import FastPath, PostEndpoint
from semibandit.service.http.handlers import Handlers
from semibandit.service.http.metrics import Metrics
from semibandit.service.http.openapi import describe_fast_path, problems
from semibandit.service.http.pages import add_docs, add_page
from semibandit.service.http.responses import JsonResponse
from semibandit.store.event import LabelChange

__all__ = ["create_app"]


def create_app(engine: Engine) -> ASGIApp:
    """Make the HTTP application around an engine.

    Parameters
    ----------
    engine : Engine
        Answers the requests. It starts and stops with the application.

    Returns
    -------
    ASGI application
        For uvicorn, or any other server that runs its lifespan.
    """
    app = FastAPI(
        title="semibandit",
        version=__version__,
        description="Which items to show, in which order and how many, learned from feedback on "
        "what was shown.",
        lifespan=_lifespan_of(engine),
        docs_url=None,
        redoc_url=None,
    )
    metrics = Metrics(engine)
    handlers = Handlers(engine, metrics)
    endpoints = {
        "/rank": PostEndpoint(handlers.rank),
        "/feedback": PostEndpoint(handlers.feedback),
    }
    for path, endpoint in endpoints.items():
        app.router.routes.append(Route(path, endpoint, methods=["POST"]))  # other methods: 405
    _add_batches(app, handlers)
    _add_labels(app, handlers)
    _add_watching(app, engine, metrics)
    add_page(app)
    add_docs(app)
    describe_fast_path(app, engine)
    _add_errors(app)
    return ErrorMiddleware(AuthMiddleware(FastPath(app, endpoints), engine.settings))


def _lifespan_of(engine: Engine) -> Any:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()

        def deliver(replies: list[Reply]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(set_results, replies)

        engine.start(deliver)
        yield
        await asyncio.to_thread(engine.stop)

    return lifespan


def _add_errors(app: FastAPI) -> None:
    """All errors are answered by `error_response`, also those that FastAPI has answers for."""

    async def answer(request: Request, error: Exception) -> Response:
        return error_response(error)

    app.add_exception_handler(HTTPException, answer)
    app.add_exception_handler(RequestValidationError, answer)
    app.add_middleware(ErrorMiddleware)  # inside of FastAPI's own, which would answer with text


def _add_batches(app: FastAPI, handlers: Handlers) -> None:
    @app.post(
        "/rank/batch", response_model=schema.RankResults, responses=problems(), tags=["decide"]
    )
    async def rank_batch(asked: schema.RankBatch) -> Response:
        """Many decisions in one request; a problem with one is no problem of the others."""
        return JsonResponse(await handlers.rank_batch(asked))

    @app.post(
        "/feedback/batch",
        response_model=schema.FeedbackResults,
        responses=problems(),
        tags=["learn"],
    )
    async def feedback_batch(told: schema.FeedbackBatch) -> Response:
        """Feedback to many decisions in one request, learned in this order."""
        return JsonResponse(await handlers.feedback_batch(told))


def _add_labels(app: FastAPI, handlers: Handlers) -> None:
    only_key = problems(401, always=False)

    @app.get("/labels", response_model=schema.LabelList, responses=only_key, tags=["labels"])
    async def labels() -> Response:
        """The labels that can be shown."""
        return JsonResponse(handlers.labels())

    @app.post("/labels", response_model=schema.LabelList, responses=problems(409), tags=["labels"])
    async def add_labels(given: schema.Added) -> Response:
        """Add labels; answered once they can be shown. What was learned of the others stays."""
        return JsonResponse(await handlers.change_labels(LabelChange(0.0, add=given.labels)))

    @app.delete(
        "/labels", response_model=schema.LabelList, responses=problems(404), tags=["labels"]
    )
    async def retire_labels(given: schema.Retired) -> Response:
        """Never show these labels again; answered once that is so."""
        return JsonResponse(await handlers.change_labels(LabelChange(0.0, retire=given.labels)))


def _add_watching(app: FastAPI, engine: Engine, metrics: Metrics) -> None:
    only_key = problems(401, always=False)

    @app.get("/state", responses=only_key, tags=["watch"])
    async def state() -> dict[str, Any]:
        """What the learner is, what it has learned, and what happened in the last hour."""
        return _state(engine)

    @app.get("/metrics", responses=only_key, tags=["watch"], response_class=Response)
    async def prometheus() -> Response:
        """The same for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/healthz", responses=problems(503, always=False), tags=["watch"])
    async def healthz() -> Response:
        """200 if it can decide and learn, 503 if not."""
        problem = engine.problem
        if problem is None:
            return JsonResponse({"status": "ok"})
        return JsonResponse({"detail": problem}, 503)

    @app.post("/snapshot", response_model=schema.Snapshot, responses=problems(), tags=["watch"])
    async def snapshot() -> Response:
        """Write a snapshot of the learner now: the next start is quicker."""
        if not engine.learning.alive:
            raise ServiceUnavailable("learning has stopped")
        try:
            position = await asyncio.wrap_future(engine.learning.snapshot())
        except StoreError:  # its text is not for clients
            raise StoreError("the store cannot be written at the moment") from None
        return JsonResponse({"position": position})


def _state(engine: Engine) -> dict[str, Any]:
    learner, learning = engine.learner, engine.learning
    header, limits = config_of(learner), engine.settings.limits
    features = engine.features
    names = [one["name"] for one in features or [] if one["name"] is not None]
    return {
        "learner": header["learner"],
        "settings": header["settings"] | header["common"],
        "n_features": learner.n_features,
        "features": features,
        "feature_names": names or None,
        "n_labels": learner.n_labels,
        "version": learner.t,
        "position": engine.store.last,
        "learned": learning.position,
        "snapshot": learning.snapshot_position,
        "backlog": learning.backlog,
        "waiting": engine.waiting,
        "healthy": engine.healthy,
        "wait": engine.settings.wait,
        "limits": {"slots": limits.slots, "batch": limits.batch, "body": limits.body},
        **engine.statistics.summary(),
    }
