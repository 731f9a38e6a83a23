"""The queue of requests that wait: many threads put, one takes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence

from semibandit.errors import ServiceUnavailable
from semibandit.service.engine.requests import Pending

__all__ = ["RequestQueue"]


class RequestQueue:
    """Requests in the order they came, at most `most` of them."""

    def __init__(self, most: int) -> None:
        self.condition = threading.Condition()  # whoever holds it keeps all others out
        self._most = most
        self._requests: deque[Pending] = deque()
        self._stopping = False

    def __len__(self) -> int:
        return len(self._requests)

    def put(self, requests: Sequence[Pending], *, wake: bool = True) -> None:
        """Let requests wait, all or none: `ServiceUnavailable` if too many wait already.

        Without `wake`, whoever waits for requests goes on waiting until `wake` is called.
        """
        with self.condition:
            if self._stopping:
                raise ServiceUnavailable("the service is stopping")
            if len(self._requests) + len(requests) > self._most:
                raise ServiceUnavailable("too many requests are waiting: try again later")
            self._requests.extend(requests)
            if wake:
                self.condition.notify()

    def wake(self) -> None:
        """Wake up whoever waits for requests, if there are some."""
        with self.condition:
            if self._requests:
                self.condition.notify()

    def take(self, most: int, timeout: float | None) -> list[Pending] | None:
        """The requests that wait, at most so many; waits until there is one.

        The list is empty if there was none within the timeout, and None after `stop`, once all
        were taken.
        """
        with self.condition:
            if not self._requests and not self._stopping:
                self.condition.wait(timeout)
            if not self._requests and self._stopping:
                return None
            return [self._requests.popleft() for _ in range(min(len(self._requests), most))]

    def drain(self) -> list[Pending]:
        """Take out all requests that wait."""
        with self.condition:
            waiting = list(self._requests)
            self._requests.clear()
            return waiting

    def stop(self) -> None:
        """Take no more requests in; those that wait can still be taken out."""
        with self.condition:
            self._stopping = True
            self.condition.notify_all()
