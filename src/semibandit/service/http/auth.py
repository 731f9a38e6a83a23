"""Who may ask, and how large a request may be: checked before anything is parsed."""

from __future__ import annotations

import hmac

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from semibandit.service.settings import Settings

__all__ = ["AuthMiddleware"]

OPEN = (  # they hold no data
    "/healthz", "/", "/page.css", "/page.js",
    "/openapi.json", "/docs", "/docs/swagger.js", "/docs/swagger.css",
)  # fmt: skip


class AuthMiddleware:
    """Checks the key (in constant time), the type and the size of every request."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._most = app, settings.limits.body
        self._too_large = f"the body may have at most {self._most} bytes"
        self._api_key, self._read_key = (
            None if key is None else key.encode() for key in (settings.api_key, settings.read_key)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        self._check_key(scope, headers)
        if scope["method"] not in ("GET", "HEAD") and scope["path"] != "/snapshot":
            kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
            if kind != b"application/json":  # nor may a page elsewhere send it without asking
                raise HTTPException(415, "the body must be application/json")
        size = headers.get(b"content-length")
        if size is None:
            await self._app(scope, self._counted(receive), send)
            return
        if not size.isdigit() or int(size) > self._most:
            raise HTTPException(413, self._too_large)
        await self._app(scope, receive, send)  # the server lets no more through than it says

    def _check_key(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        if self._api_key is None or scope["path"] in OPEN:
            return
        scheme, _, key = headers.get(b"authorization", b"").partition(b" ")
        key = key.strip() if scheme.lower() == b"bearer" else b""
        writes = hmac.compare_digest(key, self._api_key)
        reads = self._read_key is not None and hmac.compare_digest(key, self._read_key)
        if writes or (reads and scope["method"] in ("GET", "HEAD")):
            return
        if reads:
            raise HTTPException(403, "this key is for reading only")
        raise HTTPException(401, "a key is needed: Authorization: Bearer KEY")

    def _counted(self, receive: Receive) -> Receive:
        """For a body whose length is not known beforehand."""
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most:
                raise HTTPException(413, self._too_large)
            return message

        return counted
