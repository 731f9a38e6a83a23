"""The library on systems other than Linux: what they lack is taken away, and it works."""

import io
import os
import re
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path

import pytest
import uvicorn
from engines import running
from server import LocalServer

import semibandit
from semibandit import cli
from semibandit._util import ray_cluster
from semibandit._util.atomic import replacing
from semibandit.data.download.cache import cache_folder
from semibandit.errors import InputError
from semibandit.service import serve
from semibandit.service.http.app import create_app
from semibandit.service.http.hosts import AllowedHosts
from semibandit.service.http.protocol import HttpServer
from semibandit.service.keys import Keys
from semibandit.service.settings import Settings
from semibandit.store import postgres

POSIX_ONLY = re.compile(
    r"^ *(import|from) (fcntl|grp|posix|pty|pwd|resource|syslog|termios|tty)\b"
    r"|\bos\.(fork|geteuid|getuid|mkfifo|sched_getaffinity|setsid)\b"
    r"|\badd_signal_handler\b",
    re.MULTILINE,
)


@pytest.fixture
def not_posix(monkeypatch):
    monkeypatch.setattr(os, "name", "other")  # "nt" would have pathlib make paths of Windows


def test_no_module_needs_what_only_posix_has():
    for path in Path(semibandit.__file__).parent.rglob("*.py"):
        assert not POSIX_ONLY.search(path.read_text(encoding="utf-8")), path


def test_new_files_of_others_are_judged_by_their_age(tmp_path, not_posix, monkeypatch):
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("on Windows this ends the process"))
    for name, age in ((".file.1-a.tmp", 7200), (".file.1-b.tmp", 60)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, time.time() - age))
    with replacing(tmp_path / "file") as file:
        file.write(b"one")
    assert sorted(os.listdir(tmp_path)) == [".file.1-b.tmp", "file"]


def test_a_new_file_that_is_open_elsewhere_stays(tmp_path, not_posix, monkeypatch):
    (tmp_path / ".file.1-a.tmp").touch()
    os.utime(tmp_path / ".file.1-a.tmp", (0, 0))
    monkeypatch.setattr(Path, "unlink", denied)
    with replacing(tmp_path / "file") as file:
        file.write(b"one")
    assert (tmp_path / "file").read_bytes() == b"one"


def denied(*_, **__):
    raise PermissionError("another process has it open")


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("win32", {"LOCALAPPDATA": "/local"}, Path("/local/semibandit/Cache")),
        ("win32", {}, Path("/home/me/AppData/Local/semibandit/Cache")),
        ("darwin", {}, Path("/home/me/Library/Caches/semibandit")),
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, Path("/xdg/semibandit")),
        ("linux", {}, Path("/home/me/.cache/semibandit")),
    ],
)
def test_each_system_has_its_cache_folder(system, variables, expected, monkeypatch):
    for name in ("SEMIBANDIT_CACHE", "LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"HOME": "/home/me"} | variables).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert cache_folder() == expected


def test_a_user_without_a_home_says_where_the_cache_is(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("SEMIBANDIT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_folder() == Path("/xdg/semibandit")
    monkeypatch.delenv("XDG_CACHE_HOME")
    with pytest.raises(InputError, match="set SEMIBANDIT_CACHE to a folder"):
        cache_folder()


def test_keys_stay_as_they_are_if_there_is_no_sighup(tmp_path, not_posix, monkeypatch, caplog):
    (tmp_path / "keys").write_text("secret", encoding="utf-8")
    (tmp_path / "keys").chmod(0o644)  # every file looks like that on Windows
    settings = Settings(api_key_file=str(tmp_path / "keys"))
    keys = Keys(settings)
    server = HttpServer(uvicorn.Config(lambda: None), settings, list)
    before = signal.getsignal(signal.SIGHUP)
    hangup = signal.SIGHUP
    monkeypatch.delattr(signal, "SIGHUP")
    serve._reload_on_hangup(keys, server)
    assert signal.getsignal(hangup) == before
    assert not caplog.records  # there is no chmod to advise


def test_a_port_is_taken_by_one_program_alone(monkeypatch):
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_KEEPALIVE, raising=False)
    with serve._listen("127.0.0.1", 0) as listening:
        assert not listening.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
        assert listening.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


def test_the_service_answers_without_uvloop_and_tells_its_version(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvloop", None)
    engine = running(tmp_path / "store").engine  # the application starts and stops it
    with LocalServer(create_app(engine, Keys(Settings()), AllowedHosts())) as server:
        told = server.get("/openapi.json").json()
    assert told["info"]["version"] == semibandit.__version__


def test_a_connection_is_cut_by_a_second_handle(monkeypatch):
    monkeypatch.delattr(os, "dup")  # it knows no sockets on Windows
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with postgres._shared(ours.fileno()) as shared:
            assert shared.fileno() != ours.fileno()
            shared.shutdown(socket.SHUT_RDWR)
        assert theirs.recv(1) == b""
        assert ours.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)  # it is still open


def test_a_cluster_is_found_in_the_temporary_folder(tmp_path, not_posix, monkeypatch):
    monkeypatch.delenv("RAY_TMPDIR", raising=False)
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert ray_cluster._of_ray_start() is None
    (tmp_path / "ray").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        (tmp_path / "ray" / "ray_current_cluster").write_text(address, encoding="utf-8")
        assert ray_cluster._of_ray_start() == address


def test_a_stream_that_cannot_show_a_character_shows_a_question_mark(monkeypatch, cache):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "argv", ["semibandit", "data", "list"])
    monkeypatch.setenv("COLUMNS", "70")  # too narrow: "cardinality" ends with an ellipsis
    with pytest.raises(SystemExit) as end:
        cli.run()
    assert end.value.code == 0
    out.flush()
    assert b"? |" in out.buffer.getvalue()
