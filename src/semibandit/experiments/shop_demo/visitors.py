"""Simulated visitors of a shop: they come to a running service through its HTTP API."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from semibandit._util.checks import is_number
from semibandit.client import Client
from semibandit.errors import InputError, ServiceUnavailable
from semibandit.experiments.shop_demo.learning_curve import LearningCurve
from semibandit.worlds.shop import Shop

__all__ = ["Visitors"]

FASTEST = 500.0  # visits a second: more than one thread could ask for
BEHIND = 1.0  # seconds: visits that are later than that are left out
PATIENCE = 1.0  # seconds to wait for the service, which may be about to end


class Visitors:
    """A thread in which visitors of a shop come one after the other.

    Each visit is a request to rank and its feedback, as any application would send them.

    Parameters
    ----------
    shop : Shop
        Whose visitors they are, and what they like.
    per_second : float
        How many visits there are in a second.
    slots : int
        How many items each is shown.
    seed : int
        Who comes and what is clicked is drawn with it.

    Raises
    ------
    InputError
        If there are too many visits in a second, or none.
    """

    def __init__(self, shop: Shop, per_second: float, slots: int, seed: int = 0) -> None:
        if not (is_number(per_second) and 0 < per_second <= FASTEST):
            raise InputError(
                f"visitors_per_second = {per_second!r}, but it must be above 0 and at most "
                f"{FASTEST:g}"
            )
        self._shop, self._pause, self._slots = shop, 1.0 / per_second, slots
        self._random = np.random.default_rng([seed, 2])
        self._lock, self._curve = threading.Lock(), LearningCurve()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, url: str, api_key: str | None = None) -> None:
        """Let them come to the service at this URL, until `stop`."""
        self._thread = threading.Thread(
            target=self._come, args=(url, api_key), name="visitors", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Let nobody come any more; returns when the last visit has ended."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()

    def progress(self) -> dict[str, Any]:
        """How many visits there were, and the click rate of what was shown, as JSON can hold it.

        The rate is exact: the mean of the true chances of what was shown.
        """
        with self._lock:
            curve = self._curve
            return {"visits": curve.visits, "rate": curve.now, "points": curve.points}

    def _come(self, url: str, api_key: str | None) -> None:
        with Client(url, api_key, timeout=PATIENCE, patience=PATIENCE) as client:
            due = time.monotonic()
            while not self._end.wait(max(0.0, due - time.monotonic())):
                due = max(due + self._pause, time.monotonic() - BEHIND)
                try:
                    self._visit(client)
                except ServiceUnavailable:  # it ends, or has too much to do: the next one may come
                    due = time.monotonic() + PATIENCE
                except InputError:  # it has met as many visitors as it can tell apart
                    continue

    def _visit(self, client: Client) -> None:
        visit = self._shop.draw(self._random)
        slate = client.rank(visit.context, self._slots)
        chances = self._shop.shown_chances(visit, slate.labels)
        clicks = self._random.random(len(chances)) < chances
        client.learn(slate, [label for label, yes in zip(slate.labels, clicks, strict=True) if yes])
        if len(chances):
            with self._lock:
                self._curve.add(float(chances.mean()))
