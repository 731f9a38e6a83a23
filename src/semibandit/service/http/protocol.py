"""Connections with half a request on them are closed after a time, and the client is told.

uvicorn waits for the rest of a request for ever, and a minute for that of a TLS handshake. Its
server looks at all connections once a second here, and closes those that were in the same
incomplete request for too long; so nothing is done for a request that arrives at once. An answer
is written in one piece: uvicorn writes its headers and its body apart, so the client would be woken
up twice. Requests that arrive at once are answered without ASGI, if the application has a direct
path for them.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import uvicorn
from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from semibandit.service.http.direct_path import DirectPath
from semibandit.service.http.request_reader import RequestReader, whole_answer
from semibandit.service.http.responses import JsonResponse
from semibandit.service.settings import Settings

__all__ = ["HttpServer", "TimedProtocol"]

TICKS = 10  # of uvicorn's main loop in a second
TOO_LATE = whole_answer(408, "the rest of the request did not come in time")


class OneWrite:
    """The transport of a connection, as uvicorn uses it: headers wait for the first of their body.

    Parameters
    ----------
    transport : asyncio.Transport
        What it writes to.
    protocol : RequestReader
        Its `cycle` is uvicorn's state of the request that was read last, which knows how much of
        the body of an answer is still to come, if its headers said so. While another request is
        answered it is 0, so nothing waits then.
    """

    __slots__ = ("_headers", "_last", "_protocol", "_transport")

    def __init__(self, transport: asyncio.Transport, protocol: RequestReader) -> None:
        self._transport, self._protocol = transport, protocol
        self._headers = b""  # that wait
        self._last: RequestResponseCycle | None = None  # whose headers have waited

    def is_closing(self) -> bool:
        """Whether nothing more can be answered."""
        return self._protocol.lingers or self._transport.is_closing()

    def write(self, data: bytes) -> None:
        """Write this after the headers that wait, or let it wait if it is the headers."""
        cycle = self._protocol.cycle
        if self._transport.is_closing():  # the client has gone
            return
        if cycle is not self._last and cycle.expected_content_length and _has_body(cycle):
            self._headers, self._last = data, cycle
            return
        if self._headers:
            data, self._headers = self._headers + data, b""
        self._transport.write(data)

    def close(self) -> None:
        """Close the connection, if not all was read in a while; headers that wait come first."""
        if self._headers:
            self._transport.write(self._headers)
            self._headers = b""
        if self._protocol.may_linger() and not self._transport.is_closing():
            self._protocol.linger(self._transport)
        else:
            self._transport.close()


def _has_body(cycle: RequestResponseCycle) -> bool:
    return cycle.scope["method"] != "HEAD"


class TimedProtocol(RequestReader):
    """A connection that knows what it waits for, by what uvicorn keeps of it.

    `scope` is that of the request that is read, or was read last, from its first byte on; `cycle`
    has the same one once its headers are there.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._waited_for = ""  # when it was looked at last
        self._last_scope: Any = None
        self._since = 0.0
        # a request that takes the direct path if all of it has come by then
        self._held: tuple[RequestResponseCycle, Any] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self.transport = OneWrite(transport, self)  # type: ignore[assignment]

    # -- requests that take the direct path ----------------------------------------------------

    def on_read(self) -> None:
        """What could be read for now has been."""
        if self._held is not None and not self._unparsed:  # the rest of its body is still to come
            (cycle, app), self._held = self._held, None
            if not cycle.response_complete:
                super()._start_asgi_task(cycle, app)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Begin to answer a request, whose body may still have to come."""
        self._answering = cycle
        if not self._takes_direct_path(cycle):
            super()._start_asgi_task(cycle, app)
        elif cycle.more_body:
            self._held = cycle, app
        else:  # it has waited for the one before; not at once: thousands may wait
            self.loop.call_soon(self._answer, cycle)

    def on_message_complete(self) -> None:
        """The request that is read has come to its end."""
        super().on_message_complete()
        if self._held is not None and self._held[0] is self.cycle:
            self._held = None
            self._answer(self.cycle)

    def _takes_direct_path(self, cycle: RequestResponseCycle) -> bool:
        """Whether the request can be answered without ASGI, if all of it is there by now.

        A client that does not read its answers has to wait for the next one: that takes a task.
        """
        path = self._direct_path()
        now = self._reading or self._unparsed or not cycle.more_body
        if not now or path is None or self.flow.write_paused:
            return False
        return path.takes(cast(Scope, cycle.scope))

    def _answer(self, cycle: RequestResponseCycle) -> None:
        if self.transport.is_closing():  # nobody would read the answer
            return
        body, cycle.body = bytes(cycle.body), bytearray()
        path: DirectPath = self.app.direct_path
        path.answer(cast(Scope, cycle.scope), body, lambda response: self._write(cycle, response))

    def _write(self, cycle: RequestResponseCycle, response: JsonResponse) -> None:
        """Write an answer in one piece, as uvicorn would in two."""
        if cycle.disconnected or self.transport.is_closing():
            return
        headers = response.raw_headers
        if (b"connection", b"close") in headers:
            cycle.keep_alive = False
        elif not cycle.keep_alive:
            headers = [*headers, (b"connection", b"close")]
        lines = [b"%s: %s\r\n" % header for header in (*cycle.default_headers, *headers)]
        start = STATUS_LINE[response.status_code]
        self.transport.write(b"".join((start, *lines, b"\r\n", response.body)))
        cycle.response_started = cycle.response_complete = True
        self.server_state.total_requests += 1
        if not cycle.keep_alive:
            self.transport.close()
            return
        self.flow.resume_reading()
        if self.pipeline:  # else the server sees if nothing more comes: a timer costs too much
            self._start_asgi_task(*self.pipeline.pop())
        self._go_on()

    # -- time ----------------------------------------------------------------------------------

    def waits(self, now: float) -> tuple[str, float]:
        """What it waits for, and for how long."""
        kind = self._kind()
        if kind != self._waited_for or self.scope is not self._last_scope:
            self._waited_for, self._last_scope, self._since = kind, self.scope, now
        return kind, now - self._since

    def _kind(self) -> str:
        """What it waits for: "request", "headers", "body", or nothing: ""."""
        cycle = self.cycle
        if self.lingers:
            return "body"
        if self.pipeline:
            return ""  # the next request is not read before this one is answered
        if cycle is None:
            return "headers"
        if cycle.scope is self.scope:
            if cycle.more_body:  # also if it was answered before its body had come
                return "body"
            return "request" if cycle.response_complete else ""
        return "headers" if cycle.response_complete else ""

    def timeout_keep_alive_handler(self) -> None:
        """Nothing was asked for so long; half a request that came meanwhile has its own time."""
        if self._kind() != "headers":
            super().timeout_keep_alive_handler()

    @property
    def body_size(self) -> int:
        """The length that the request says its body has, if it has not been answered."""
        if self.cycle is None or self.cycle.response_complete:
            return 0
        size = dict(self.headers).get(b"content-length", b"0")
        return int(size) if size.isdigit() else 0

    def give_up(self, seconds: float) -> None:
        """Close the connection after so many seconds, with 408 if half a request has come.

        The application counts a request that reached it; others are counted here.
        """
        kind, cycle = self._kind(), self.cycle
        alone = kind == "headers" and self.scope is not None
        unanswered = kind == "body" and not self.lingers and not cycle.response_started
        if unanswered:
            cycle.scope["semibandit.timeout"] = True  # type: ignore[typeddict-unknown-key]
        if alone:
            self._count_refusal(408, seconds)
        if alone or unanswered:
            self.transport.write(TOO_LATE)
        self.close_now()


class HttpServer(uvicorn.Server):
    """uvicorn's server, with timeouts for requests.

    Parameters
    ----------
    config : uvicorn.Config
        With `TimedProtocol` as its protocol.
    settings : Settings
        How long the headers and the body of a request may take, and how long a connection may
        have no request. A body larger than `limits.body` may take so much longer.
    on_ready : function
        Called once it listens.
    """

    def __init__(
        self, config: uvicorn.Config, settings: Settings, on_ready: Callable[[], object]
    ) -> None:
        super().__init__(config)
        self.settings, self._on_ready = settings, on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen on these sockets.

        In place of uvicorn's own, which has no time for TLS handshakes.
        """
        await self.lifespan.startup()
        config, loop = self.config, asyncio.get_running_loop()
        seconds = self.settings.timeouts.header if config.ssl is not None else None
        connect = partial(TimedProtocol, config, self.server_state, self.lifespan.state)
        self.servers = [
            await loop.create_server(
                connect,
                sock=one,
                ssl=config.ssl,
                backlog=config.backlog,
                ssl_handshake_timeout=seconds,
                ssl_shutdown_timeout=seconds,
            )
            for one in sockets or ()
        ]
        self.started = True
        self._on_ready()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        if counter % TICKS == 0:
            self._close_late()
        return await super().on_tick(counter)

    def _close_late(self) -> None:
        now, timeouts = time.monotonic(), self.settings.timeouts
        for one in list(self.server_state.connections):
            if not isinstance(one, TimedProtocol) or one.is_closed():
                continue
            kind, seconds = one.waits(now)
            if kind == "headers":
                late = seconds > timeouts.header
            elif kind == "body":
                late = seconds > timeouts.body * max(1, one.body_size / self.settings.limits.body)
            else:
                late = kind == "request" and seconds > timeouts.keep_alive
            if late:
                one.give_up(seconds)
