"""Who may ask, and how large a request may be: checked before anything is parsed."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from semibandit.service.http.cross_site import is_cross_site
from semibandit.service.http.dry_run import is_dry_run
from semibandit.service.http.hosts import AllowedHosts
from semibandit.service.http.query import read_query
from semibandit.service.http.routes import Route
from semibandit.service.keys import Keys
from semibandit.service.settings import Limits

__all__ = ["AuthMiddleware", "key_of"]

READS, CHANGES = ("GET", "HEAD"), ("POST", "DELETE")
ONCE = (b"host", b"authorization", b"content-type", b"origin", b"sec-fetch-site")  # what decides
OTHER_HOST = (
    "this service does not answer under the name that the Host header has; "
    "start it with --allow-host NAME if it should"
)
OTHER_SITE = "a page of another site sent this request; only pages of this service may"


class AuthMiddleware:
    """Checks the host, the origin, the key (in constant time), the type and size of a request."""

    def __init__(self, app: ASGIApp, limits: Limits, keys: Keys, hosts: AllowedHosts) -> None:
        self._app, self._limits, self._keys, self._hosts = app, limits, keys, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self.check(scope)
        if b"content-length" not in scope["semibandit.headers"]:
            receive = _counted(receive, self._most(scope["semibandit.route"]))
        await self._app(scope, receive, send)  # the server lets no more through than it says

    def check(self, scope: Scope, body: bytes = b"") -> None:
        """Raise an `HTTPException` if a request may not be answered, by its headers and by as much
        of its body as is there."""
        headers: dict[bytes, bytes] = scope["semibandit.headers"]
        route: Route = scope["semibandit.route"]
        if len(headers) < len(scope["headers"]):
            _check_repeated([name for name, _ in scope["headers"]])
        host = headers.get(b"host")
        if host is None:
            raise HTTPException(400, "the request has no Host header")
        if not self._hosts.allows(host):
            raise HTTPException(421, OTHER_HOST)
        method = scope["method"]
        if method not in READS and is_cross_site(headers):
            raise HTTPException(403, OTHER_SITE)
        if self._keys.needed and not route.open:
            self._check_key(scope, headers, route)
        if route.body is not None and method in CHANGES:
            kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
            if kind != route.body:
                raise HTTPException(415, f"the body must be {route.body.decode()}")
        if scope["query_string"] and method in CHANGES and route.name != "other":
            read_query(scope["query_string"], route.query)
        size, most = headers.get(b"content-length", b"0"), self._most(route)
        if not size.isdigit() or int(size) > most or len(body) > most:
            raise _too_large(most)

    def _most(self, route: Route) -> int:
        return self._limits.learner if route.name == "learner" else self._limits.body

    def _check_key(self, scope: Scope, headers: dict[bytes, bytes], route: Route) -> None:
        key = key_of(headers)
        writes, reads = self._keys.may_write(key), self._keys.may_read(key)
        scope["may_write"] = writes  # for the page
        if writes:
            return
        if not reads:
            raise HTTPException(401, "a key is needed: Authorization: Bearer KEY")
        dry = route.name == "rank" and is_dry_run(scope["query_string"])
        if scope["method"] not in READS and not dry:
            raise HTTPException(403, "this key is for reading only")


def key_of(headers: Mapping[bytes, bytes]) -> bytes:
    """The key that a request has; empty if it has none."""
    scheme, _, key = headers.get(b"authorization", b"").partition(b" ")
    return key.strip() if scheme.lower() == b"bearer" else b""


def _check_repeated(names: list[bytes]) -> None:
    """Refuse two of a header of which this service would take one, and a proxy the other."""
    for name in ONCE:
        if names.count(name) > 1:
            raise HTTPException(400, f"the request has two {name.decode()} headers")


def _counted(receive: Receive, most: int) -> Receive:
    """For a body whose length is not known beforehand."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise _too_large(most)
        return message

    return counted


def _too_large(most: int) -> HTTPException:
    return HTTPException(413, f"the body may have at most {most} bytes")
