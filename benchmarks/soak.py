"""`python -m benchmarks.soak`: does a service stay as it is, for a long time under load?

A real `semibandit serve` on SQLite, with retention on: so many decisions and answers to them by
batch, spread evenly over so many minutes. Memory has to stay flat, the store bounded, and a restart
to take seconds. Nothing leaves this machine.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import typer

import semibandit as sb
from semibandit.errors import SemibanditError

HERE = Path(__file__).parent
FEATURES, LABELS, SLOTS = 20, 100, 5
BATCH = 250  # decisions in a request, and then answers to them
WORKERS = 2
KEEP = ("--keep", "60s")  # events older than that leave the store
SNAPSHOTS = ("--snapshot-every", "20000")  # what is older than a snapshot can leave
FLAT = 0.03  # growth of memory over the second half that counts as none, as a share of it
BOUNDED = 1.15  # times what the store took in the middle third that it may take in the last
RESTART = 10.0  # seconds


def serve_options() -> tuple[str, ...]:
    """Retention and snapshots, as far as this version of the command has them."""
    told = subprocess.run(
        [sys.executable, "-m", "semibandit", "serve", "--help"],
        capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "200"},
    ).stdout  # fmt: skip
    return tuple(word for option in (KEEP, SNAPSHOTS) if option[0] in told for word in option)


class Service:
    """A service process; `seconds` is how long it took to be ready."""

    def __init__(self, store: Path, *more: str) -> None:
        start = time.monotonic()
        command = [sys.executable, "-m", "semibandit", "serve", "--store", str(store)]
        self.process = subprocess.Popen(
            [*command, "--port", "0", *more], stdout=subprocess.PIPE, text=True, env=os.environ
        )
        assert self.process.stdout is not None
        line = next(line for line in self.process.stdout if line.startswith("http://"))
        self.url = line.strip()
        self.client = sb.Client(self.url, patience=60.0)
        self.client.labels  # noqa: B018  # answers once it is ready
        self.seconds = time.monotonic() - start

    def memory(self) -> int:
        """Bytes of memory that the process holds."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(text.split("VmRSS:")[1].split()[0])

    def stop(self) -> float:
        """Stop it as a system would; the seconds it took."""
        start = time.monotonic()
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)
        return time.monotonic() - start


@dataclass
class Counts:
    """What the load has done so far; workers share it."""

    events: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, good: int, bad: list[SemibanditError]) -> None:
        with self.lock:
            self.events += good
            self.errors.update(f"{type(one).__name__}: {str(one)[:80]}" for one in bad)


class Load:
    """Decisions and the answers to them, by batch, up to a number of events and a time."""

    def __init__(self, url: str, events: int, seconds: float) -> None:
        self.url, self.counts = url, Counts()
        self._events, self._start, self._seconds = events, time.monotonic(), seconds
        self._weights = np.random.default_rng(0).standard_normal((FEATURES, LABELS))
        self._threads = [threading.Thread(target=self._work, args=(k,)) for k in range(WORKERS)]
        for one in self._threads:
            one.start()

    @property
    def alive(self) -> bool:
        """Whether there is more to come."""
        return any(one.is_alive() for one in self._threads)

    def _work(self, seed: int) -> None:
        random = np.random.default_rng([1, seed])
        with sb.Client(self.url, patience=60.0) as client:
            while (late := self._lateness()) is not None:
                time.sleep(max(0.0, -late))
                self._turn(client, random)

    def _lateness(self) -> float | None:
        """Seconds that it is behind its plan; None if the number or the time is reached."""
        passed, done = time.monotonic() - self._start, self.counts.events
        if passed >= self._seconds or done >= self._events:
            return None
        return passed - self._seconds * done / self._events

    def _turn(self, client: sb.Client, random: np.random.Generator) -> None:
        X = random.standard_normal((BATCH, FEATURES))
        slates = client.rank_many(X, SLOTS, errors="return")
        likes = X @ self._weights + 2 * random.standard_normal((BATCH, LABELS)) > 4
        told = [
            (slate, [label for label in slate.labels if likes[i, label]])
            for i, slate in enumerate(slates)
            if not isinstance(slate, SemibanditError)
        ]
        found = client.learn_many(told, errors="return")
        bad = [one for one in [*slates, *found] if isinstance(one, SemibanditError)]
        self.counts.add(len(slates) + len(found) - len(bad), bad)


@dataclass
class Sample:
    """The service at one moment."""

    seconds: float
    events: int
    memory: int  # bytes
    disk: int  # bytes


def watch(service: Service, load: Load, store: Path, every: float) -> list[Sample]:
    """Samples until the load has ended."""
    start, samples = time.monotonic(), []
    while load.alive:
        size = sum(one.stat().st_size for one in store.iterdir() if one.is_file())
        passed = time.monotonic() - start
        samples.append(Sample(passed, load.counts.events, service.memory(), size))
        time.sleep(every)
    return samples


