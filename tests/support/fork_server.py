"""Servers as forks of one process that has imported the service already.

A fork is a process of its own, with its own memory, signals and exit code, which runs
`semibandit serve` from its first line to the end of the interpreter. Only what every server imports
is there before, which takes longer than all else that the server of a test does. This file is also
the program of that one process.
"""

import atexit
import gc
import importlib
import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
from functools import cache

import line_coverage

PRELOADED = (
    "semibandit.cli.app",
    "semibandit.service.serve",
    "semibandit.policies.compiled_learning",
    "numba.np.npyimpl",
    "psycopg",
    "scipy.linalg.blas",
    "uvicorn.loops.uvloop",
)


class ForkServer:
    """The process that has imported everything, for as long as this one runs."""

    def __init__(self):
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            number = theirs.fileno()
            command = [sys.executable, __file__, str(number)]
            self._process = subprocess.Popen(
                command, pass_fds=[number], stdout=subprocess.DEVNULL, env=environment()
            )
        atexit.register(self.close)

    def start(self, arguments, variables=()):
        """A fork that runs `semibandit` with these arguments and variables of its environment."""
        request = json.dumps([arguments, os.getcwd(), environment() | dict(variables)]).encode()
        ours, theirs = socket.socketpair()
        (out, child_out), (errors, child_errors) = os.pipe(), os.pipe()
        socket.send_fds(self._ours, [request], [child_out, child_errors, theirs.fileno()])
        for descriptor in (child_out, child_errors):
            os.close(descriptor)
        theirs.close()
        return Fork(ours, open(out), open(errors))

    def close(self):
        self._ours.close()
        self._process.wait()


class Fork:
    """What tests use of `subprocess.Popen`, for a child of the fork server."""

    def __init__(self, parent, stdout, stderr):
        self._parent, self.stdout, self.stderr = parent, stdout, stderr
        pid, (self._handle, *_), *_ = socket.recv_fds(parent, 20, 1)
        self.pid, self.returncode = int(pid), None

    def poll(self):
        if self.returncode is None and select.select([self._handle], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout=None):
        if self.returncode is None:
            if not select.select([self._handle], [], [], timeout)[0]:
                raise TimeoutError(f"process {self.pid} runs after {timeout} seconds")
            self._parent.send(b"?")
            self.returncode = int(self._parent.recv(20))
            self._parent.close()
            os.close(self._handle)
        return self.returncode

    def send_signal(self, which):
        if self.poll() is None:
            signal.pidfd_send_signal(self._handle, which)

    def kill(self):
        self.send_signal(signal.SIGKILL)


@cache
def fork_server():
    """The one of this process, started when it is first asked for."""
    return ForkServer()


def environment():
    """The variables of a server's process."""
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", "NO_COLOR": "1"}


def fork_until_closed(requests):
    """Fork for every request; returns in the forks, with their arguments."""
    children = selectors.DefaultSelector()
    children.register(requests, selectors.EVENT_READ)
    while True:
        for key, _ in children.select():
            if key.data is not None:
                end(key.fileobj, key.data)
                children.unregister(key.fileobj)
                key.fileobj.close()
                continue
            request, descriptors, *_ = socket.recv_fds(requests, 1_000_000, 3)
            if not request:
                left = [one.data for one in children.get_map().values() if one.data is not None]
                for pid in left:  # of tests that failed
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                sys.exit()
            out, errors, number = descriptors
            asking = socket.socket(fileno=number)
            pid = os.fork()
            if pid == 0:
                for opened in list(children.get_map().values()):
                    opened.fileobj.close()
                children.close()
                asking.close()
                return become(json.loads(request), out, errors)
            os.close(out)
            os.close(errors)
            handle = os.pidfd_open(pid)
            socket.send_fds(asking, [str(pid).encode()], [handle])
            os.close(handle)
            children.register(asking, selectors.EVENT_READ, pid)


def end(asking, pid):
    """Tell the exit code of a child that has ended; kill it if nobody is there to be told."""
    asked = asking.recv(1)
    if not asked:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if asked:
        asking.send(str(code).encode())


def become(request, out, errors):
    """Take the streams, folder and variables of the request."""
    arguments, folder, variables = request
    for descriptor, stream in ((out, 1), (errors, 2)):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    return arguments


if __name__ == "__main__":
    line_coverage.start()
    for module in PRELOADED:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # forks would otherwise copy all pages when they collect, which takes 0.5 s each
    sys.argv = ["semibandit", *fork_until_closed(socket.socket(fileno=int(sys.argv[1])))]
    importlib.import_module("semibandit.__main__")
