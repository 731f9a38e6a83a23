"""Numbers for Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import generate_latest

from semibandit.service.engine.engine import Engine

__all__ = ["Metrics"]

BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Metrics:
    """What `GET /metrics` says: requests as they come, the engine's numbers when asked.

    Only the event loop counts here. Prometheus' own counters lock for every one.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine, self._registry = engine, CollectorRegistry()
        self._requests: dict[tuple[str, str], int] = defaultdict(int)  # by what and status
        self._times: dict[str, list[int]]  # by what: how many in each bucket
        self._times = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)  # by what: all together
        self._registry.register(self)

    def answered(self, what: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self._requests[what, str(status)] += 1
        self._times[what][bisect_left(BUCKETS, seconds)] += 1
        self._seconds[what] += seconds

    def collect(self) -> Iterable[Metric]:
        """The engine's numbers as they are now."""
        requests = CounterMetricFamily(
            "semibandit_requests", "Requests answered", labels=["what", "status"]
        )
        for names, n in self._requests.items():
            requests.add_metric(names, n)
        yield requests
        seconds = HistogramMetricFamily(
            "semibandit_seconds", "From a request's arrival to its answer", labels=["what"]
        )
        for what, times in self._times.items():
            limits = [*map(str, BUCKETS), "+Inf"]
            buckets = zip(limits, accumulate(times), strict=True)
            seconds.add_metric([what], [*buckets], self._seconds[what])
        yield seconds
        engine, learning, tally = self.engine, self.engine.learning, self.engine.tally
        for name, text, value in (
            ("decisions", "Decisions in the log", tally.decisions),
            ("feedback", "Feedback in the log", tally.feedback),
            ("shown", "Labels shown that there was feedback on", tally.shown),
            ("clicks", "Labels clicked", tally.clicks),
            ("learned", "Events learned since the start", learning.learned),
            ("passed_over", "Events that could not be learned", learning.passed_over),
        ):
            yield CounterMetricFamily(f"semibandit_{name}", text, value)
        for name, text, value in (
            ("waiting", "Requests that wait to be answered", engine.waiting),
            ("backlog", "Feedback in the log that is not yet learned", learning.backlog),
            ("labels", "Labels that can be shown", engine.learner.n_labels),
            ("version", "The learner's round", engine.learner.t),
            ("log_position", "The last event of the log", engine.store.last),
            ("snapshot_position", "The last event in a snapshot", learning.snapshot_at),
            ("store_up", "Whether the store can be used", int(engine.down is None)),
        ):
            yield GaugeMetricFamily(f"semibandit_{name}", text, value)

    def text(self) -> bytes:
        """In Prometheus' text form."""
        return generate_latest(self._registry)
