"""The application while it starts: the port is open, and says how far it is.

The application proper is built in a thread, since rebuilding a learner may take minutes. Until it
takes over, /livez is 200, /readyz is 503 with the progress, and all else is 503 with Retry-After.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from semibandit.service.http.direct_path import DirectPath
from semibandit.service.http.responses import JsonResponse

__all__ = ["Build", "StartingApp"]

Build: TypeAlias = Callable[[Callable[[int, int], None]], ASGIApp]  # called with `progress`


class StartingApp:
    """An ASGI application that answers for another one while that is built.

    Parameters
    ----------
    build : function
        Makes the other application, in a thread. It calls the function it is given with how many
        events of the log were learned, and how many there are; that raises if it is to stop.
    on_end : function
        Called in the event loop when building has ended: `failure` is what it raised, or None if
        the other application answers now. Not called if the server stops before.
    """

    def __init__(self, build: Build, on_end: Callable[[], None]) -> None:
        self.failure: BaseException | None = None
        self._build, self._on_end = build, on_end
        self._app: ASGIApp | None = None
        self._lifespan: _Lifespan | None = None
        self._done, self._total = 0, 0
        self._stopping = False

    @property
    def direct_path(self) -> DirectPath | None:
        """That of the other application, once it answers."""
        return getattr(self._app, "direct_path", None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._response(scope["path"])(scope, receive, send)

    def _response(self, path: str) -> JsonResponse:
        if path == "/livez":
            return JsonResponse({"status": "ok"})
        text = f"starting: {self._done} of {self._total} events learned"
        if self._done == self._total:
            text += ", getting ready"
        if path in ("/readyz", "/healthz"):
            progress = self._done / self._total if self._total else 0.0
            return JsonResponse({"detail": text, "progress": round(progress, 4)}, 503)
        return JsonResponse({"detail": f"the service is {text}"}, 503)

    async def _live(self, receive: Receive, send: Send) -> None:
        """From the server's start to its end, in the words of ASGI."""
        await receive()
        starting = asyncio.create_task(self._start())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._stopping = True
        await starting
        if self._lifespan is not None:
            await self._lifespan.end()
        await send({"type": "lifespan.shutdown.complete"})

    async def _start(self) -> None:
        try:
            app = await asyncio.to_thread(self._build, self._progress)
            self._lifespan = _Lifespan(app)
            await self._lifespan.begin()
        except _Stopped:
            return
        except BaseException as why:
            self.failure = why
        else:
            self._app = app
        if not self._stopping:
            self._on_end()

    def _progress(self, done: int, total: int) -> None:
        self._done, self._total = done, total
        if self._stopping:
            raise _Stopped


class _Stopped(BaseException):
    """The server stops: building is to end, whatever it does."""


class _Lifespan:
    """The lifespan of an application, run as a server runs it."""

    def __init__(self, app: ASGIApp) -> None:
        self._to: asyncio.Queue[Message] = asyncio.Queue()
        self._from: asyncio.Queue[Message] = asyncio.Queue()
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self._task = asyncio.ensure_future(app(scope, self._to.get, self._from.put))

    async def begin(self) -> None:
        await self._to.put({"type": "lifespan.startup"})
        answer = await self._from.get()
        if answer["type"] != "lifespan.startup.complete":
            await self._task  # raises what went wrong
            raise RuntimeError(answer.get("message", "the application did not start"))

    async def end(self) -> None:
        await self._to.put({"type": "lifespan.shutdown"})
        await self._task
