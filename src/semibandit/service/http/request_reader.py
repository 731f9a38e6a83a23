"""What is read of a connection: requests whose head is small, and nothing else.

The parser (llhttp, by httptools) and uvicorn take heads of any size, stop at an offer to change
the protocol, and take trailers for headers. So this is the one place that counts a request's head
from its first byte, passes over offers, drops trailers, and ends a connection in such a way that
the client hears why.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from semibandit.service.http.direct_path import DirectPath
from semibandit.service.http.responses import JsonResponse

__all__ = ["MAX_HEAD", "MAX_HEADERS", "RequestReader", "whole_answer"]

MAX_HEAD = 64 << 10  # bytes of a request's first line, its headers and trailers
MAX_HEADERS = 200
MAX_DROPPED = 64 << 20  # bytes that are read after the last answer, so that the client sees it
TOO_LARGE = f"a request may have at most {MAX_HEADERS} headers and {MAX_HEAD} bytes of them"
NO_HTTP = "this is no HTTP request that can be understood"


def whole_answer(status: int, detail: str) -> bytes:
    """An error as bytes, for a connection that ends with it."""
    answer = JsonResponse({"detail": detail}, status)
    headers = {**dict(answer.raw_headers), b"connection": b"close"}
    lines = [b"%s: %s\r\n" % header for header in headers.items()]
    return b"".join((STATUS_LINE[status], *lines, b"\r\n", answer.body))


class RequestReader(HttpToolsProtocol):
    """A connection whose requests are read with limits.

    A request that cannot be read is answered with 400 or 431 once those before it are answered.
    Then the connection is closed, but what is on its way is read and dropped for a while: a client
    that is still sending would get a reset in place of the answer.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head = 0  # bytes of the lines of the present request's head and trailers
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
        if self._refusal is not None or self.lingers:
            return
        self._unset_keepalive_if_required()
        self._unread += len(data)
        try:
            self._parse(data)
            if self._unread > MAX_HEAD:
                self._refusal = 431, TOO_LARGE
        except httptools.HttpParserError:
            if self._refusal is None:
                self._refusal = 400, NO_HTTP
                self.logger.warning("Invalid HTTP request received.")
        if self._refusal is not None:
            self._drop_the_present_request()
            self._end_if_refused()

    def _parse(self, data: bytes) -> None:
        rest = memoryview(data)
        while True:
            try:
                self.parser.feed_data(rest)
            except httptools.HttpParserUpgrade as offer:
                rest = rest[offer.args[0] :]
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
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A part of its path has come."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """One of its headers has come, or of its trailers, which nobody asks for."""
        self._count(len(name) + len(value) + 4)
        if not self._has_head():
            super().on_header(name, value)
            if len(self.headers) > MAX_HEADERS:
                self._refuse_head()

    def _count(self, size: int) -> None:
        self._unread = 0
        self._head += size
        if self._head > MAX_HEAD:
            self._refuse_head()

    def _refuse_head(self) -> None:
        self._refusal = 431, TOO_LARGE
        raise ValueError(TOO_LARGE)  # for the parser, which then stops

    def on_headers_complete(self) -> None:
        """All of its headers have come."""
        if not self.parser.should_upgrade():  # else the parser stops, and they are read again
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of its body has come."""
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """It has come to its end."""
        self._unread = 0
        if not self.parser.should_upgrade():
            super().on_message_complete()

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
        path: DirectPath | None = getattr(self.app, "direct_path", None)
        if path is not None:
            path.count("other", status, seconds)

    def on_response_complete(self) -> None:
        """A request was answered."""
        super().on_response_complete()
        self._end_if_refused()

    def may_linger(self) -> bool:
        """Whether the client may still be sending what nobody will read."""
        unread = self._refusal is not None or (self.cycle is not None and self.cycle.more_body)
        return unread and not self.lingers and self._can_drop > 0

    def linger(self, transport: asyncio.Transport) -> None:
        """Read and drop what comes, for as long as the server lets it; the client hears that
        nothing more will be said."""
        self.lingers = True
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
