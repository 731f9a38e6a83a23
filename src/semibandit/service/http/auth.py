"""The door: who may come in, and how much they may bring. Before anything is parsed."""

from __future__ import annotations

import hmac

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from semibandit.service.http.fast_path import reply
from semibandit.service.settings import Settings

__all__ = ["Door"]

OPEN = (  # they hold no data
    "/healthz", "/", "/page.css", "/page.js",
    "/openapi.json", "/docs", "/docs/swagger.js", "/docs/swagger.css",
)  # fmt: skip


class Door:
    """Checks the key (in constant time) and the size of every request."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.most = app, settings.limits.body
        self._too_large = f"the body may have at most {self.most} bytes"
        self.api_key, self.read_key = (
            None if key is None else key.encode() for key in (settings.api_key, settings.read_key)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refused = self._refuse(scope, headers)
        if refused is not None:
            await reply(send, refused[0], {"detail": refused[1]})
            return
        if scope["method"] not in ("GET", "HEAD") and scope["path"] != "/snapshot":
            kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
            if kind != b"application/json":  # nor may a page elsewhere send it without asking
                await reply(send, 415, {"detail": "the body must be application/json"})
                return
        size = headers.get(b"content-length")
        if size is not None:
            if not size.isdigit() or int(size) > self.most:
                await reply(send, 413, {"detail": self._too_large})
                return
            await self.app(scope, receive, send)  # the server lets no more through than it says
            return
        await self.app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        """For a body whose length nobody said."""
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.most:
                raise HTTPException(413, self._too_large)
            return message

        return counted

    def _refuse(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        if self.api_key is None or scope["path"] in OPEN:
            return None
        scheme, _, key = headers.get(b"authorization", b"").partition(b" ")
        key = key.strip() if scheme.lower() == b"bearer" else b""
        writes = hmac.compare_digest(key, self.api_key)
        reads = self.read_key is not None and hmac.compare_digest(key, self.read_key)
        if writes or (reads and scope["method"] in ("GET", "HEAD")):
            return None
        if reads:
            return 403, "this key is for reading only"
        return 401, "a key is needed: Authorization: Bearer KEY"
