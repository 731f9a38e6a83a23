"""The short way for what is asked most: /rank and /feedback without the framework's detours.

A FastAPI route costs more than a decision. These two paths are routes like any other, so that they
are in the API's description; but requests for them are answered here, by the same functions.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from semibandit._util.json import to_json
from semibandit.service.engine.requests import Refused

__all__ = ["Answers", "BROKEN", "Lane", "reply"]

log = logging.getLogger("semibandit")
Answers: TypeAlias = Callable[[bytes], Awaitable[Any]]  # of a body, as what JSON can hold
BROKEN = "something went wrong in the service; its log says what"


class Lane:
    """POST requests for `paths` are answered by these functions, all else by the app."""

    def __init__(self, app: ASGIApp, paths: Mapping[str, Answers]) -> None:
        self.app, self.paths = app, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answers = self.paths.get(scope["path"]) if scope["type"] == "http" else None
        if answers is None or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        try:
            body = await _body(receive)
            if body is not None:
                await reply(send, 200, await answers(body))
        except Refused as why:
            await reply(send, why.status, {"detail": why.why})
        except HTTPException as why:
            await reply(send, why.status_code, {"detail": why.detail})
        except Exception:
            log.exception("a request failed")
            await reply(send, 500, {"detail": BROKEN})


async def reply(send: Send, status: int, content: Any) -> None:
    """Answer with JSON."""
    body = to_json(content)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if status == 503:
        headers.append((b"retry-after", b"1"))
    elif status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    elif status == 413:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _body(receive: Receive) -> bytes | None:
    """All of it; None if the client has gone."""
    message = await receive()
    body: bytes = message.get("body", b"")
    while message["type"] == "http.request" and message.get("more_body"):
        message = await receive()
        body += message.get("body", b"")
    return None if message["type"] == "http.disconnect" else body
