"""Numbers for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from semibandit.service.engine.engine import Engine

__all__ = ["Metrics"]

BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Metrics:
    """What `GET /metrics` says: requests as they come, the engine's numbers when asked."""

    def __init__(self, engine: Engine) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # no second number for each
        self._engine, self._registry = engine, CollectorRegistry()
        self._requests = Counter(
            "semibandit_requests",
            "Requests answered",
            ["what", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "semibandit_seconds",
            "From a request's arrival to its answer",
            ["what"],
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._children: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._registry.register(self)

    def count_request(self, what: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        found = self._children.get((what, status))
        if found is None:  # finding them by their labels takes longer than counting
            found = self._requests.labels(what, str(status)), self._seconds.labels(what)
            self._children[what, status] = found
        requests, times = found
        requests.inc()
        times.observe(seconds)

    def collect(self) -> Iterable[Metric]:
        """The engine's numbers as they are now."""
        engine, learning, statistics = self._engine, self._engine.learning, self._engine.statistics
        for name, text, value in (
            ("decisions", "Decisions in the log", statistics.decisions),
            ("feedback", "Feedback in the log", statistics.feedback),
            ("shown", "Labels shown that there was feedback on", statistics.shown),
            ("clicks", "Labels clicked", statistics.clicks),
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
            ("snapshot_position", "The last event in a snapshot", learning.snapshot_position),
            ("store_up", "Whether the store can be used", int(engine.writer.store_down is None)),
        ):
            yield GaugeMetricFamily(f"semibandit_{name}", text, value)

    def text(self) -> bytes:
        """In Prometheus' text form."""
        return generate_latest(self._registry)
