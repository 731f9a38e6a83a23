"""What is written to stderr: time and level in every line, request ids, and no secrets."""

import json
import logging
import re
import socket

import pytest
from server import BUILD, LocalServer, Server, refused

import semibandit as sb
from semibandit.service.engine.engine import Engine
from semibandit.service.http.app import create_app
from semibandit.service.logs import JsonFormatter, TextFormatter
from semibandit.store.store import Store

STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
LINE = re.compile(rf"{STAMP} (?:INFO|WARNING|ERROR) [\w.]+: .+")


def test_a_line_for_every_request_if_asked(tmp_path):
    options = ("--access-log", "--api-key", "s3cret", "--log-level", "error")
    with Server(tmp_path / "s", *BUILD, *options) as server:
        head = {"authorization": "Bearer s3cret", "x-request-id": "page-view-7"}
        answer = server.post("/v1/rank?dry_run=true", {"context": [1, 0, 0, 0]}, headers=head)
        assert answer.headers["x-request-id"] == "page-view-7"
        server.get("/v1/state?key=s3cret", headers={"x-request-id": "a b"})
        server.get("/no%0Asuch%0Apath")
    first, second, third = server.errors
    assert all(LINE.fullmatch(line.strip()) for line in server.errors)
    size = len(answer.content)
    text = rf"POST /v1/rank 200 [\d.]+ ms {size} bytes \(request page-view-7\)"
    assert re.search(text, first)
    assert re.search(r"GET /v1/state 401 .* \(request [0-9a-f]{8}-[0-9a-f]+\)", second)
    assert "GET /no%0Asuch%0Apath 401" in third
    assert not any("s3cret" in line for line in server.errors)


def test_as_json(tmp_path):
    options = ("--access-log", "--log-format", "json")
    with Server(tmp_path / "s", *BUILD, *options) as server:
        answer = server.post("/rank", {"context": [1]})
    (line,) = server.errors
    entry = json.loads(line)
    assert re.fullmatch(STAMP, entry.pop("time"))
    assert 0 < entry.pop("ms") < 60_000
    assert entry.pop("message").startswith("POST /rank 422")
    assert entry == {
        "level": "info", "logger": "semibandit.access", "method": "POST", "path": "/rank",
        "status": 422, "bytes": len(answer.content), "request_id": answer.headers["x-request-id"],
    }  # fmt: skip


def test_ids_are_ours_unless_the_clients_can_be_used(server):
    given = ["x" * 100, "a/b:c=d@e+f._-"]
    for id in given:
        assert server.get("/livez", headers={"x-request-id": id}).headers["x-request-id"] == id
    ours = {server.get("/livez", headers={"x-request-id": id}).headers["x-request-id"]
            for id in ("", "x" * 101, "two words", "<script>", '"')}  # fmt: skip
    assert len(ours) == 5
    assert all(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]+", id) for id in ours)


def test_uvicorns_own_lines_have_the_same_form(tmp_path):
    with (
        Server(tmp_path / "s", *BUILD) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection,
    ):
        connection.sendall(b"this is no HTTP\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400")
    (line,) = server.errors
    assert LINE.fullmatch(line.strip())
    assert "WARNING uvicorn.error: Invalid HTTP request received." in line


@pytest.mark.parametrize("formatter", [TextFormatter, JsonFormatter])
def test_a_bug_is_logged_with_the_id_of_its_request(tmp_path, monkeypatch, caplog, formatter):
    lines = []

    class Lines(logging.Handler):
        def emit(self, record):
            lines.append(self.format(record))

    handler = Lines()
    handler.setFormatter(formatter())
    monkeypatch.setattr(logging.getLogger("semibandit"), "handlers", [handler])
    engine = Engine(Store.create(tmp_path / "s", sb.SlateUCB(4, 3)))
    with LocalServer(create_app(engine)) as server, monkeypatch.context() as patch:
        patch.setattr(Engine, "submit", lambda *_: None + 1)
        answer = server.post("/rank", {"context": [1, 0, 0, 0]}, headers={"x-request-id": "mine"})
        assert (answer.status_code, answer.headers["x-request-id"]) == (500, "mine")
    (line,) = lines
    if formatter is JsonFormatter:
        entry = json.loads(line)
        assert (entry["request_id"], entry["level"]) == ("mine", "error")
        assert "TypeError" in entry["traceback"]
    else:
        assert "(request mine)\nTraceback" in line


def test_a_text_cannot_look_like_another_line():
    record = logging.LogRecord("a", 30, "", 0, "one\n2026-01-01 ERROR two", (), None)
    assert "\n" not in TextFormatter().format(record)
    assert "\n" not in JsonFormatter().format(record)


def test_what_is_no_format_or_level_is_refused(tmp_path):
    text = refused(tmp_path / "s", *BUILD, "--log-format", "xml")
    assert "log format = 'xml', expected one of text, json" in text
    text = refused(tmp_path / "s", *BUILD, "--log-level", "loud")
    assert "log level = 'loud', expected one of debug, info, warning, error" in text
