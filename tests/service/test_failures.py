"""Disk full, a store that cannot be written, a database that goes and comes back."""

import ctypes
import os
import random
import resource
import shutil
import sqlite3
from pathlib import Path

import pytest
import typer
from engines import rank, running, visits
from postgres import Postgres
from server import BUILD, LocalServer, Server, refused, until
from visits import away, everything_is_there, visit

import semibandit as sb
from semibandit.cli.errors import reporting_errors
from semibandit.service.http.app import create_app
from semibandit.store import sqlite
from semibandit.store.store import Store


def test_a_disk_that_fills_up_and_empties(tmp_path):
    """The server may not write files beyond their size now: that is what a full disk is to it."""
    where, known = tmp_path / "s", []
    with Server(where, *BUILD) as server:
        limits = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        for i in range(5):
            assert visit(server, f"before-{i}").status_code == 200
            known.append(f"before-{i}")
        size = max(path.stat().st_size for path in where.iterdir())
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, limits[1]))
        refusals, health = 0, set()
        for i in range(200):
            answer = visit(server, f"full-{i}")
            if answer.status_code == 200:
                known.append(f"full-{i}")
            elif away(answer):
                refusals += 1
                health.add(server.get("/healthz").status_code)
            if refusals > 5:
                break
        assert refusals > 5
        assert 503 in health
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limits)
        until(lambda: visit(server, "after").status_code == 200)
        known.append("after")
        until(lambda: server.get("/healthz").status_code == 200)
        server.until(lambda state: state["backlog"] == 0)
    everything_is_there(where, known)


def _unlink(*ends):
    return lambda where: [(where / f"semibandit.{end}").unlink() for end in ends]


HARM = {
    "deleted": _unlink("db"),
    "all of it deleted": _unlink("db", "db-wal", "db-shm", "lock"),
    "its write-ahead log deleted": _unlink("db-wal"),
    "its shared memory deleted": _unlink("db-shm"),
    "its folder deleted": shutil.rmtree,
    "replaced": lambda where: os.replace(where.parent / "copy", where / "semibandit.db"),
    "cut short": lambda where: os.truncate(where / "semibandit.db", 3 * 4096),
}


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    """A store with a hundred visits, that nobody uses."""
    where = tmp_path_factory.mktemp("closed") / "s"
    with running(where) as engine:
        visits(engine, 0, 100)
    return where


@pytest.mark.parametrize("how", HARM)
def test_a_store_that_is_taken_away_while_it_is_open_acknowledges_nothing(
    tmp_path, closed, how, caplog
):
    where = tmp_path / "s"
    shutil.copytree(closed, where)
    shutil.copy(where / "semibandit.db", tmp_path / "copy")
    with LocalServer(create_app(running(where).engine)) as server:
        assert visit(server, "two").status_code == 200
        HARM[how](where)
        if how == "cut short":
            until(lambda: server.get("/readyz").status_code == 503)
        assert away(server.rank(id="three"))
        health = server.get("/readyz")
        assert (health.status_code, health.headers["retry-after"]) == (503, "1")
        what = how.split()[-1] if how != "cut short" else how
        assert f"was {what}" in health.json()["detail"]
        assert "while it was open. Put that very file back;" in health.json()["detail"]
        assert str(tmp_path) not in health.text
        assert server.get("/livez").status_code == 200  # a restart would make it worse
        assert server.state()["problems"][0]["what"].startswith("The service cannot work: ")
        assert away(server.feedback("v1", []))
        assert server.post("/snapshot").status_code == 503
    assert caplog.text.count("the store failed: the store's file") == 1


def test_a_store_that_is_taken_away_is_noticed_while_nobody_asks_and_may_come_back(tmp_path):
    where = tmp_path / "s"
    with Server(where, *BUILD) as server:
        assert visit(server, "one").status_code == 200
        where.rename(tmp_path / "elsewhere")
        until(lambda: server.get("/readyz").status_code == 503)
        (tmp_path / "elsewhere").rename(where)
        until(lambda: server.get("/readyz").status_code == 200)
        assert visit(server, "two").status_code == 200
    everything_is_there(where, ["one", "two"])


def test_no_empty_store_takes_the_place_of_one_that_was_deleted(tmp_path, closed):
    where = tmp_path / "s"
    shutil.copytree(closed, where)
    (where / "semibandit.db").rename(tmp_path / "kept")
    text = refused(where, *BUILD)
    assert f"{where} has semibandit.lock, but no semibandit.db: the database of this" in text
    (tmp_path / "semibandit.toml").touch()  # is no store's
    with Server(tmp_path, *BUILD) as server:
        assert server.state()["decisions"] == 0
    (tmp_path / "kept").rename(where / "semibandit.db")
    everything_is_there(where, ["v1"])


