"""Requests that arrive whole are answered without ASGI: the same answers, in order, and no more."""

import asyncio
import json
import re
import socket

import pytest
import uvicorn
from server import BUILD, Server
from uvicorn.server import ServerState
from written import Written

import semibandit as sb
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.requests import set_results
from semibandit.service.http.app import create_app
from semibandit.service.http.protocol import TimedProtocol
from semibandit.service.settings import Settings
from semibandit.store.store import Store

RANK = b'{"context": [1, 0, 0, 0], "slots": 2}'
OURS = (b"x-request-id: ", b"date: ", b"content-length: ")  # lines that may differ


def request(path="/v1/rank", body=RANK, *, method="POST", length=True, **headers):
    """A request as bytes; `chunked` ones have no length."""
    given = {"host": "localhost", "content-type": "application/json"} | headers
    lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in given.items() if v is not None)]
    if length:
        lines.append(f"content-length: {len(body)}")
        return "\r\n".join([*lines, "", ""]).encode() + body
    lines.append("transfer-encoding: chunked")
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    return "\r\n".join([*lines, "", ""]).encode() + chunks


REQUESTS = {
    "a decision": request(),
    "of an older path": request("/rank"),
    "behind a proxy": request("/shop/v1/rank"),
    "with an id": request(body=b'{"context": [1, 0, 0, 0], "id": "visit-1"}'),
    "its feedback": request("/v1/feedback", b'{"id": "visit-1", "clicked": []}'),
    "feedback to nothing": request("/v1/feedback", b'{"id": "nobody", "clicked": []}'),
    "an unknown label": request(body=b'{"context": [1, 0, 0, 0], "candidates": ["z"]}'),
    "too few features": request(body=b'{"context": [1, 0]}'),
    "no JSON": request(body=b"{"),
    "nothing": request(body=b""),
    "in chunks": request(length=False),
    "with an id of its own": request(**{"x-request-id": "visit-7"}),
    "text": request(**{"content-type": "text/plain"}),
    "of another site": request(origin="https://evil.example"),
    "to another host": request(host="evil.example"),
    "without a host": request(host=None),
    "a dry run": request("/v1/rank?dry_run=true"),
    "a misspelt dry run": request("/v1/rank?dryrun=true"),
    "a batch": request("/v1/rank/batch", b'{"requests": [{"context": [1, 0, 0, 0]}]}'),
    "another method": request(method="PUT"),
    "too large": request(body=b" " * 3000),
    "too large, in chunks": request(body=b" " * 3000, length=False),
}
MORE = ("--root-path", "/shop", "--max-body", 2000)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("direct") / "s", *BUILD, *MORE) as one:
        yield one
    assert "".join(one.errors) == ""


