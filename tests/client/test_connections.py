"""Connections: kept, used again, and made anew when the server has closed them."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from semibandit.client.connections import Connections
from semibandit.client.messages import NoAnswer
from semibandit.errors import InputError


class Echo(BaseHTTPRequestHandler):
    """Answers with the path; notes every connection and request, and closes if it is told to."""

    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.server.connections.append(self)

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.command, self.path, body, dict(self.headers)))
        if self.server.closes:
            self.close_connection = True  # without a word about it
        if "/nothing" in self.path:
            self.close_connection = True
            return
        if "/slow" in self.path:
            self.server.go.wait(30)
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.path)))
        self.end_headers()
        self.wfile.write(self.path.encode())

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    one = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    one.daemon_threads = True
    one.connections, one.asked, one.closes, one.go = [], [], False, threading.Event()
    one.url = f"http://127.0.0.1:{one.server_port}"
    running = threading.Thread(target=one.serve_forever, args=(0.01,))
    running.start()
    yield one
    one.go.set()
    one.shutdown()
    running.join()
    one.server_close()


def test_a_connection_is_kept_and_used_again(server):
    kept = Connections(server.url + "/base/", {"X": "1"}, 5.0)
    for _ in range(5):
        assert kept.ask("POST", "/a?b=1", b"{}", repeat=True) == (200, b"/base/a?b=1")
    assert len(server.connections) == 1
    command, path, body, headers = server.asked[0]
    assert (command, path, body) == ("POST", "/base/a?b=1", b"{}")
    assert (headers["X"], headers["Content-Type"]) == ("1", "application/json")
    kept.close()
    assert kept.ask("GET", "/", repeat=True).status == 200
    assert len(server.connections) == 2
    assert "Content-Type" not in server.asked[-1][3]
    kept.close()


def test_what_the_server_has_closed_is_made_anew_also_if_nothing_may_be_sent_twice(server):
    kept = Connections(server.url, {}, 5.0)
    server.closes = True
    for n in range(1, 4):
        assert kept.ask("POST", "/a", b"{}", repeat=False).status == 200
        assert kept._idle[0].sock.recv(1) == b""  # the end has arrived
        assert len(server.asked) == n
    kept.close()


def test_what_may_be_sent_twice_is_sent_again_once(server):
    kept = Connections(server.url, {}, 5.0)
    kept.ask("GET", "/", repeat=True)
    with pytest.raises(NoAnswer) as why:
        kept.ask("POST", "/nothing", b"{}", repeat=True)
    assert (why.value.never_sent, why.value.late) == (False, False)
    assert [one[1] for one in server.asked] == ["/", "/nothing", "/nothing"]
    kept.ask("GET", "/", repeat=True)
    with pytest.raises(NoAnswer):
        kept.ask("POST", "/nothing", b"{}", repeat=False)
    assert len(server.asked) == 5
    kept.close()


def test_a_server_that_is_late_or_not_there(server):
    kept = Connections(server.url, {}, 0.05)
    kept.ask("GET", "/", repeat=True)
    with pytest.raises(NoAnswer) as why:
        kept.ask("GET", "/slow", repeat=True)
    assert why.value.late
    assert [one[1] for one in server.asked] == ["/", "/slow"]  # and not once more
    kept.close()
    with pytest.raises(NoAnswer) as why:
        Connections("http://127.0.0.1:1", {}, 1.0).ask("GET", "/", repeat=False)
    assert why.value.never_sent


def test_many_threads_never_share_a_connection(server):
    kept = Connections(server.url, {}, 5.0)

    def ask(k):
        for i in range(30):
            assert kept.ask("GET", f"/{k}/{i}", repeat=True).body == f"/{k}/{i}".encode()

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(server.asked) == 180
    assert len(server.connections) <= 6
    kept.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_is_asked_if_the_environment_says_so(server, monkeypatch, scheme):
    monkeypatch.setenv(f"{scheme}_proxy", server.url)
    monkeypatch.setenv("no_proxy", "")
    kept = Connections(f"{scheme}://user:p%40ss@service.example/v", {}, 5.0)
    if scheme == "https":
        with pytest.raises(NoAnswer, match="Tunnel connection failed"):
            kept.ask("GET", "/a", repeat=True)
        return
    assert kept.ask("GET", "/a", repeat=True).body == b"http://service.example/v/a"
    assert server.asked[0][3]["Authorization"] == "Basic dXNlcjpwQHNz"
    kept.close()


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://a", "http://", "http://a:x", 7, None])
def test_what_is_no_url_is_refused(url):
    with pytest.raises(InputError, match="it must be http://host:port"):
        Connections(url, {}, 1.0)
