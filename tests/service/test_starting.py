"""The port is open while the learner is rebuilt, and says how far it is."""

import signal
import threading
import time

import numpy as np
import pytest
from engines import running
from server import LocalServer, Server, until

import semibandit as sb
from semibandit.service.http.app import create_app
from semibandit.service.http.starting import StartingApp
from semibandit.store.event import Decision, Feedback
from semibandit.store.store import Store

LARGE, EVENTS = 500, 1500  # features; decisions with feedback: seconds to learn
EARLY = "starting at "


@pytest.fixture
def gated(tmp_path):
    """A service that starts, how far it is said to be, and what lets it go on."""
    goes, ended, engines = threading.Event(), threading.Event(), []

    def build(progress):
        progress(1200, 50000)
        goes.wait()
        progress(1201, 50000)
        engines.append(running(tmp_path).engine)
        return create_app(engines[0])

    app = StartingApp(build, ended.set)
    with LocalServer(app) as server:
        yield server, goes, ended, app
        goes.set()


def test_it_answers_while_it_starts_and_then_the_service_does(gated):
    server, goes, ended, _ = gated
    until(lambda: "1200" in server.get("/readyz").text)
    for path in ("/readyz", "/healthz"):
        answer = server.get(path)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        assert answer.json() == {
            "detail": "starting: 1200 of 50000 events learned",
            "progress": 0.024,
        }
    assert server.get("/livez").json() == {"status": "ok"}
    for answer in (server.rank(), server.feedback("x", []), server.get("/state"), server.get("/")):
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "starting" in answer.json()["detail"]
    goes.set()
    until(ended.is_set)
    assert server.get("/readyz").json() == {"status": "ok"}
    assert server.rank(slots=1).status_code == 200


def test_it_can_be_stopped_while_it_starts(gated):
    server, goes, ended, app = gated
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    until(lambda: app._stopping)
    goes.set()
    stopping.join()
    assert not ended.is_set()  # no engine was made, no thread is left


@pytest.fixture
def unlearned(tmp_path):
    """A store whose log takes seconds to learn."""
    random = np.random.default_rng(0)
    with Store.create(tmp_path, sb.SlateUCB(LARGE, 3, bias=False)) as store:
        shown = {"labels": [0, 1], "prob": [0.5, 0.5], "estimate": [0.5, 0.5], "width": [0.1, 0.1]}
        asked = {"slots": 2, "candidates": None, "exclude": None, "version": 1}
        for i in range(EVENTS):
            x = random.standard_normal(LARGE)
            decision = Decision(f"d{i}", time.time(), x, **asked, **shown, draw=i, seen=x)
            store.append([decision, Feedback(f"d{i}", time.time(), [i % 2])])
    return tmp_path


def test_a_process_listens_at_once_and_ends_in_time(unlearned):
    with Server(unlearned, "--grace", 3, ready=EARLY) as server:
        found = server.get("/readyz").json()
        assert found["detail"].startswith("starting: ")
        assert found["detail"].endswith(f" of {2 * EVENTS} events learned")
        assert server.get("/livez").status_code == 200
        assert server.rank().status_code == 503
        until(lambda: 0 < server.get("/readyz").json()["progress"] < 1)
        assert server.stop() == 0  # it would be 1 if the process had not ended within its grace
        assert "".join(server.errors) == ""
    with Server(unlearned, ready=EARLY) as server:
        assert server.stop(signal.SIGINT) == 0


def test_a_log_that_cannot_be_learned_ends_it_as_ever(unlearned):
    with Store(unlearned) as store:
        store._db.rows("UPDATE semibandit_events SET body = '{' WHERE seq = 400")
    with Server(unlearned, ready=EARLY) as server:
        assert server.process.wait(60) == 2
        server._reader.join()
        assert "the log has a damaged event" in "".join(server.errors)
        assert "".join(server.errors).startswith("semibandit serve: ")
