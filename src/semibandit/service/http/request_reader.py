"""What is read of a connection: requests whose head is small, and nothing else.

The parser (llhttp, by httptools) and uvicorn take heads of any size, stop at an offer to change
the protocol, and take trailers for headers. So this is the one place that counts a request's head
from its first byte, passes over offers, drops trailers, and ends a connection in such a way that
the client hears why.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from contextlib import suppress
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from semibandit.service.engine.queue import WAITED_TOO_LONG
from semibandit.service.http.direct_path import DirectPath
from semibandit.service.http.responses import JsonResponse

__all__ = ["MAX_HEAD", "MAX_HEADERS", "RequestReader", "whole_answer"]

MAX_HEAD = 64 << 10  # bytes of a request's first line, its headers and trailers
MAX_HEADERS = 200
MAX_DROPPED = 64 << 20  # bytes that are read after the last answer, so that the client sees it
SLICE = 4 << 10  # bytes that are parsed at once: a request or two
PER_TURN = 64 << 10  # bytes that are parsed before other connections have their turn
MOST_UNPARSED = 16 << 10  # bytes of requests that wait to be read; more stay with the client
TOO_LARGE = f"a request may have at most {MAX_HEADERS} headers and {MAX_HEAD} bytes of them"
NO_HTTP = "this is no HTTP request that can be understood"


def whole_answer(status: int, detail: str, *, closes: bool = True) -> bytes:
    """An error as bytes; by default for a connection that ends with it."""
    answer = JsonResponse({"detail": detail}, status)
    headers = dict(answer.raw_headers)
    if closes:
        headers[b"connection"] = b"close"
    lines = [b"%s: %s\r\n" % header for header in headers.items()]
    return b"".join((STATUS_LINE[status], *lines, b"\r\n", answer.body))


SHED = whole_answer(503, WAITED_TOO_LONG, closes=False)
SHED_LAST = whole_answer(503, WAITED_TOO_LONG)


class RequestReader(HttpToolsProtocol):
    """A connection whose requests are read with limits.

    The next request is not read before the last one is answered. If that has taken too long, those
    that came meanwhile are answered with 503 without a look: when more is asked than can be
    answered, the time goes into answers that are in time.

    A request that cannot be read is answered with 400 or 431 once those before it are answered.
    Then the connection is closed, but what is on its way is read and dropped for a while: a client
    that is still sending would get a reset in place of the answer.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head = 0  # bytes of the lines of the present request's head and trailers
        self._unparsed = deque[tuple[float, memoryview]]()  # bytes, and when they have come
        self._n_unparsed, self._pauses = 0, False
        self._reading = False  # whether bytes are being parsed
        self._now, self._late = (
            0.0,
            False,
        )  # when the bytes came that are parsed; if that is long ago
        self._in_head = False  # whether headers are being read
        self._sheds = False  # whether the present request is not looked at
        self._shed: list[tuple[bytes, bool, bool]] = []  # paths; whether for HEAD; whether the last
        self._unread = 0  # bytes since the parser could last make something of them
        self._refusal: tuple[int, str] | None = None  # how the connection ends
        self._answering: RequestResponseCycle | None = None  # the request that is, or was last
        self._can_drop = MAX_DROPPED
        self.lingers = False  # whether the last answer was given, and what comes is dropped

    # -- bytes ---------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Some bytes of requests have come."""
        if self.lingers:
            self._can_drop -= len(data)
            if self._can_drop < 0:
                self.transport.close()
            return
        self._unset_keepalive_if_required()
        now, self._reading = time.perf_counter(), True
        if len(data) > SLICE or self._unparsed or self._must_wait():
            self._unparsed.append((now, memoryview(data)))
            self._n_unparsed += len(data)
            self._read_slices()
        else:
            self._now, self._late = now, False
            self._read(data)
        self._reading = False
        self.on_read()

    def on_read(self) -> None:
        """What could be read for now has been."""

    def _read_on(self) -> None:
        self._reading = True
        self._read_slices()
        self._reading = False
        self.on_read()

    def _read_slices(self) -> None:
        """Parse what has come, until a request has to be answered before the next is read."""
        turn = PER_TURN
        while self._unparsed and not self._must_wait():
            if turn <= 0:  # other connections have theirs
                self.loop.call_soon(self._read_on)
                break
            turn -= SLICE
            self._now, data = self._unparsed[0]
            self._late = time.perf_counter() - self._now > self._patience
            self._n_unparsed -= min(len(data), SLICE)
            if len(data) > SLICE:
                self._unparsed[0] = self._now, data[SLICE:]
            else:
                self._unparsed.popleft()
            self._read(data[:SLICE])
        if self._n_unparsed > MOST_UNPARSED:
            self.flow.pause_reading()  # here, and by answers, it is resumed
            self._pauses = True
        elif self._pauses:
            self.flow.resume_reading()
            self._pauses = False

    def _must_wait(self) -> bool:
        """Whether the next request is not to be read now, or never."""
        ends = self._refusal is not None or self.transport.is_closing()
        return ends or self.flow.write_paused or self._has_to_answer()

    def _has_to_answer(self) -> bool:
        """Whether a request that has come is not answered yet."""
        cycle = self._answering
        return cycle is not None and not cycle.more_body and not cycle.response_complete

    def resume_writing(self) -> None:
        """The client reads its answers again."""
        super().resume_writing()
        self.loop.call_soon(self._read_on)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._unparsed.clear()
        super().connection_lost(exc)

    def _read(self, data: bytes | memoryview) -> None:
        self._unread += len(data)
        try:
            self._parse(data)
            if self._unread > MAX_HEAD:
                self._refusal = 431, TOO_LARGE
        except httptools.HttpParserError:
            if self._refusal is None:
                self._refusal = 400, NO_HTTP
                self.logger.warning("Invalid HTTP request received.")
        if self._shed:
            self._answer_shed()
        if self._refusal is not None:
            self._drop_the_present_request()
            self._end_if_refused()

    def _parse(self, data: bytes | memoryview) -> None:
        while True:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                data = memoryview(data)[offer.args[0] :]
                self._read_again_without_offer()
            else:
                return

    def _read_again_without_offer(self) -> None:
        """Have the head of the present request read as if it offered no other protocol.

        The parser takes such an offer for granted: it would read the body as the next request.
        """
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        if method == b"CONNECT":
            self._refusal = 400, NO_HTTP
            raise httptools.HttpParserError
        lines = [b"%s %s HTTP/%s" % (method, self.url, version)]
        lines += [b"%s: %s" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        with suppress(AttributeError):  # as uvicorn does it: older ones have no such method
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.parser.feed_data(b"\r\n".join([*lines, b"", b""]))

    # -- what the parser finds -----------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request begins."""
        self._head = self._unread = 0
        self._sheds = self._late and not self._has_to_answer()
        if self._sheds:
            self.url = b""
            return
        if self._shed:  # in their order
            self._answer_shed()
        self._in_head = True
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A part of its path has come."""
        self._unread = 0
        self._head += len(url)
        self.url += url
        if self._head > MAX_HEAD:
            self._refuse_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        """One of its headers has come, or of its trailers, which nobody asks for."""
        self._unread = 0
        self._head += len(name) + len(value) + 4
        if self._in_head:  # the rest as uvicorn does it: a call for each header takes time
            name = name.lower()
            if name == b"expect" and value.lower() == b"100-continue":
                self.expect_100_continue = True
            self.headers.append((name, value))
            if len(self.headers) > MAX_HEADERS:
                self._refuse_head()
        if self._head > MAX_HEAD:
            self._refuse_head()

    def _refuse_head(self) -> None:
        self._refusal = 431, TOO_LARGE
        raise ValueError(TOO_LARGE)  # for the parser, which then stops

    def on_headers_complete(self) -> None:
        """All of its headers have come."""
        self._in_head = False
        if self._sheds:
            if self.parser.should_upgrade():  # its headers cannot be read again
                self._refusal = 503, WAITED_TOO_LONG
                raise ValueError(WAITED_TOO_LONG)
        elif not self.parser.should_upgrade():  # else the parser stops, and they are read again
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of its body has come."""
        self._unread = 0
        if not self._sheds:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """It has come to its end."""
        self._unread = 0
        if self._sheds:
            closes = not self.parser.should_keep_alive()
            self._shed.append((self.url, self.parser.get_method() == b"HEAD", closes))
        elif not self.parser.should_upgrade():
            self.scope["semibandit.arrived"] = self._now  # type: ignore[typeddict-unknown-key]
            super().on_message_complete()

    def _answer_shed(self) -> None:
        """Answer requests whose turn has come too late to be looked at."""
        seconds, path = time.perf_counter() - self._now, self._direct_path()
        answers = []
        for url, head, closes in self._shed:
            if path is not None:
                path.count(path.name_of(url), 503, seconds)
            answer = SHED_LAST if closes else SHED
            answers.append(answer[: answer.index(b"\r\n\r\n") + 4] if head else answer)
        self._shed.clear()
        self.transport.write(b"".join(answers))
        if closes:
            self.close_now()

    def _has_head(self) -> bool:
        """Whether all headers of the present request have come."""
        return self.cycle is not None and self.cycle.scope is self.scope

    # -- the end of a connection ---------------------------------------------------------------

    def _drop_the_present_request(self) -> None:
        """What is read now gets the refusal as its answer, if it has none yet."""
        cycle = self.cycle
        if not self._has_head() or not cycle.more_body:
            return
        if self.pipeline and self.pipeline[0][0] is cycle:
            self.pipeline.popleft()
        elif cycle.response_started:  # the refusal would be an answer to nothing
            self.transport.close()
        cycle.disconnected = cycle.response_complete = True
        cycle.message_event.set()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Begin to answer a request."""
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def _end_if_refused(self) -> None:
        """Answer what could not be read, if all that came before it is answered."""
        busy = self._answering is not None and not self._answering.response_complete
        if self._refusal is None or self.pipeline or busy or self.transport.is_closing():
            return
        self._count_refusal(self._refusal[0])
        self.transport.write(whole_answer(*self._refusal))
        self.transport.close()

    def _count_refusal(self, status: int, seconds: float = 0.0) -> None:
        """Something was refused before it was a request that the application could count."""
        path = self._direct_path()
        if path is not None:
            path.count("other", status, seconds)

    def _direct_path(self) -> DirectPath | None:
        """That of the application, if it has one and has started."""
        path: DirectPath | None = getattr(self.app, "direct_path", None)
        return path

    @property
    def _patience(self) -> float:
        """Seconds after which a request is too late to be looked at."""
        path = self._direct_path()
        return math.inf if path is None else path.patience

    def on_response_complete(self) -> None:
        """A request was answered."""
        super().on_response_complete()
        self._go_on()

    def _go_on(self) -> None:
        """What is to be done after an answer, if none is due."""
        if self._unparsed:
            self.loop.call_soon(self._read_on)
        self._end_if_refused()

    def may_linger(self) -> bool:
        """Whether the client may still be sending what nobody will read."""
        unread = self._refusal is not None or (self.cycle is not None and self.cycle.more_body)
        return unread and not self.lingers and self._can_drop > 0

    def linger(self, transport: asyncio.Transport) -> None:
        """Read and drop what comes, for as long as the server lets it; the client hears that
        nothing more will be said."""
        self.lingers = True
        self._unparsed.clear()
        self._n_unparsed = 0
        if transport.can_write_eof():
            transport.write_eof()
        self.flow.resume_reading()

    def is_closed(self) -> bool:
        """Whether nothing more is read, not even to be dropped."""
        return self.transport.is_closing() and not self.lingers

    def close_now(self) -> None:
        """Close the connection, whatever is still on its way."""
        self._can_drop = 0
        self.transport.close()

    def shutdown(self) -> None:
        """The server ends: no more than what is being answered is waited for."""
        self._can_drop = 0
        super().shutdown()
