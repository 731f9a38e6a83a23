"""A deadline for calls to a server that may never answer.

A server that is stopped or cut off obeys no timeout of its own, and the kernel may acknowledge for
it. So one thread of the process looks at all connections, and cuts those whose call takes too long.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import Protocol

__all__ = ["WATCHDOG", "Watched", "Watchdog"]

LOOK_EVERY = 0.25  # seconds


class Watched(Protocol):
    """A connection; it sets `since` before a call and None after it, which costs next to nothing.

    `limit` is how many seconds a call may take.
    """

    since: float | None  # by time.monotonic()
    limit: float

    def cut(self) -> None:
        """Make the call that is under way fail. It must not block."""
        ...


class Watchdog:
    """Watches connections in a daemon thread, which ends when there are none."""

    def __init__(self) -> None:
        self._watched: weakref.WeakSet[Watched] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, connection: Watched) -> None:
        """Watch a connection from now on."""
        with self._lock:
            self._watched.add(connection)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
                self._thread.start()

    def remove(self, connection: Watched) -> None:
        """Watch it no more: when this returns, it is not being cut, and will not be."""
        with self._lock:
            self._watched.discard(connection)

    def _run(self) -> None:
        while True:
            time.sleep(LOOK_EVERY)
            with self._lock:
                if not self._watched:
                    self._thread = None
                    return
                self._look(time.monotonic())

    def _look(self, now: float) -> None:
        for one in list(self._watched):
            since = one.since
            if since is not None and now - since > one.limit:
                one.cut()


WATCHDOG = Watchdog()  # of this process
