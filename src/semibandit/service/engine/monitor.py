"""The monitor: a thread that notices if others are stuck in a call that cannot be interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["Monitor"]

LOOK_EVERY = 0.25  # seconds


class Monitor:
    """Calls a function again and again, in a daemon thread."""

    def __init__(self, look: Callable[[], None]) -> None:
        self._look = look
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="monitor", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.wait(LOOK_EVERY):
            self._look()
