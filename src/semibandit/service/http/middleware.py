"""What every request goes through first and last: its id, its time, its count, its errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from semibandit.service.http.access_log import log_access
from semibandit.service.http.errors import error_response
from semibandit.service.http.request_ids import request_id
from semibandit.service.http.routes import ROUTES, Route, find_route
from semibandit.service.logs import REQUEST_ID

if TYPE_CHECKING:
    from semibandit.service.http.direct_path import DirectPath

__all__ = ["Count", "Exchange", "RequestMiddleware"]

Count: TypeAlias = Callable[[str, int, float], object]  # of a route's name, status and seconds
GONE = 499  # the client closed the connection before there was an answer


class RequestMiddleware:
    """Finds a request's route, and counts, times and logs its answer, whatever that is.

    Parameters
    ----------
    app : ASGI application
        What answers. Paths without a version reach it as those of /v1; an exception that it raises
        is answered by `error_response`.
    count : function
        Called with the route's name, the status and the seconds of every request.
    root_path : str
        A prefix of paths to take away, for a proxy that leaves it there.
    access_log : bool
        Whether to write a line for every request.
    routes : mapping
        The routes by their paths.
    """

    def __init__(
        self, app: ASGIApp, count: Count, root_path: str = "", access_log: bool = False,
        routes: Mapping[str, Route] = ROUTES,
    ) -> None:  # fmt: skip
        self.direct_path: DirectPath | None = None  # for a server that can ask there
        self.count, self._routes = count, routes
        self._app, self._root, self._access_log = app, root_path, access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = self.begin(scope)
        REQUEST_ID.set(exchange.id)  # this task handles no other request
        answer = _Answer(send, exchange.headers)
        try:
            if self._root and scope["path"] == self._root:  # the page's paths are relative
                raise HTTPException(308, "the page has a slash", {"location": f"{self._root}/"})
            await self._app(scope, receive, answer)
        except Exception as why:
            if answer.status != GONE:
                raise  # half of an answer was sent
            await error_response(why)(scope, receive, answer)
        finally:
            status = 408 if "semibandit.timeout" in scope else answer.status
            self.end(exchange, status, answer.sent)

    def begin(self, scope: Scope) -> Exchange:
        """A request has arrived: find its route, which its scope then has, and its id."""
        start = scope.get("semibandit.arrived") or time.perf_counter()
        route = self._find(scope["path"])
        headers = dict(scope["headers"])
        scope["path"] = route.path
        scope["semibandit.route"], scope["semibandit.headers"] = route, headers
        return Exchange(scope, route, request_id(headers.get(b"x-request-id")), start)

    def name_of(self, url: bytes) -> str:
        """The name of the route that a request asks for."""
        return self._find(url.partition(b"?")[0].decode("latin-1")).name

    def _find(self, path: str) -> Route:
        if self._root and path.startswith(self._root + "/"):
            path = path[len(self._root) :]
        return self._routes.get(path) or find_route(path)

    def end(self, exchange: Exchange, status: int, sent: int) -> None:
        """It was answered with this status and so many bytes: count, time and log it."""
        seconds, scope = time.perf_counter() - exchange.start, exchange.scope
        self.count(scope.get("semibandit.name", exchange.route.name), status, seconds)
        if self._access_log:
            log_access(scope, status, seconds, sent)


class Exchange:
    """A request that is being answered: its id, where it goes, and when it came."""

    __slots__ = ("id", "route", "scope", "start")

    def __init__(self, scope: Scope, route: Route, id: str, start: float) -> None:
        self.scope, self.route, self.id, self.start = scope, route, id, start

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """Those that every answer to it has."""
        found = [(b"x-request-id", self.id.encode())]
        if self.route.deprecated:
            found.append((b"deprecation", b"true"))
        return found


class _Answer:
    """Sends the messages of an answer on, with the headers that every answer has."""

    __slots__ = ("_more", "_send", "sent", "status")

    def __init__(self, send: Send, more: list[tuple[bytes, bytes]]) -> None:
        self._send, self._more = send, more
        self.status, self.sent = GONE, 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *self._more]
        else:
            self.sent += len(message.get("body", b""))
        await self._send(message)
