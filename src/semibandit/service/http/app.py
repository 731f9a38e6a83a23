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

from semibandit._util.version import __version__
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.requests import Reply, set_results
from semibandit.service.http import schema
from semibandit.service.http.auth import AuthMiddleware
from semibandit.service.http.direct_path import DirectHandler, DirectPath
from semibandit.service.http.errors import ErrorMiddleware, error_response
from semibandit.service.http.extra_pages import ExtraPages
from semibandit.service.http.fast_path import FastPath, PostEndpoint, RankEndpoint
from semibandit.service.http.handlers import Handlers, accepted, decided
from semibandit.service.http.health import add_health
from semibandit.service.http.hosts import AllowedHosts
from semibandit.service.http.maintenance import add_maintenance
from semibandit.service.http.metrics import Metrics
from semibandit.service.http.middleware import RequestMiddleware
from semibandit.service.http.openapi import add_description, problems, takes_body
from semibandit.service.http.pages import add_docs, add_page
from semibandit.service.http.responses import JsonResponse
from semibandit.service.http.routes import ROUTES, V1
from semibandit.service.http.watching import add_watching
from semibandit.service.keys import Keys

__all__ = ["create_app"]


def create_app(
    engine: Engine, keys: Keys | None = None, hosts: AllowedHosts | None = None,
    extra: ExtraPages | None = None,
) -> RequestMiddleware:  # fmt: skip
    """Make the HTTP application around an engine.

    Parameters
    ----------
    engine : Engine
        Answers the requests. It starts and stops with the application.
    keys : Keys, optional
        The keys that are valid; by default those of the engine's settings.
    hosts : AllowedHosts, optional
        The names that it answers under; by default those of loopback and of the settings.
    extra : ExtraPages, optional
        Pages that are served beside the service's own.

    Returns
    -------
    ASGI application
        For uvicorn, or any other server that runs its lifespan.
    """
    settings = engine.settings
    keys = Keys(settings) if keys is None else keys
    hosts = AllowedHosts(settings.allow_hosts) if hosts is None else hosts
    app = FastAPI(
        title="semibandit",
        version=__version__,
        description="Which items to show, in which order and how many, learned from feedback on "
        "what was shown.",
        lifespan=_lifespan_of(engine),
        openapi_url=None,  # `add_description` serves it
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would go wherever the Host header says
    )
    metrics = Metrics(engine)
    handlers = Handlers(engine, metrics)
    endpoints = _endpoints(handlers)
    for path, endpoint in endpoints.items():
        app.router.routes.append(Route(path, endpoint, methods=["POST"]))  # other methods: 405
    _add_labels(app, handlers)
    add_watching(app, engine, metrics)
    add_maintenance(app, handlers)
    add_health(app, engine, metrics)
    add_page(app)
    add_docs(app)
    extra = ExtraPages() if extra is None else extra
    extra.add_to(app)
    add_description(app, engine, keys)
    _add_errors(app)
    checked = AuthMiddleware(FastPath(app, endpoints), settings.limits, keys, hosts)
    count, access = metrics.count_request, settings.logs.access
    found = RequestMiddleware(checked, count, settings.root_path, access, ROUTES | extra.routes)
    direct = _direct(handlers, settings.root_path)
    found.direct_path = DirectPath(found, checked, direct, settings.timeouts.queue / 2)
    return found


def _direct(handlers: Handlers, root: str) -> dict[str, DirectHandler]:
    """What the direct path answers, by all paths that it can be asked for under."""
    known: dict[str, DirectHandler] = {
        "rank": (handlers.submit_rank, decided),
        "feedback": (handlers.submit_feedback, accepted),
    }
    return {
        prefix + path: known[route.name]
        for path, route in ROUTES.items()
        if route.name in known
        for prefix in ("", root)
    }


def _endpoints(handlers: Handlers) -> dict[str, PostEndpoint]:
    return {
        f"{V1}/rank": RankEndpoint(handlers.rank, handlers.dry_run),
        f"{V1}/feedback": PostEndpoint(handlers.feedback),
        f"{V1}/rank/batch": PostEndpoint(handlers.rank_batch),
        f"{V1}/feedback/batch": PostEndpoint(handlers.feedback_batch),
    }


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


def _add_labels(app: FastAPI, handlers: Handlers) -> None:
    path = f"{V1}/labels"
    common: dict[str, Any] = {"response_model": schema.LabelList, "tags": ["labels"]}
    only_key = problems(401, always=False)

    def takes(body: type) -> dict[str, Any]:
        return common | {"openapi_extra": {"requestBody": takes_body(body)}}

    @app.get(path, operation_id="labels", responses=only_key, **common)
    async def labels() -> Response:
        """The labels that can be shown."""
        return JsonResponse(handlers.labels())

    @app.post(path, operation_id="add_labels", responses=problems(409), **takes(schema.Added))
    async def add_labels(request: Request) -> Response:
        """Add labels; answered once they can be shown. What was learned of the others stays."""
        return JsonResponse(await handlers.add_labels(await request.body()))

    @app.delete(
        path, operation_id="retire_labels", responses=problems(404), **takes(schema.Retired)
    )
    async def retire_labels(request: Request) -> Response:
        """Never show these labels again; answered once that is so."""
        return JsonResponse(await handlers.retire_labels(await request.body()))
