"""The fast path: /v1/rank and /v1/feedback, and their batches, without the framework's detours.

A FastAPI route costs more than a decision. So these are plain endpoints, which read a body and
answer it; requests for them go there at once, past routing and FastAPI. Their description for
OpenAPI is in `openapi.py`.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from starlette.types import ASGIApp, Receive, Scope, Send

from semibandit.service.http.dry_run import is_dry_run
from semibandit.service.http.responses import JsonResponse

__all__ = ["FastPath", "PostEndpoint", "RankEndpoint"]

# of a body and when it had arrived, returns what JSON can hold
Handler: TypeAlias = Callable[[bytes, float], Awaitable[Any]]


class PostEndpoint:
    """An endpoint that gives the body of a request to a handler, and answers with its result."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _read_body(receive)
        if body is not None:
            arrived = scope.get("semibandit.arrived", math.inf)  # other servers do not say
            await JsonResponse(await self._handler(body, arrived))(scope, receive, send)


class RankEndpoint(PostEndpoint):
    """The same, with a second handler for dry runs."""

    def __init__(self, handler: Handler, dry_run: Handler) -> None:
        super().__init__(handler)
        self._dry_run = PostEndpoint(dry_run)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["query_string"] and is_dry_run(scope["query_string"]):
            scope["semibandit.name"] = "rank/dry_run"
            await self._dry_run(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class FastPath:
    """Sends POST requests for some paths to their endpoints, and all others to the app."""

    def __init__(self, app: ASGIApp, endpoints: Mapping[str, PostEndpoint]) -> None:
        self._app, self._endpoints = app, endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            await self._endpoints.get(scope["path"], self._app)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


async def _read_body(receive: Receive) -> bytes | None:
    """All of it; None if the client has gone."""
    message = await receive()
    body: bytes = message.get("body", b"")
    while message["type"] == "http.request" and message.get("more_body"):
        message = await receive()
        body += message.get("body", b"")
    return None if message["type"] == "http.disconnect" else body
