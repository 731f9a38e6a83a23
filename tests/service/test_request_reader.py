"""What is read of a connection: small heads, no offers, no trailers; and refusals that arrive."""

import http.client
import json
import re
import socket
import ssl
from itertools import pairwise

import pytest
from server import BUILD, PATIENCE, Server, until

from semibandit.service.http.request_reader import MAX_HEAD, MAX_HEADERS

KEY, READ_KEY = "write-key", "read-key"
RANK = b'{"context": [1, 0, 0, 0], "slots": 2}'
LIVEZ = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n"
KEYED = b"Authorization: Bearer write-key\r\n"
POST = b"POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
MORE = ("--api-key", KEY, "--read-key", READ_KEY, "--header-timeout", 2, "--body-timeout", 2)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("reader") / "s", *BUILD, *MORE, "--keep-alive", 2) as one:
        yield one
    assert not [line for line in one.errors if "Invalid HTTP request" not in line]


def connect(server):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def seen(server):
    """What was sent before this returns has been read: another connection was answered."""
    assert server.get("/livez").status_code == 200


def answers(connection):
    """The status and the body of all that comes until the server closes the connection."""
    with connection, connection.makefile("rb") as file:
        found = file.read()
    heads = [*re.finditer(rb"HTTP/1\.1 (\d+) [^\r]*\r\n(?:[^\r]+\r\n)*\r\n", found)]
    ends = [one.start() for one in heads[1:]] + [len(found)]
    return [(int(one[1]), found[one.end() : end]) for one, end in zip(heads, ends, strict=True)]


def ask(server, *pieces):
    """The answers to requests that are sent in these pieces, the last of which closes."""
    connection = connect(server)
    for piece in pieces[:-1]:
        connection.sendall(piece)
        seen(server)
    connection.sendall(pieces[-1])
    return answers(connection)


def post(body=RANK, *headers, key=KEYED, begin=POST, close=True):
    lines = [b"Connection: close\r\n"] if close else []
    lines += [b"%s\r\n" % one for one in headers]
    return begin + key + b"".join(lines) + b"Content-Length: %d\r\n\r\n" % len(body) + body


# -- heads -----------------------------------------------------------------------------------------

