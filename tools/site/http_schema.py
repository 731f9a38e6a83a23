"""The service's own description of its API, asked for without starting a server."""

from __future__ import annotations

import asyncio
import json
import tempfile
from typing import Any

import semibandit as sb
from semibandit.service.engine.engine import Engine
from semibandit.service.http.app import create_app
from semibandit.service.settings import Settings
from semibandit.store.store import Store

__all__ = ["document"]

FEATURES = {
    "hour": "number",
    "device": "category",
    "tags": "set",
}  # as in the how-to
LABELS = ["sea", "city", "snow"]


def document() -> dict[str, Any]:
    """The OpenAPI document of a service that was just made and needs a key."""
    with tempfile.TemporaryDirectory() as folder:
        learner = sb.SlateUCB(sb.Features(**FEATURES), LABELS)
        with Store.create(folder, learner) as store:
            app = create_app(Engine(store, Settings(api_key="a-key")))
            return asyncio.run(_get(app, "/openapi.json"))


async def _get(app: Any, path: str) -> dict[str, Any]:
    """What an ASGI application answers to one who has its key."""
    body = bytearray()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        body.extend(message.get("body", b""))

    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "scheme": "http",
        "query_string": b"", "http_version": "1.1",
        "headers": [(b"host", b"localhost"), (b"authorization", b"Bearer a-key")],
    }  # fmt: skip
    await app(scope, receive, send)
    return json.loads(body)
