"""A reader-writer lock: many `rank` at once, one `learn` alone, and neither starves the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Lock"]


class Lock:
    """Readers share, a writer excludes. A waiting writer goes before readers that come later, and
    after it all readers that waited go before the next writer."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._readers = self._readers_waiting = self._writers_waiting = 0
        self._turn = 0  # readers that may pass waiting writers
        self._writing = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._free:
            self._readers_waiting += 1
            try:
                while self._writing or (self._writers_waiting and not self._turn):
                    self._free.wait()
                self._readers += 1
            finally:
                self._readers_waiting -= 1
                self._turn = min(max(self._turn - 1, 0), self._readers_waiting)
        try:
            yield
        finally:
            with self._free:
                self._readers -= 1
                if not self._readers:
                    self._free.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._free:
            self._writers_waiting += 1
            try:
                while self._writing or self._readers or self._turn:
                    self._free.wait()
                self._writing = True
            finally:
                self._writers_waiting -= 1
        try:
            yield
        finally:
            with self._free:
                self._writing = False
                self._turn = self._readers_waiting
                self._free.notify_all()
