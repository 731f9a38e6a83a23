"""The queue of requests that wait: many threads put, one takes."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Sequence

from semibandit.errors import ServiceUnavailable
from semibandit.service.engine.requests import Pending

__all__ = ["WAITED_TOO_LONG", "RequestQueue"]

WAITED_TOO_LONG = "too many requests were waiting before this one: try again later"


class RequestQueue:
    """Requests in the order they came, at most `most` of them.

    Those that have waited for more than `patience` seconds are not worth an answer any more.
    """

    def __init__(self, most: int, patience: float = math.inf) -> None:
        self.condition = threading.Condition()  # whoever holds it keeps all others out
        self._most, self._patience = most, patience
        self._requests: deque[tuple[Pending, float]] = deque()  # and when they have arrived
        self._stopping = False

    def __len__(self) -> int:
        return len(self._requests)

    def put(
        self, requests: Sequence[Pending], *, arrived: float = math.inf, wake: bool = True
    ) -> None:
        """Let requests wait, all or none: `ServiceUnavailable` if too many wait already.

        They have `arrived` at that time of `time.perf_counter`; by default they may wait for ever.
        Without `wake`, whoever waits for requests goes on waiting until `wake` is called.
        """
        with self.condition:
            if self._stopping:
                raise ServiceUnavailable("the service is stopping")
            if len(self._requests) + len(requests) > self._most:
                raise ServiceUnavailable("too many requests are waiting: try again later")
            self._requests.extend([(one, arrived) for one in requests])
            if wake:
                self.condition.notify()

    def wake(self) -> None:
        """Wake up whoever waits for requests, if there are some."""
        with self.condition:
            if self._requests:
                self.condition.notify()

    def take(self, most: int, timeout: float | None) -> tuple[list[Pending], list[Pending]] | None:
        """The requests that wait, at most so many, and those that have waited for too long.

        Waits until there is one; there is none if none came within the timeout. None after `stop`,
        once all were taken.
        """
        with self.condition:
            if not self._requests and not self._stopping:
                self.condition.wait(timeout)
            if not self._requests and self._stopping:
                return None
            taken: list[Pending] = []
            late: list[Pending] = []
            oldest = time.perf_counter() - self._patience
            while self._requests and len(taken) < most:
                one, arrived = self._requests.popleft()
                (late if arrived < oldest else taken).append(one)
            return taken, late

    def drain(self) -> list[Pending]:
        """Take out all requests that wait."""
        with self.condition:
            waiting = [one for one, _ in self._requests]
            self._requests.clear()
            return waiting

    def stop(self) -> None:
        """Take no more requests in; those that wait can still be taken out."""
        with self.condition:
            self._stopping = True
            self.condition.notify_all()
