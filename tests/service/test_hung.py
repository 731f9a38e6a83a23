"""A store that hangs: never invisible, never in the way of stopping, and it comes back."""

import contextlib
import os
import signal
import sqlite3
import threading
import time
from pathlib import Path

import httpx2
import pytest
from engines import count, give, learned, rank, running, status
from postgres import Postgres
from server import BUILD, LocalServer, Server, until
from visits import away, everything_is_there, visit

from semibandit.service.engine import engine as engine_module
from semibandit.service.engine import learning
from semibandit.service.http.app import create_app
from semibandit.service.settings import Timeouts
from semibandit.store.store import Store

TIMEOUT, GRACE = 1, 3
OPTIONS = (*BUILD, "--store-timeout", TIMEOUT, "--grace", GRACE)
A_LITTLE = 1.5  # seconds: the watchdog's look, and two busy cores


@contextlib.contextmanager
def stopped_processes(database):
    """All processes of a PostgreSQL server, stopped as by a hung machine."""
    first = int((database.folder / "data/postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    processes = [first, *map(int, children)]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


@contextlib.contextmanager
def locked_file(where):
    """Another program holds a write transaction in SQLite's file."""
    other = sqlite3.connect(Path(where) / "semibandit.db", isolation_level=None)
    try:
        other.execute("BEGIN EXCLUSIVE")
        yield
        other.execute("ROLLBACK")
    finally:
        other.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    """Where a store is, and how to hang it."""
    if request.param == "sqlite":
        yield str(tmp_path / "s"), lambda: locked_file(tmp_path / "s")
    else:
        database = Postgres()
        yield database.database(), lambda: stopped_processes(database)
        database.remove()


def seconds(work):
    start = time.monotonic()
    result = work()
    return result, time.monotonic() - start


def test_a_hung_store_is_answered_with_503_and_comes_back(store):
    where, hung = store
    with Server(where, *OPTIONS) as server:
        known = [f"before-{i}" for i in range(3)]
        assert all(visit(server, name).status_code == 200 for name in known)
        with hung():
            answer, took = seconds(lambda: visit(server, "during"))
            assert away(answer)
            assert took < TIMEOUT + A_LITTLE
            for _ in range(20):  # nobody waits again
                answer, took = seconds(lambda: visit(server, "during"))
                assert away(answer)
                assert took < 0.5
            assert away(server.feedback("before-0", []))
            for path in ("/readyz", "/healthz"):
                health = server.get(path)
                assert (health.status_code, health.headers["retry-after"]) == (503, "1")
                assert health.json()["detail"] == "the store is away"
            assert server.get("/livez").json() == {"status": "ok"}
            assert "semibandit_store_up 0.0" in server.get("/metrics").text
        until(lambda: server.get("/readyz").status_code == 200)
        assert "semibandit_store_up 1.0" in server.get("/metrics").text
        assert all(visit(server, name).status_code == 200 for name in ("during", "after"))
        server.until(lambda state: state["backlog"] == 0)
        assert server.post("/snapshot").status_code == 200
        assert server.stop() == 0
    everything_is_there(where, [*known, "during", "after"])


def ask_in_vain(server):
    with contextlib.suppress(httpx2.TransportError):
        server.rank(id="during")


def test_a_hung_store_does_not_keep_the_process_from_ending(store):
    where, hung = store
    with Server(where, *OPTIONS) as server:
        assert visit(server, "before").status_code == 200
        with hung():
            asking = threading.Thread(target=ask_in_vain, args=(server,))
            asking.start()
            until(lambda: server.state()["waiting"] == 0)  # the writer has it
            server.process.send_signal(signal.SIGTERM)
            _, took = seconds(lambda: server.process.wait(60))
            assert took < GRACE + A_LITTLE
            asking.join()
    everything_is_there(where, ["before"])


def test_a_store_that_hangs_at_the_start_is_refused(store):
    where, hung = store
    Server(where, *OPTIONS).stop()
    with hung():
        server, took = seconds(lambda: Server(where, *OPTIONS))
        assert took < 30
        assert (server.url, server.process.returncode) == (None, 2)
        server._finish()
        assert "".join(server.errors).startswith("semibandit serve: ")


def test_a_disk_that_never_answers_does_not_keep_the_process_from_ending(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import threading\nfrom semibandit.store.store import Store\n"
        "append = Store.append\n"
        "def stuck(self, new, waited=None):\n"
        "    new[0].id == 'stuck' and threading.Event().wait()\n"
        "    return append(self, new, waited)\n"
        "Store.append = stuck\n"
    )
    env = {"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    with Server(tmp_path / "s", *OPTIONS, env=env) as server:
        assert visit(server, "before").status_code == 200
        assert away(server.rank(id="stuck"))
        assert "the store has not answered for" in server.get("/readyz").json()["detail"]
        code, took = seconds(server.stop)
        assert (code, took < GRACE + A_LITTLE) == (1, True)
        assert "it did not stop within 3 s" in "".join(server.errors)
    everything_is_there(tmp_path / "s", ["before"])


# -- calls that cannot be interrupted ----------------------------------------------------------


@pytest.fixture
def stuck(monkeypatch):
    """While `stuck` is clear, no append returns: a disk under SQLite that hangs in fsync."""
    goes, append = threading.Event(), Store.append
    goes.set()

    def slow(self, *arguments):
        goes.wait()
        return append(self, *arguments)

    monkeypatch.setattr(Store, "append", slow)
    yield goes
    goes.set()


def test_a_writer_that_is_stuck_is_noticed_and_goes_on_afterwards(tmp_path, stuck):
    with running(tmp_path, timeouts=Timeouts(store=0.2)) as engine:
        shown = rank(engine, id="before")
        stuck.clear()
        (code, took) = seconds(lambda: status(lambda: give(engine, "before", shown.labels[:1])))
        assert code == 503
        assert took < 0.2 + 1.0 + A_LITTLE
        assert "the store has not answered for" in engine.problem
        assert engine.writer.store_down is not None
        assert engine.live_problem is None
        code, took = seconds(lambda: status(lambda: rank(engine, id="during")))
        assert (code, took < 0.5) == (503, True)
        stuck.set()
        until(lambda: engine.healthy)
        learned(engine, 1)  # it was written after all
        assert give(engine, "before", shown.labels[:1]).clicked == shown.labels[:1]
        assert rank(engine, id="during").labels
        assert (count(engine, "feedback"), engine.learning.learned) == (1, 1)


def test_requests_that_wait_behind_a_stuck_group_are_refused_too(tmp_path, stuck):
    with running(tmp_path, timeouts=Timeouts(store=0.2)) as engine:
        stuck.clear()
        codes = []
        asking = [
            threading.Thread(target=lambda: codes.append(status(lambda: rank(engine))))
            for _ in range(5)
        ]
        for one in asking:
            one.start()
        for one in asking:
            one.join(10)
        assert codes == [503] * 5
        stuck.set()
        until(lambda: engine.healthy)


def test_only_a_restart_helps_after_a_while(tmp_path, stuck, monkeypatch):
    monkeypatch.setattr(engine_module, "RESTART_AFTER", 1.5)
    with running(tmp_path, timeouts=Timeouts(store=0.1)) as engine:
        assert engine.live_problem is None
        stuck.clear()
        assert status(lambda: rank(engine)) == 503
        until(lambda: engine.live_problem is not None)
        assert "the store has not answered for" in engine.live_problem
        stuck.set()
        until(lambda: engine.live_problem is None)


def test_learning_that_is_stuck_shows(tmp_path, monkeypatch):
    goes, learn = threading.Event(), learning.learn_events
    monkeypatch.setattr(learning, "STUCK_AFTER", 0.1)

    def stuck(learner, events, since):
        goes.wait()
        return learn(learner, events, since=since)

    monkeypatch.setattr(learning, "learn_events", stuck)
    engine = running(tmp_path).engine
    with LocalServer(create_app(engine)) as server:
        shown = server.rank(id="one").json()
        assert server.feedback("one", [shown["slate"][0]["label"]]).status_code == 200
        until(lambda: server.get("/readyz").status_code == 503)
        assert "learning has been at one event for" in server.get("/readyz").json()["detail"]
        assert server.get("/livez").status_code == 200
        goes.set()
        until(lambda: server.get("/readyz").status_code == 200)


def test_a_thread_that_died_shows(tmp_path, monkeypatch):
    with running(tmp_path) as engine:
        monkeypatch.setattr(engine.queue, "take", lambda *_: None)  # the writer ends
        rank_soon = threading.Thread(target=lambda: engine.queue.put([]))
        rank_soon.start()
        until(lambda: engine.live_problem == "a thread has died")
        assert engine.problem == "it does not answer any more"
