"""Disk full, a store that cannot be written, a database that goes and comes back."""

import ctypes
import os
import resource
import shutil

import pytest
from postgres import Postgres
from server import BUILD, Server, refused, until
from visits import away, everything_is_there, visit


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
