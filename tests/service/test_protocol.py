"""Requests that are only half sent: told so, and gone. Answers in one piece."""

import asyncio
import http.client
import socket
import time

import pytest
import uvicorn
from server import BUILD, Server, until
from uvicorn.server import ServerState
from written import Written

from semibandit.service.http.protocol import TimedProtocol

SHORT = ("--header-timeout", 0.5, "--body-timeout", 0.5, "--keep-alive", 0.5)
HEAD = b"POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = b'{"context": [1, 0, 0, 0]}'
FULL = HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
HALVES = {
    "half a line": b"POST /v1/ra",
    "half the headers": HEAD,
    "no body": HEAD + b"Content-Length: 25\r\n\r\n",
    "half a body": HEAD + b"Content-Length: 25\r\n\r\n" + BODY[:9],
    "half a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n19\r\n" + BODY[:9],
    "a second half": FULL + HEAD,
    "a second half body": FULL + HEAD + b"Content-Length: 25\r\n\r\n" + BODY[:9],
    "half a batch": b"POST /rank/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
    b"Content-Type: application/json\r\n\r\n{",
    "half of new labels": b"POST /labels HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
    b"Content-Type: application/json\r\n\r\n{",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("timeouts") / "s", *BUILD, *SHORT) as one:
        yield one
    assert "".join(one.errors) == ""


def connect(server, data=b""):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    connection.sendall(data)
    return connection


def until_closed(connection):
    """All that comes before the server closes it."""
    with connection:
        found = b""
        while piece := connection.recv(1 << 16):
            found += piece
    return found


def answer(connection):
    """One answer on a connection that is kept; its status."""
    found = http.client.HTTPResponse(connection)
    found.begin()
    found.read()
    return found.status


def test_half_a_request_is_told_and_closed(server):
    connections = {what: connect(server, data) for what, data in HALVES.items()}
    for what, connection in connections.items():
        found = until_closed(connection)
        answers = [part[:3] for part in found.split(b"HTTP/1.1 ")[1:]]
        assert answers == ([b"200"] if "second" in what else []) + [b"408"], what
        assert b'{"detail":"the rest of the request did not come in time"}' in found


def test_a_connection_without_a_request_is_closed(server):
    nothing, kept, more = connect(server), connect(server, FULL), connect(server, FULL + b"\r\n")
    after = connect(server, FULL)
    assert answer(after) == 200
    after.sendall(b"\r\n")  # which is no request
    for connection, begin in ((kept, b"HTTP/1.1 200"), (more, b"HTTP/1.1 200")):
        assert until_closed(connection).startswith(begin)
    assert until_closed(nothing) == until_closed(after) == b""  # silently: nobody asked anything


def test_a_client_that_goes_on_is_not_disturbed(server):
    """Each request is in time, and the connection is older than any timeout."""
    end = time.monotonic() + 2.5
    with connect(server) as connection:
        while time.monotonic() < end:
            connection.sendall(FULL)
            assert answer(connection) == 200


def test_a_refusal_before_the_body_came_is_enough(server):
    found = until_closed(
        connect(server, HEAD.replace(b"/json", b"/x") + b"Content-Length: 9\r\n\r\n")
    )
    assert found.startswith(b"HTTP/1.1 415")
    assert b"408" not in found


@pytest.mark.parametrize("line", [b"Upgrade: h2c", b"upgrade:H2C ", b"UPGRADE: h2c"])
def test_an_offer_to_speak_http_2_is_passed_over(server, line):
    """As Java's client makes it; the connection goes on as it was."""
    offer = line + b"\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB"
    begin, length, rest = FULL.partition(b"Content-Length")
    offers = b"%sConnection: Upgrade, HTTP2-Settings\r\n%s\r\n%s" % (begin, offer, length + rest)
    last = FULL.replace(b"\r\n\r\n", b"\r\nConnection: Upgrade\r\n%s\r\n\r\n" % line)
    text = BODY.replace(b"}", b', "subject": "h2c"}')
    named = HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(text), text)
    with connect(server) as connection:
        for request in (offers, FULL, last, named, offers):
            connection.sendall(request)
            assert answer(connection) == 200


def test_two_hundred_half_requests_are_all_gone_and_counted(server):
    def counted(name):
        text = server.get("/metrics").text
        found = [line for line in text.splitlines() if line.startswith(name)]
        return float(found[0].split()[-1]) if found else 0

    names = [f'semibandit_requests_total{{status="408",what="{one}"}}' for one in ("other", "rank")]
    before = [counted(name) for name in names]
    halves = [connect(server, HALVES["half a line"]) for _ in range(100)]
    halves += [connect(server, HALVES["half a body"]) for _ in range(100)]
    start = time.monotonic()
    assert all(until_closed(one).startswith(b"HTTP/1.1 408") for one in halves)
    assert time.monotonic() - start < 20
    until(lambda: [counted(name) for name in names] == [n + 100 for n in before])
    assert server.rank().status_code == 200


def answering(headers, *bodies):
    """An application that answers with these headers and pieces of a body."""

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for i, body in enumerate(bodies, 1):
            more = i < len(bodies)
            await send({"type": "http.response.body", "body": body, "more_body": more})

    return app


def pieces_of(app, *requests):
    """What is written for these requests, each of which comes after the last was answered."""

    async def run():
        config = uvicorn.Config(app, log_config=None, ws="none")
        protocol = TimedProtocol(config, ServerState(), {})
        transport = Written()
        protocol.connection_made(transport)
        for request in requests:
            protocol.data_received(request)
            while protocol.tasks:
                await asyncio.wait(protocol.tasks)
        protocol.connection_lost(None)
        return transport.pieces

    return asyncio.run(run())


LENGTH = [(b"content-length", b"6")]
BEGIN = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n"


@pytest.mark.parametrize(
    ("headers", "bodies", "pieces"),
    [
        (LENGTH, [b"abcdef"], [BEGIN + b"abcdef"]),
        (LENGTH, [b"ab", b"cd", b"ef"], [BEGIN + b"ab", b"cd", b"ef"]),
        (LENGTH, [b"", b"abcdef"], [BEGIN, b"abcdef"]),
        ([(b"content-length", b"0")], [b""], [BEGIN.replace(b"6", b"0"), b""]),
    ],
)
def test_headers_are_written_with_the_first_piece_of_the_body(headers, bodies, pieces):
    assert pieces_of(answering(headers, *bodies), FULL) == pieces
    assert pieces_of(answering(headers, *bodies), FULL, FULL) == 2 * pieces
    together = pieces_of(answering(headers, *bodies), FULL + FULL)
    assert b"".join(together) == b"".join(2 * pieces)


def test_headers_without_a_length_are_written_at_once():
    first, *body = pieces_of(answering([], b"abc"), FULL)
    assert first.endswith(b"transfer-encoding: chunked\r\n\r\n")
    assert b"".join(body) == b"3\r\nabc\r\n0\r\n\r\n"


def test_an_answer_to_head_has_headers_alone():
    request = b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert pieces_of(answering(LENGTH, b"abcdef"), request, request) == [BEGIN, BEGIN]


def test_headers_of_an_answer_that_breaks_off_are_written_before_the_connection_closes():
    assert pieces_of(answering(LENGTH), FULL) == [BEGIN]


def test_an_answer_of_the_service_is_one_piece(server):
    with connect(server) as connection:
        connection.sendall(FULL)
        found = connection.recv(1 << 16)
    head, _, body = found.partition(b"\r\n\r\n")
    assert b"content-length: %d\r\n" % len(body) in head + b"\r\n"
