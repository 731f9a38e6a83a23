"""The direct path: /v1/rank and /v1/feedback from bytes to bytes, without ASGI.

ASGI costs a task for every request, and a message for each part of it. A request that has arrived
whole needs neither: it is checked, read and handed to the engine at once, and the engine's answer
is written when it comes. `TimedProtocol` sends such requests here. All others, and those that come
through another server, take the usual way (`fast_path.py`), by the same checks and handlers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from starlette.types import Scope

from semibandit.service.engine.requests import AnswerFuture
from semibandit.service.http.auth import AuthMiddleware
from semibandit.service.http.errors import error_response
from semibandit.service.http.middleware import Exchange, RequestMiddleware
from semibandit.service.http.responses import JsonResponse
from semibandit.service.logs import REQUEST_ID

__all__ = ["DirectHandler", "DirectPath", "Write"]

Write: TypeAlias = Callable[[JsonResponse], None]  # of an answer, to its connection
# reads a body that arrived at that time, and hands the request to the engine
Submit: TypeAlias = Callable[[bytes, AnswerFuture, float], None]
# that, and what is answered, by the engine's answer
DirectHandler: TypeAlias = tuple[Submit, Callable[[Any], Any]]


class DirectPath:
    """Answers requests that have arrived whole.

    Parameters
    ----------
    requests : RequestMiddleware
        Begins and ends every request.
    auth : AuthMiddleware
        Says who may ask.
    handlers : mapping
        Those of POST requests, by path.
    patience : float
        Seconds that a request may wait before it is read.
    """

    def __init__(
        self, requests: RequestMiddleware, auth: AuthMiddleware,
        handlers: Mapping[str, DirectHandler], patience: float = math.inf,
    ) -> None:  # fmt: skip
        self._requests, self._auth, self._handlers = requests, auth, handlers
        self.count, self.name_of = requests.count, requests.name_of  # of what is refused unread
        self.patience = patience

    def takes(self, scope: Scope) -> bool:
        """Whether it answers such requests."""
        paths, path = self._handlers, scope["path"]
        return path in paths and scope["method"] == "POST" and not scope["query_string"]

    def answer(self, scope: Scope, body: bytes, write: Write) -> None:
        """Have a request answered: `write` is called with the answer, now or later.

        It is called once, in the thread of the event loop.
        """
        submit, content = self._handlers[scope["path"]]
        exchange = self._requests.begin(scope)
        answer = DirectAnswer(self._requests, exchange, content, write)
        outside = REQUEST_ID.set(exchange.id)
        try:
            self._auth.check(scope, body)
            submit(body, answer, exchange.start)
        except Exception as why:
            answer.set_exception(why)
        finally:
            REQUEST_ID.reset(outside)


class DirectAnswer:
    """Where the engine's answer to a request goes: it is written as soon as it is set."""

    __slots__ = ("_content", "_done", "_exchange", "_requests", "_write")

    def __init__(
        self, requests: RequestMiddleware, exchange: Exchange, content: Callable[[Any], Any],
        write: Write,
    ) -> None:  # fmt: skip
        self._requests, self._exchange = requests, exchange
        self._content, self._write, self._done = content, write, False

    def done(self) -> bool:
        """Whether there is an answer."""
        return self._done

    def set_result(self, result: Any, /) -> None:
        """The engine has answered."""
        self._answer(lambda: JsonResponse(self._content(result)))

    def set_exception(self, exception: Any, /) -> None:
        """The request was refused, or has failed."""
        self._answer(lambda: error_response(exception))

    def _answer(self, make: Callable[[], JsonResponse]) -> None:
        self._done = True
        outside = REQUEST_ID.set(self._exchange.id)  # for the log
        try:
            try:
                response = make()
            except Exception as why:
                response = error_response(why)
            response.raw_headers += self._exchange.headers
            self._write(response)
            self._requests.end(self._exchange, response.status_code, len(response.body))
        finally:
            REQUEST_ID.reset(outside)