def verdicts(samples: list[Sample], restart: float, kept: bool) -> dict[str, Any]:
    """What is to be shown, each with its figure and whether it holds."""
    half, third = samples[len(samples) // 2 :], len(samples) // 3
    memory = [one.memory for one in half]
    slope = np.polyfit([one.seconds for one in half], memory, 1)[0]
    growth = float(slope * (half[-1].seconds - half[0].seconds) / np.mean(memory))
    disk = [one.disk for one in samples]
    grown = max(disk[2 * third :]) / max(disk[third : 2 * third])
    return {
        "memory": {"growth over the second half": growth, "good": growth <= FLAT},
        "disk": {
            "last third ÷ middle third": grown,
            "good": grown <= BOUNDED if kept else None,  # without retention it has to grow
        },
        "restart": {"seconds": restart, "good": restart <= RESTART},
    }


def main(
    minutes: float = 10.0,
    events: int = 1_000_000,
    every: float = 2.0,
    out: Path = HERE / "results" / "soak.json",
) -> None:
    options = serve_options()
    words = ("--features", str(FEATURES), "--labels", str(LABELS))
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        service = Service(store, *words, *options)
        try:
            load = Load(service.url, events, 60 * minutes)
            samples = watch(service, load, store, every)
            state = service.client.state()
            stopped = service.stop()
            service = Service(store, *options)
            after = service.client.state()
        finally:
            service.stop()
    seconds = samples[-1].seconds
    found = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}",
        "load average at the end": os.getloadavg()[0],
        "options": list(options),
        "asked for": {"minutes": minutes, "events": events},
        "seconds": seconds,
        "events": load.counts.events,
        "events a second": load.counts.events / seconds,
        "errors": dict(load.counts.errors),
        "feedback counted": {"before the stop": state["feedback"], "after": after["feedback"]},
        "stop in seconds": stopped,
        "restart in seconds": service.seconds,
        "verdicts": verdicts(samples, service.seconds, KEEP[0] in options),
        "samples": [asdict(one) for one in samples],
    }
    out.write_text(json.dumps(found, indent=1))
    out.with_suffix(".md").write_text(page(found))
    print(page(found))


def page(found: dict[str, Any]) -> str:
    """The figures for people."""
    asked, verdict = found["asked for"], found["verdicts"]
    kept = KEEP[0] in found["options"]
    counted = found["feedback counted"]
    lines = [
        "# The service over time",
        "",
        f"`make bench-soak` made this page: d = {FEATURES}, K = {LABELS}, {SLOTS} slots, SQLite,",
        f"batches of {BATCH}, decisions and answers to them by turns, {WORKERS} clients; planned:",
        f"{asked['events']:,} events in {asked['minutes']:g} minutes.",
        f"Options of the service: `{' '.join(found['options']) or 'none'}`.",
        "",
        f"{found['machine']}; load average at the end {found['load average at the end']:.1f}.",
        "",
        f"{found['events']:,} events in {found['seconds']:.0f} s, "
        f"{found['events a second']:.0f} a second; errors: {found['errors'] or 'none'}.",
        f"It stopped in {found['stop in seconds']:.1f} s. Feedback counted before the stop "
        f"{counted['before the stop']:,}, after it {counted['after']:,}.",
        "",
        "| what | measured | at most | holds |",
        "|---|---|---|---|",
        _line("memory: growth over the second half", verdict["memory"], FLAT),
        _line("disk: last third ÷ middle third", verdict["disk"], BOUNDED if kept else None),
        _line("restart, seconds", verdict["restart"], RESTART),
        "",
        "| minute | events | memory MB | disk MB |",
        "|---|---|---|---|",
    ]
    samples = found["samples"]
    for i in np.linspace(0, len(samples) - 1, min(21, len(samples))).astype(int):
        one = samples[i]
        figures = one["seconds"] / 60, one["events"], one["memory"] / 1e6, one["disk"] / 1e6
        lines.append("| {:.1f} | {:,} | {:.0f} | {:.0f} |".format(*figures))
    most = median(one["memory"] for one in samples) / 1e6
    lines += ["", f"Median of the memory: {most:.0f} MB."]
    return "\n".join(lines) + "\n"


def _line(what: str, verdict: dict[str, Any], most: float | None) -> str:
    figure = next(iter(verdict.values()))
    holds = {True: "yes", False: "**no**", None: "not asked for: retention is off"}
    limit = "" if most is None else f"{most:g}"
    return f"| {what} | {figure:.3f} | {limit} | {holds[verdict['good']]} |"


if __name__ == "__main__":
    typer.run(main)
