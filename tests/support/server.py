"""A real server process, started and stopped as a user would, or killed; and one in a thread."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx2
import uvicorn
from fork_server import environment, fork_server

BUILD = ("--features", "4", "--labels", "a,b,c,d,e,f")
PATIENCE = 60.0  # seconds until something that must happen is taken not to


class Asking:
    """What tests ask of a service at `self.http`."""

    def post(self, path, body=None, **more):
        return self.http.post(path, json=body, **more)

    def get(self, path, **more):
        return self.http.get(path, **more)

    def state(self):
        return self.get("/state").json()

    def rank(self, context=(1.0, 0.0, 0.0, 0.0), **more):
        return self.post("/rank", {"context": list(context), **more})

    def feedback(self, id, clicked, **more):
        return self.post("/feedback", {"id": id, "clicked": clicked, **more})

    def until(self, condition):
        """Wait until the state fulfils it."""
        return until(lambda: condition(self.state()))


class LocalServer(Asking):
    """An application served over HTTP by a thread of this process: its code can be patched."""

    def __init__(self, app):
        plain = {"log_level": "warning", "access_log": False, "ws": "none"}
        self._server = uvicorn.Server(uvicorn.Config(app, port=0, **plain))
        self._thread = threading.Thread(target=self._server.run)

    def __enter__(self):
        self._thread.start()
        until(lambda: self._server.started or not self._thread.is_alive())
        port = self._server.servers[0].sockets[0].getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        self.http = httpx2.Client(base_url=url, trust_env=False, timeout=PATIENCE)
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.http.close()
        self._server.should_exit = True
        self._thread.join(PATIENCE)


class Server(Asking):
    """`semibandit serve` on a free port of loopback, once a line begins with `ready`.

    It is a fork of a process that has imported the service, unless `env` is {} or has variables
    that are not the command's own: then Python is started anew.
    """

    def __init__(self, store, *arguments, env=None, port=0, ready=("http://", "https://"), **popen):
        command = ["serve", "--store", str(store), "--port", str(port), *map(str, arguments)]
        ours = env is None or (env and all(name.startswith("SEMIBANDIT_") for name in env))
        if ours and not popen:
            self.process = fork_server().start(command, env or {})
        else:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "semibandit", *command],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**environment(), **(env or {})},
                **popen,
            )
        self.errors = []
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()
        self.output = []
        for line in self.process.stdout:
            self.output.append(line.strip())
            if line.startswith(ready):
                self.url = line[line.index("http") :].split()[0]
                break
        else:
            self.process.wait(PATIENCE)
            self._reader.join(PATIENCE)
            self.url = None
        self.http = None
        if self.url is not None:
            limits = httpx2.Limits(max_connections=None)
            self.http = httpx2.Client(
                base_url=self.url, trust_env=False, timeout=PATIENCE, limits=limits
            )

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])

    def kill(self):
        """As the power goes."""
        self._close()
        self.process.kill()
        self.process.wait(PATIENCE)
        self._finish()

    def stop(self, how=signal.SIGTERM):
        """As a user does; the exit code."""
        self._close()
        self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        self._finish()
        return code

    def __enter__(self):
        assert self.url is not None, "".join(self.errors)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        else:
            self._close()
            self._finish()

    def _close(self):
        if self.http is not None:
            self.http.close()

    def _finish(self):
        self._reader.join(PATIENCE)
        for pipe in (self.process.stdout, self.process.stderr):
            pipe.close()

    def _read_errors(self):
        self.errors.extend(self.process.stderr)


def until(condition):
    """Ask until it is so, and return what it gave."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)
    return found


def refused(store, *arguments, code=2, **more):
    """What a server that does not start says, ending with this exit code."""
    server = Server(store, *arguments, **more)
    assert server.url is None
    server._finish()
    assert server.process.returncode == code, server.errors
    return "".join(server.errors)


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]
