"""What every request goes through first and last: its id, its time, its count, its errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from semibandit.service.http.access_log import log_access
from semibandit.service.http.errors import error_response
from semibandit.service.http.request_ids import request_id
from semibandit.service.http.routes import ROUTES, Route, find_route
from semibandit.service.logs import REQUEST_ID

__all__ = ["Count", "RequestMiddleware"]

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
        self.count, self._routes = count, routes
        self._app, self._root, self._access_log = app, root_path, access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, path = time.perf_counter(), scope["path"]
        if self._root and path.startswith(self._root + "/"):
            path = path[len(self._root) :]
        route = self._routes.get(path) or find_route(path)
        headers = dict(scope["headers"])
        id = request_id(headers.get(b"x-request-id"))
        REQUEST_ID.set(id)  # this task handles no other request
        scope["path"] = route.path
        scope["semibandit.route"], scope["semibandit.headers"] = route, headers
        answer = _Answer(send, id.encode(), route.deprecated)
        try:
            if self._root and scope["path"] == self._root:  # the page's paths are relative
                raise HTTPException(308, "the page has a slash", {"location": f"{self._root}/"})
            await self._app(scope, receive, answer)
        except Exception as why:
            if answer.status != GONE:
                raise  # half of an answer was sent
            await error_response(why)(scope, receive, answer)
        finally:
            seconds = time.perf_counter() - start
            status = 408 if "semibandit.timeout" in scope else answer.status
            self.count(scope.get("semibandit.name", route.name), status, seconds)
            if self._access_log:
                log_access(scope, status, seconds, answer.sent)


class _Answer:
    """Sends the messages of an answer on, with the headers that every answer has."""

    __slots__ = ("_deprecated", "_id", "_send", "sent", "status")

    def __init__(self, send: Send, id: bytes, deprecated: bool) -> None:
        self._send, self._id, self._deprecated = send, id, deprecated
        self.status, self.sent = GONE, 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            more = [(b"x-request-id", self._id)]
            if self._deprecated:
                more.append((b"deprecation", b"true"))
            message["headers"] = [*message.get("headers", ()), *more]
        else:
            self.sent += len(message.get("body", b""))
        await self._send(message)