def ask(server, *pieces, n=1):
    """The answers to `n` requests that are sent in these pieces, each as its head and its body."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces[:-1]:
            connection.sendall(piece)
            assert server.get("/livez").status_code == 200  # so it has been read
        connection.sendall(pieces[-1])
        file, answers = connection.makefile("rb"), []
        for _ in range(n):
            head = b"".join(iter(file.readline, b"\r\n"))
            size = int(re.search(rb"content-length: (\d+)", head)[1])
            answers.append((head, file.read(size)))
        return answers


def without_ours(answer):
    """The lines of the head that do not differ, and the body without what does: every visit has
    its own draw among labels that are equal so far."""
    head, body = answer
    lines = [line for line in head.splitlines() if not line.startswith(OURS)]
    found = json.loads(body)
    for one in [found, *found.get("results", ())]:
        one.pop("id", None)
        if "slate" in one:
            one["slate"] = len(one["slate"])
    return lines, found


@pytest.mark.parametrize("what", REQUESTS)
def test_a_request_has_the_same_answer_whole_and_in_halves(server, what):
    whole = REQUESTS[what]
    head = whole.index(b"\r\n\r\n") + 4
    (at_once,) = ask(server, whole)
    for cut in (head, max(head, len(whole) - 3)):
        (in_halves,) = ask(server, whole[:cut], whole[cut:]) if whole[cut:] else (at_once,)
        assert without_ours(in_halves) == without_ours(at_once)


def test_pipelined_requests_are_answered_in_their_order(server):
    names = ["a decision", "no JSON", "a dry run", "with an id of its own", "a batch", "a decision"]
    alone = [ask(server, REQUESTS[name])[0] for name in names]
    together = b"".join(REQUESTS[name] for name in names)
    cut = len(together) - 9
    for pieces in ([together], [together[:cut], together[cut:]]):
        answers = ask(server, *pieces, n=len(names))
        assert [*map(without_ours, answers)] == [*map(without_ours, alone)]


def test_thousands_of_wrong_requests_behind_a_right_one_are_each_answered(server):
    wrong = request(body=b"{")
    first, *others = ask(server, request() + 2000 * wrong, n=2001)
    assert first[0].startswith(b"HTTP/1.1 200")
    assert {head[9:12] for head, _ in others} == {b"422"}


def test_a_connection_that_is_to_be_closed_is(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(request(connection="close"))
        head, _, body = connection.makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert head.endswith(b"connection: close")
    assert len(json.loads(body)["slate"]) == 2


# -- one connection, without a network ----------------------------------------------------------


class Asked:
    """A connection to a service that answers what waits when it is told to."""

    def __init__(self, engine):
        config = uvicorn.Config(create_app(engine), log_config=None, ws="none", proxy_headers=False)
        self.engine, self.transport = engine, Written()
        self.protocol = TimedProtocol(config, ServerState(), {})
        self.protocol.connection_made(self.transport)

    def send(self, data):
        self.protocol.data_received(data)

    def answer(self):
        waiting = self.engine.queue.drain()
        assert waiting
        set_results([(one.answer, ValueError("a bug")) for one in waiting])

    @property
    def statuses(self):
        return [*map(int, re.findall(rb"HTTP/1.1 (\d+)", b"".join(self.transport.pieces)))]


@pytest.fixture
def play(tmp_path):
    """Runs a test's steps in an event loop, with a connection to an engine that has not started."""
    engine = Engine(Store.create(tmp_path, sb.SlateUCB(4, ["a", "b"])), Settings())

    def run(steps):
        async def steps_of_one():
            await steps(Asked(engine))

        asyncio.run(steps_of_one())

    yield run
    engine.writer.start()
    engine.learning.start()
    engine.stop()


def test_no_task_is_needed_for_a_whole_request(play):
    async def steps(one):
        one.send(request())
        assert not one.protocol.tasks
        assert one.transport.pieces == []
        one.answer()  # by a bug, which is answered, too
        assert one.statuses == [500]
        one.send(request()[:-1])
        assert len(one.protocol.tasks) == 1
        for task in [*one.protocol.tasks]:
            task.cancel()

    play(steps)


def test_a_client_that_does_not_read_gets_one_answer_more_at_most(play):
    async def steps(one):
        one.send(request())
        one.protocol.pause_writing()
        one.answer()
        assert one.statuses == [500]
        for _ in range(3):
            one.send(request(body=b"{"))
        await asyncio.sleep(0)
        assert one.statuses == [500]
        one.protocol.resume_writing()
        while len(one.statuses) < 4:
            await asyncio.sleep(0)
        assert one.statuses == [500, 422, 422, 422]

    play(steps)


def test_nothing_is_done_for_a_client_that_has_gone(play):
    async def steps(one):
        one.send(request() + request())
        one.protocol.connection_lost(None)
        one.answer()
        await asyncio.sleep(0)
        assert one.transport.pieces == []
        assert len(one.engine.queue) == 0

    play(steps)


def test_the_end_waits_for_an_answer_that_is_due(play):
    async def steps(one):
        one.send(request())
        one.protocol.shutdown()
        assert not one.transport.closed
        one.answer()
        assert one.transport.closed
        assert b"\r\nconnection: close\r\n" in one.transport.pieces[0]

    play(steps)