def test_a_database_that_someone_vacuums_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "CHECK_EVERY", 0.0)
    with running(tmp_path) as engine:
        visits(engine, 0, 100)
        other = sqlite3.connect(tmp_path / "semibandit.db", isolation_level=None)
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        engine.store.check()
        before = (tmp_path / "semibandit.db").stat().st_size
        other.execute("DELETE FROM semibandit_events WHERE kind = 'feedback'")
        other.execute("VACUUM")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        other.close()
        assert (tmp_path / "semibandit.db").stat().st_size < before
        engine.store.check()
        assert rank(engine).id
        assert engine.healthy


def test_a_start_on_a_full_disk_says_so_and_may_be_tried_again(tmp_path, monkeypatch, capsys):
    """SQLite may not make its file larger than a page: to it, that is a full disk."""
    where, connect = tmp_path / "s", sqlite3.connect

    def small(*arguments, **more):
        db = connect(*arguments, **more)
        db.execute("PRAGMA max_page_count=1")
        return db

    def start():
        with reporting_errors("serve"):
            Store.create(where, sb.SlateUCB(4, 3))

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", small)
        with pytest.raises(typer.Exit) as end:
            start()
    assert end.value.exit_code == 75
    (text,) = capsys.readouterr().err.splitlines()
    file = f"{where}/semibandit.db"
    assert text.startswith(f"semibandit serve: {file}: the disk is full: make room on it (")
    with running(where) as engine:
        assert rank(engine).id


@pytest.mark.parametrize("page", ["first", "middle"])
def test_a_start_with_a_damaged_page_says_what_to_do_and_is_not_tried_again(tmp_path, closed, page):
    where = tmp_path / "s"
    shutil.copytree(closed, where)
    file = where / "semibandit.db"
    content = bytearray(file.read_bytes())
    place = 0 if page == "first" else len(content) // 4096 // 2 * 4096
    content[place : place + 4096] = random.Random(1).randbytes(4096)
    file.write_bytes(content)
    text = refused(where, code=65)
    assert text.startswith(f"semibandit serve: {file}: the database is damaged (")
    assert "): restore a backup, or see how much of it `sqlite3 semibandit.db .recover`" in text
    assert len(text.splitlines()) == 1
    unit = (Path(__file__).parents[2] / "deploy" / "semibandit.service").read_text()
    assert "RestartPreventExitStatus=65\n" in unit


def without_override():
    """Root that minds permissions, like anybody: without CAP_DAC_OVERRIDE."""
    PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def test_a_store_that_cannot_be_written_is_refused_at_the_start(tmp_path):
    where = tmp_path / "s"
    with Server(where, *BUILD) as server:
        assert visit(server, "one").status_code == 200
    minding = {"preexec_fn": without_override} if os.geteuid() == 0 else {}
    for mode, what in ((0o555, 0o444), (0o555, 0o000)):
        for path in where.iterdir():
            path.chmod(what)
        where.chmod(mode)
        text = refused(where, **minding)
        assert text.startswith("semibandit serve: ")
        assert str(where) in text
        assert "Traceback" not in text
    where.chmod(0o755)
    for path in where.iterdir():
        path.chmod(0o644)
    with Server(where, **minding) as server:
        assert server.state()["feedback"] == 1


def test_a_copy_of_the_folder_after_a_crash_is_whole(tmp_path):
    where = tmp_path / "s"
    with Server(where, *BUILD) as server:
        assert visit(server, "one").status_code == 200
        server.kill()
    shutil.copytree(where, tmp_path / "copy")
    everything_is_there(tmp_path / "copy", ["one"])


@pytest.fixture
def database():
    """A PostgreSQL of its own, to be stopped and started."""
    server = Postgres()
    yield server
    server.remove()


@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_a_database_that_goes_and_comes_back(database, how):
    where, known = database.database(), []
    with Server(where, *BUILD) as server:
        for i in range(5):
            assert visit(server, f"before-{i}").status_code == 200
            known.append(f"before-{i}")
        database.stop(how)
        assert away(server.rank(id="during"))
        assert away(server.feedback("before-0", []))
        assert server.get("/healthz").status_code == 503
        assert server.post("/snapshot").status_code == 503
        database.start()
        until(lambda: server.get("/healthz").status_code == 200)
        assert visit(server, "after").status_code == 200
        known.append("after")
        server.until(lambda state: state["backlog"] == 0)
        assert server.post("/snapshot").status_code == 200
    everything_is_there(where, known)


def test_a_database_that_is_not_there_is_refused_at_the_start(tmp_path):
    text = refused(f"postgresql:///nothing?host={tmp_path}", *BUILD)
    assert text.startswith("semibandit serve: PostgreSQL: ")
    assert "Traceback" not in text