ENDLESS = {
    "headers": (LIVEZ, b"a:\r\n" * 15000),
    "long headers": (LIVEZ, b"X-bbb: aaa\r\n" * 6000),
    "one value": (LIVEZ + b"X: ", b"a" * 60_000),
    "one name": (LIVEZ, b"a" * 60_000),
    "a path": (b"GET /", b"a" * 60_000),
    "empty lines": (b"", b"\r\n" * 30_000),
    "trailers": (post(b"", b"Transfer-Encoding: chunked")[:-21] + b"\r\n0\r\n", b"a:\r\n" * 15000),
    "one trailer": (
        post(b"", b"Transfer-Encoding: chunked")[:-21] + b"\r\n0\r\nX: ",
        b"a" * 60_000,
    ),
    "a chunk's extension": (
        post(b"", b"Transfer-Encoding: chunked")[:-21] + b"\r\n1;",
        b"a" * 60_000,
    ),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_a_head_without_an_end_is_refused(server, what):
    """Whatever it is that does not end; what is sent meanwhile does not hide the answer."""
    begin, piece = ENDLESS[what]
    connection = connect(server)
    connection.sendall(begin)
    for _ in range(20):
        connection.sendall(piece)
    connection.shutdown(socket.SHUT_WR)
    ((status, body),) = answers(connection)
    assert status == 431
    assert json.loads(body)["detail"] == (
        f"a request may have at most {MAX_HEADERS} headers and {MAX_HEAD} bytes of them"
    )


def headers(n, size=1):
    return b"".join(b"X-%d: %s\r\n" % (i, b"a" * size) for i in range(n))


@pytest.mark.parametrize(
    ("more", "status"),
    [
        (headers(MAX_HEADERS - 2), 200),
        (headers(MAX_HEADERS - 1), 431),
        (headers(1, MAX_HEAD - 100), 200),
        (headers(1, MAX_HEAD), 431),
    ],
)
def test_a_head_has_the_same_limits_however_it_is_sent(server, more, status):
    whole = LIVEZ + b"Connection: close\r\n" + more + b"\r\n"
    half = len(whole) // 2
    for pieces in ([whole], [whole[:half], whole[half:]], [LIVEZ + b"\r\n" + whole]):
        assert [one[0] for one in ask(server, *pieces)][-1] == status


def test_what_is_refused_is_answered_in_its_turn_and_counted(server):
    def counted():
        text = server.get("/metrics", headers={"Authorization": f"Bearer {KEY}"}).text
        found = re.search(r'requests_total\{status="431",what="other"\} (\S+)', text)
        return float(found[1]) if found else 0.0

    before = counted()
    right = post(close=False)
    chunked = right[: right.index(b"Content-Length")] + b"Transfer-Encoding: chunked\r\n\r\n"
    for last, status in (
        (LIVEZ + headers(MAX_HEADERS + 1), 431),
        (b"no HTTP\r\n\r\n", 400),
        (chunked + b"1\r\nxyz", 400),  # longer than the chunk says it is
        (chunked + b"1\r\nx\r\n0\r\n" + b"a:\r\n" * MAX_HEAD, 431),
    ):
        assert [one[0] for one in ask(server, 3 * right + last)] == [200, 200, 200, status]
    assert counted() == before + 2


# -- offers and trailers ---------------------------------------------------------------------------

OFFERS = [b"foo", b"websocket", b"TLS/1.0", b"h2c", b"h2c, foo", b"H2C "]


@pytest.mark.parametrize("offer", OFFERS)
def test_a_body_is_never_read_as_a_request(server, offer):
    """Whatever other protocol the request offers, and however it is cut into packets."""
    smuggled = LIVEZ + b"X-Request-ID: SMUGGLED\r\n\r\n"
    for body, status in ((smuggled, 422), (RANK, 200)):
        offers = [b"Connection: Upgrade", b"Upgrade: " + offer, b"HTTP2-Settings: AAEAAEAAAAI"]
        request, last = post(body, *offers, close=False), post()
        head, in_value = request.index(b"\r\n\r\n") + 4, request.index(b"grade: ") + 8
        for cuts in ([], [head], [in_value], [in_value, head, head + 9]):
            ends = [0, *cuts, len(request)]
            pieces = [request[a:b] for a, b in pairwise(ends)]
            found = ask(server, *pieces, request + last)
            assert [one[0] for one in found] == [status, status, 200]


def test_an_offer_on_a_connection_that_is_to_be_closed(server):
    request = post(RANK, b"Upgrade: foo").replace(
        b"Connection: close", b"Connection: close, Upgrade"
    )
    assert [one[0] for one in ask(server, request)] == [200]
    assert [one[0] for one in ask(server, request[:-9], request[-9:])] == [200]
    connect_to = b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert [one[0] for one in ask(server, connect_to)] == [400]


def chunked(head, trailer, path=b"/v1/rank", body=RANK):
    begin = b"POST %s HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n" % path
    ends = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n" % (len(body), body)
    return begin + head + ends + trailer + b"\r\n"


HOST = b"Host: localhost\r\n"
READS = KEYED.replace(b"write", b"read")


@pytest.mark.parametrize(
    ("head", "trailer", "status"),
    [
        (HOST, KEYED, 401),
        (HOST + READS, KEYED, 403),
        (b"Host: evil.com\r\n" + KEYED, HOST, 421),
        (HOST + KEYED + b"Origin: http://evil.com\r\n", b"Sec-Fetch-Site: none\r\n", 403),
        (HOST + KEYED, b"Host: evil.com\r\nAuthorization: no\r\nContent-Type: text/plain\r\n", 200),
    ],
)
def test_trailers_are_no_headers(server, head, trailer, status):
    whole = chunked(head, trailer)
    for pieces in ([whole], [whole[:-5], whole[-5:]]):
        assert [one[0] for one in ask(server, *pieces)] == [status]
    batch = chunked(head, trailer, b"/v1/rank/batch", b'{"requests": []}')
    assert [one[0] for one in ask(server, batch)] == [status]


@pytest.mark.parametrize(
    "twice",
    [
        b"Host: evil.com\r\n",
        HOST,
        KEYED,
        b"Authorization: Bearer no\r\n",
        b"Content-Type: text/plain\r\n",
        b"Origin: http://localhost\r\nOrigin: http://evil.com\r\n",
    ],
)
def test_headers_that_decide_may_not_come_twice(server, twice):
    right = post()
    end = right.index(b"Content-Length")
    for request in (right[:end] + twice + right[end:], POST[:24] + twice + right[24:]):
        ((status, body),) = ask(server, request)
        assert status == 400
        name = twice.partition(b":")[0].decode().lower()
        assert json.loads(body)["detail"] == f"the request has two {name} headers"
    assert ask(server, right[:end] + b"Accept: a\r\nAccept: b\r\n" + right[end:])[0][0] == 200


# -- refusals that arrive --------------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [False, True])
def test_a_client_that_is_still_sending_gets_the_answer(server, chunks):
    """http.client sends all of its body before it reads; a reset would take the answer with it."""
    body, size = b" " * (1 << 20), 12
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    types = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    length = {} if chunks else {"Content-Length": str(size << 20)}
    client.request(
        "POST", "/v1/rank", (body for _ in range(size)), types | length, encode_chunked=chunks
    )
    answer = client.getresponse()
    assert (answer.status, answer.headers["connection"]) == (413, "close")
    assert json.loads(answer.read()) == {"detail": "the body may have at most 1048576 bytes"}
    client.close()


def test_a_client_that_never_stops_sending_is_cut_off(server):
    """What is dropped has a limit, and a time."""
    connection = connect(server)
    connection.sendall(post(b"", b"X: 1").replace(b"Length: 0", b"Length: 9999999999"))
    with connection, pytest.raises(ConnectionError):
        connection.sendall(b" " * (1 << 27))
    with connect(server) as slow:
        slow.sendall(post(b"", b"X: 1").replace(b"Length: 0", b"Length: 9999999999"))
        assert slow.recv(1 << 16).startswith(b"HTTP/1.1 413")

        def cut_off():
            try:
                slow.send(b" ")
            except ConnectionError:
                return True

        until(cut_off)


# -- TLS -------------------------------------------------------------------------------------------


def test_a_tls_handshake_has_the_time_of_a_head(tmp_path):
    here = __file__.rpartition("/service/")[0] + "/support/tls"
    files = ("--certfile", f"{here}/cert.pem", "--keyfile", f"{here}/key.pem")
    with Server(tmp_path / "s", *BUILD, *files, "--header-timeout", 0.5) as server:
        stuck = [socket.create_connection(("127.0.0.1", server.port), 30) for _ in range(20)]
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="a")
        with pytest.raises(ssl.SSLWantReadError):
            client.do_handshake()
        for one in stuck[10:]:
            one.sendall(outgoing.read(100) or b"\x16\x03\x01")
        for one in stuck:  # in half of the minute that a handshake may take otherwise
            with one:
                assert one.recv(1) == b""
    assert "".join(server.errors) == ""
