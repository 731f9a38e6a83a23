"""Numbers for Prometheus."""

from __future__ import annotations

import collections
import platform
from collections.abc import Iterable, Sequence
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import generate_latest

from semibandit._util.version import __version__
from semibandit.service.engine.engine import Engine
from semibandit.service.http.recent_requests import RecentRequests

__all__ = ["Metrics"]

BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
SIZES = (0, 1, 2, 3, 5, 10, 20, 50)  # of slates
WAITED_FOR = ("rank", "feedback", "rank/batch", "feedback/batch")  # by visitors
POSITIONS = 20  # that are counted one by one


class Metrics:
    """What `GET /metrics` says: requests as they come, the engine's numbers when asked."""

    def __init__(self, engine: Engine) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # no second number for each
        self._engine, self._registry = engine, CollectorRegistry()
        self._requests = self._counter("requests", "Requests answered", "what", "status")
        self._items = self._counter("batch_items", "Items of batches answered", "what", "status")
        self._seconds = Histogram(
            "semibandit_seconds",
            "From a request's arrival to its answer",
            ["what"],
            buckets=BUCKETS,
            registry=self._registry,
        )
        self.recent = RecentRequests()
        commits = Histogram(
            "semibandit_store_seconds",
            "A commit of events to the store",
            buckets=BUCKETS,
            registry=self._registry,
        )
        engine.writer.observe_commit = commits.observe
        self._children: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def count_request(self, what: str, status: int, seconds: float) -> None:
        """Count a request that was answered, under the name of its route."""
        if what in WAITED_FOR:
            self.recent.count(status, seconds)
        found = self._children.get((what, status))
        if found is None:  # finding them by their labels takes longer than counting
            found = self._requests.labels(what, str(status)), self._seconds.labels(what)
            self._children[what, status] = found
        requests, times = found
        requests.inc()
        times.observe(seconds)

    def count_items(self, what: str, statuses: Iterable[int]) -> None:
        """Count the items of a batch; the time is the batch's."""
        for status, n in collections.Counter(statuses).items():
            self._items.labels(what, str(status)).inc(n)

    def collect(self) -> Iterable[Metric]:
        """The engine's numbers as they are now."""
        summary = self._engine.statistics.summary()
        yield from self._counters(summary["totals"])
        yield from self._gauges()
        yield from self._undecided()
        yield _sizes(summary["sizes"])
        yield from _positions(summary["positions"])
        if (holdout := self._engine.holdout) is not None:
            yield from _arms(self._engine.statistics.compared(holdout.words))
            difference = self._engine.statistics.clicked_difference(holdout.words)
            yield from _uplift(holdout.share, difference)

    def text(self) -> bytes:
        """In Prometheus' text form."""
        return generate_latest(self._registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"semibandit_{name}", text, labels, registry=self._registry)

    def _counters(self, totals: dict[str, Any]) -> Iterable[Metric]:
        learning = self._engine.learning
        for name, text, value in (
            ("decisions", "Decisions in the log", totals["decisions"]),
            ("empty_slates", "Decisions to show nothing", totals["empty"]),
            ("feedback", "Feedback in the log, also that nobody gave", totals["feedback"]),
            ("waited", "Feedback that nobody gave in time", totals["waited"]),
            ("shown", "Labels shown that there was feedback on", totals["shown"]),
            ("clicks", "Labels clicked", totals["clicks"]),
            ("learned", "Events learned since the start", learning.learned),
            ("passed_over", "Events that could not be learned", learning.passed_over),
        ):
            yield CounterMetricFamily(f"semibandit_{name}", text, value)

    def _undecided(self) -> Iterable[Metric]:
        """Of a learner on a device: what its numbers could not tell."""
        if self._engine.settings.device is not None:
            text = "Searches for the best labels in which float32 could not tell two of them apart"
            value = getattr(self._engine.learner, "undecided", 0)
            yield CounterMetricFamily("semibandit_undecided", text, value)

    def _gauges(self) -> Iterable[Metric]:
        engine, learning = self._engine, self._engine.learning
        lag = learning.lag(engine.clock.time)
        pending = 0 if (erased := engine.eraser.pending) is None else erased.events
        for name, text, value in (
            ("waiting", "Requests that wait to be answered", engine.waiting),
            ("backlog", "Feedback in the log that is not yet learned", learning.backlog),
            ("lag_seconds", "Since the oldest event was logged that is not learned", lag),
            ("labels", "Labels that can be shown", engine.learner.n_labels),
            ("looked_share", "Share of labels looked at exactly", engine.learner.looked_share),
            ("version", "The learner's round", engine.learner.t),
            ("log_position", "The last event of the log", engine.store.last),
            ("snapshot_position", "The last event in a snapshot", learning.snapshot_position),
            ("store_up", "Whether the store can be used", int(engine.writer.store_down is None)),
            ("ready", "Whether it can decide and learn, as /readyz says", int(engine.healthy)),
            ("erased_pending", "Erased events that may still be in the database's files", pending),
            ("following", "Whether it follows another process", int(engine.following)),
        ):
            yield GaugeMetricFamily(f"semibandit_{name}", text, value)
        build = GaugeMetricFamily("semibandit_build_info", "Always 1", labels=["version", "python"])
        build.add_metric([__version__, platform.python_version()], 1)
        yield build


def _sizes(sizes: Sequence[int]) -> Metric:
    """Decisions by how many labels they show; `sizes[i]` of them show i, the last i or more."""
    buckets: list[Any] = [(str(most), sum(sizes[: most + 1])) for most in SIZES]
    buckets.append(("+Inf", sum(sizes)))
    total = sum(size * n for size, n in enumerate(sizes))
    return HistogramMetricFamily("semibandit_slate_size", "Labels of a decision", buckets, total)


def _arms(arms: dict[str, dict[str, Any]]) -> Iterable[Metric]:
    """What is compared: visits that the learner has decided, and those of the holdout."""
    for name, text in (
        ("visits", "Visits with feedback, by who decided"),
        ("clicked_visits", "Visits with a click, by who decided"),
        ("clicks", "Labels clicked, by who decided"),
    ):
        family = CounterMetricFamily(f"semibandit_holdout_{name}", text, labels=["arm"])
        for arm, counts in arms.items():
            family.add_metric([arm], counts[name])
        yield family


def _uplift(share: float, difference: tuple[float, float, float] | None) -> Iterable[Metric]:
    """The share of the holdout, and what the learner gains over it once both have visits."""
    yield GaugeMetricFamily("semibandit_holdout_share", "The share of visitors held out", share)
    text = "The share of visits with a click, the learner's less the holdout's"
    names = ("uplift", "uplift_low", "uplift_high")
    for name, which, value in zip(names, ("", ": low", ": high"), difference or (), strict=False):
        yield GaugeMetricFamily(f"semibandit_{name}", text + which, value)


def _positions(positions: Sequence[Sequence[int]]) -> Iterable[Metric]:
    """How often labels were shown and clicked in each position; those with feedback alone."""
    later = [[sum(column) for column in zip(*positions[POSITIONS:], strict=True)] or [0, 0]]
    for at, name, text in ((0, "shown", "Labels shown"), (1, "clicks", "Labels clicked")):
        family = CounterMetricFamily(
            f"semibandit_position_{name}",
            f"{text} in a position, with feedback",
            labels=["position"],
        )
        for i, counts in enumerate([*positions[:POSITIONS], *later], 1):
            last = i == min(len(positions), POSITIONS) + 1
            family.add_metric(["later" if last else str(i)], counts[at])
        yield family
