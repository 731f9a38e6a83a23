"""Requests that arrive whole are answered without ASGI: the same answers, in order, and no more."""

import asyncio
import json
import math
import re
import socket
import time
from concurrent.futures import Future

import pytest
import uvicorn
from engines import running
from server import BUILD, Server
from uvicorn.server import ServerState
from written import Written

import semibandit as sb
from semibandit.errors import ServiceUnavailable
from semibandit.service.engine.engine import Engine
from semibandit.service.engine.requests import set_results
from semibandit.service.http.app import create_app
from semibandit.service.http.handlers import Handlers
from semibandit.service.http.metrics import Metrics
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


# -- requests that wait for too long --------------------------------------------------------------

LIVEZ = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
WAITED = b'{"detail":"too many requests were waiting before this one: try again later"}'


@pytest.fixture
def clock(monkeypatch):
    """A clock that only goes on when it is told to: a list with the time."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return now


async def until_answered(one, n):
    """Until there are so many answers."""
    while len(one.statuses) < n:
        await asyncio.sleep(0)


async def settle(one):
    """Until nothing more is to be done without an answer of the engine."""
    for _ in range(200):
        await asyncio.sleep(0)


def test_what_waits_behind_a_slow_request_for_too_long_is_refused_without_a_look(play, clock):
    async def steps(one):
        one.send(request())
        one.send(3 * request(body=RANK + b" " * 9000) + LIVEZ)
        await settle(one)
        clock[0] += 0.3  # more than half of what a request may wait
        one.answer()
        await settle(one)
        assert one.statuses == [500, 503, 503, 503, 503]
        refused = b"".join(one.transport.pieces[1:])
        assert refused.count(b"\r\nretry-after: 1\r\n") == refused.count(WAITED) == 4
        one.send(request(body=b"{"))  # as if nothing had been
        assert one.statuses[5:] == [422]
        assert not one.transport.closed
        one.send(LIVEZ.replace(b"/livez", b"/metrics"))
        await until_answered(one, 7)
        found = one.transport.pieces[-1].decode()
        assert 'semibandit_requests_total{status="503",what="rank"} 3.0' in found
        assert 'semibandit_requests_total{status="503",what="health"} 1.0' in found

    play(steps)


def test_what_has_waited_less_is_answered(play, clock):
    async def steps(one):
        one.send(3 * request(body=RANK + b" " * 9000))
        for n in range(3):
            await settle(one)
            clock[0] += 0.1
            one.answer()
            await settle(one)
            assert one.statuses == [500] * (n + 1)

    play(steps)


@pytest.mark.parametrize(
    ("late", "statuses", "closed"),
    [
        (b"HEAD /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" + LIVEZ, [503, 503], False),
        (LIVEZ[:-2] + b"Connection: close\r\n\r\n" + LIVEZ, [503], True),
        (LIVEZ[:-2] + b"Connection: upgrade\r\nUpgrade: h2c\r\n\r\n" + LIVEZ, [503], True),
        (LIVEZ[:-2] + b"A: b\r\n" * 20_000 + b"\r\n", [431], True),
        (LIVEZ + b"no HTTP\r\n\r\n", [503, 400], True),
    ],
)
def test_a_refusal_without_a_look_is_still_http(play, clock, late, statuses, closed):
    async def steps(one):
        one.send(request())
        one.send(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + 5000 * b"a" + b"\r\n\r\n")
        one.send(late)
        clock[0] += 1
        one.answer()
        await settle(one)
        assert one.statuses == [500, 503, *statuses]
        assert one.protocol.transport.is_closing() == closed
        bodies = b"".join(one.transport.pieces).count(WAITED)
        assert bodies == one.statuses.count(503) - (late[:4] == b"HEAD")

    play(steps)


def test_half_a_request_that_came_late_is_refused_once_all_of_it_is_there(play, clock):
    whole = request(body=RANK + b" " * 9000)

    async def steps(one):
        one.send(request())
        one.send(whole + whole[:-10])
        clock[0] += 1
        one.answer()
        await settle(one)
        assert one.statuses == [500, 503]
        one.send(whole[-10:] + request(body=b"{"))
        await settle(one)
        assert one.statuses == [500, 503, 503, 422]

    play(steps)


def test_a_client_that_is_slow_has_not_waited(play, clock):
    """The time begins when all of a request is there."""

    async def steps(one):
        whole = request()
        one.send(whole[:-9])
        clock[0] += 9
        one.send(whole[-9:])
        await settle(one)
        assert len(one.engine.queue) == 1
        one.answer()
        await settle(one)
        assert one.statuses == [500]

    play(steps)


@pytest.mark.parametrize("name", ["rank", "dry_run", "feedback", "rank_batch", "feedback_batch"])
def test_every_way_to_decide_and_learn_looks_at_the_time(tmp_path, name):
    with running(tmp_path) as engine:
        handlers = Handlers(engine, Metrics(engine))
        with pytest.raises(ServiceUnavailable, match="too many requests were waiting"):
            asyncio.run(getattr(handlers, name)(b"", time.perf_counter() - 0.6))


def test_a_request_may_also_become_too_late_in_the_queue(tmp_path):
    with running(tmp_path) as engine:
        for arrived, late in ((time.perf_counter() - 0.6, True), (math.inf, False)):
            answer = Future()
            pending = engine.pending_rank([1.0, 0, 0, 0], 1, None, None, None, answer)
            engine.submit([pending], arrived=arrived)
            assert isinstance(answer.exception(30), ServiceUnavailable) == late
