"""`python -m benchmarks.service`: the service under load from a second process, at M.

d = 120, K = 101, 10 slots, full matrices, SQLite. Everything as a ratio to an empty FastAPI
endpoint that is served the same way, in the same run.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # one BLAS thread, before numpy is imported

import numpy as np
import typer

import semibandit as sb
from benchmarks import workloads

HERE = Path(__file__).parent
SLOTS, LEARNED = workloads.SLOTS, 1200
LESSONS = 10_000  # feedback for a turn of heavy learning: more than can be learned in it
BATCH = 250  # of which go into one request
MIXED = "mixed:0.05"  # the policy whose cost is measured
LONGER = 3  # times as many turns for it: a difference of a tenth is less than one turn's noise
LEAST = (  # targets of ratios, by how their names begin and end
    ("rank", "", 0.4),
    ("feedback", " 16 connections", 0.5),
    ("mixed", "32 + 32 connections", 0.72),  # 3,000 of each if an empty endpoint has 8,350
    ("logging propensities", "", 0.9),
)
EMPTY = """
import socket, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.post("/empty")
async def empty() -> dict[str, str]:
    return {}
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
plain = {"log_level": "warning", "access_log": False, "server_header": False}
config = uvicorn.Config(app, proxy_headers=False, **plain)
uvicorn.Server(config).run(sockets=[listening])
"""


@contextmanager
def serving(*command: str) -> Iterator[int]:
    """A server process; gives its port."""
    with server(*command) as (_, port):
        yield port


@contextmanager
def server(*command: str) -> Iterator[tuple[int, int]]:
    """The same; gives its process id and its port."""
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    try:
        for line in process.stdout:  # type: ignore[union-attr]
            if line.startswith("http://"):
                break
        port = int(line.rsplit(":", 1)[1])
        for _ in range(500):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/openapi.json").read()
                break
            except OSError:
                time.sleep(0.02)
        yield process.pid, port
    finally:
        process.terminate()
        process.wait()


def load(
    port: int, *loads: dict[str, Any], first: Sequence[dict[str, Any]] = ()
) -> list[dict[str, Any]]:
    """What the second process measured of these loads, all at once; it sends those of `first`
    before, and begins without a pause."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.service_load"],
        input=json.dumps([port, loads, first]),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def learner(folder: str) -> tuple[str, np.ndarray]:
    """A learner of which every label has its dense matrix; and contexts to come."""
    work = workloads.standing_in("M", "mediamill-like")
    bandit, random = sb.SlateUCB(120, 101, width=sb.Scaled(0.5)), np.random.default_rng(0)
    for x, y in zip(work.X[:LEARNED], work.Y[:LEARNED], strict=True):
        shown = random.permutation(101)[:SLOTS]
        bandit.learn(bandit.shown(x, shown), shown[y[shown] > 0])
    assert bandit._state.dense.n == 101
    bandit.save(f"{folder}/m.npz")
    return f"{folder}/m.npz", work.X[LEARNED:]


def rank_bodies(X: np.ndarray, tag: str, n: int) -> list[str]:
    return [
        json.dumps({"context": X[i % len(X)].tolist(), "slots": SLOTS, "id": f"{tag}-{i}"})
        for i in range(n)
    ]


def feedback(answer: dict[str, Any]) -> dict[str, Any]:
    """The top label was clicked."""
    return {"id": answer["id"], "clicked": [one["label"] for one in answer["slate"][:1]]}


def feedback_bodies(answers: list[str]) -> list[str]:
    return [json.dumps(feedback(json.loads(answer))) for answer in answers]


def post(port: int, path: str, body: Any) -> Any:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def backlog(port: int) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/state") as answer:
        return json.load(answer)["backlog"]


def settle(port: int) -> None:
    """Until all feedback is learned."""
    while backlog(port):
        time.sleep(0.05)


class Bench:
    """Two servers, one asked at a time, in turns: what the machine does meanwhile hits both."""

    def __init__(self, seconds: float, turns: int, X: np.ndarray) -> None:
        self.seconds, self.turns, self.X = seconds, turns, X
        self.rows: list[dict[str, Any]] = []
        self.ratios: dict[str, list[float]] = {}
        self._asked = 0

    def ranks(self, n: int | None = None) -> list[str]:
        """Bodies for /rank that nobody sent before."""
        self._asked += 1
        many = int(7000 * self.seconds) if n is None else n
        return rank_bodies(self.X, f"b{self._asked}", many)

    def load(self, path: str, bodies: list[str], n: int, **more: Any) -> dict[str, Any]:
        """What to send in one turn."""
        plain = {"path": path, "bodies": bodies, "connections": n, "seconds": self.seconds}
        return plain | more

    def note(self, what: str, n: int, found: list[dict[str, Any]]) -> None:
        row: dict[str, Any] = {"what": what, "connections": n}
        row |= {key: median(one[key] for one in found) for key in ("rate", "p50", "p99")}
        statuses: Counter[str] = Counter()
        for one in found:
            statuses.update(one["statuses"])
        self.rows.append(row | {"statuses": dict(statuses)})
        print(
            f"{what:<24}{n:>3} connections {row['rate']:8.0f}/s  p50 {1e3 * row['p50']:6.2f} ms"
            f"  p99 {1e3 * row['p99']:6.2f} ms  {dict(statuses)}",
            flush=True,
        )

    def throughput(self, empty: int, port: int, n: int) -> None:
        """Rank against the empty endpoint; then feedback to what was ranked."""
        nothing, ranked, fed = [], [], []
        for _ in range(self.turns):
            nothing += load(empty, self.load("/empty", self.ranks(), n))
            ranked += load(port, self.load("/rank", self.ranks(), n, keep=True))
            told = feedback_bodies(ranked[-1].pop("answers"))
            fed += load(port, self.load("/feedback", told, n))
            settle(port)
        self.note("empty endpoint", n, nothing)
        self.note("rank", n, ranked)
        self.note("feedback", n, fed)
        where = f"÷ empty endpoint, {n} connection{'s' * (n > 1)}"
        for what, found in (("rank", ranked), ("feedback", fed)):
            self.ratios[f"{what} throughput {where}"] = [
                one["rate"] / e["rate"] for one, e in zip(found, nothing, strict=True)
            ]

    def mixed(self, empty: int, port: int, n: int) -> None:
        """Rank and feedback side by side, half of the connections each, or one."""
        nothing: list[dict[str, Any]] = []
        found: list[list[dict[str, Any]]] = []
        half = max(1, n // 2)
        for _ in range(self.turns):
            nothing += load(empty, self.load("/empty", self.ranks(), 2 * half))
            before = load(port, self.load("/rank", self.ranks(), n, keep=True))[0]
            told = feedback_bodies(before["answers"])
            both = self.load("/rank", self.ranks(), half), self.load("/feedback", told, half)
            found.append(load(port, *both))
            settle(port)
        self.note("mixed: rank", half, [one[0] for one in found])
        self.note("mixed: feedback", half, [one[1] for one in found])
        self.ratios[f"mixed: rank + feedback ÷ empty endpoint, {half} + {half} connections"] = [
            (one[0]["rate"] + one[1]["rate"]) / e["rate"]
            for one, e in zip(found, nothing, strict=True)
        ]

    def propensities(self, port: int, randomised: int, n: int) -> None:
        """Rank by the learner alone, and by `Mixed` with its probabilities in the log."""
        plain: list[dict[str, Any]] = []
        drawn: list[dict[str, Any]] = []
        for turn in range(LONGER * self.turns):
            for one in (0, 1) if turn % 2 else (1, 0):  # each is first in turn
                where, found = ((port, plain), (randomised, drawn))[one]
                found += load(where, self.load("/rank", self.ranks(), n))
        self.note("rank", n, plain)
        self.note(f"rank, {MIXED}", n, drawn)
        self.ratios[f"logging propensities ÷ plain, {n} connection{'s' * (n > 1)}"] = [
            one["rate"] / other["rate"] for one, other in zip(drawn, plain, strict=True)
        ]

    def heavy(self, port: int, n: int) -> list[int]:
        """Rank while feedback is learned without a pause, and without; how much was still there."""
        alone, during, left = [], [], []
        for _ in range(self.turns):
            alone += load(port, self.load("/rank", self.ranks(), n))
            told = []
            for _ in range(0, LESSONS, BATCH):
                asked = [json.loads(one) for one in self.ranks(BATCH)]
                answers = post(port, "/rank/batch", {"requests": asked})["results"]
                told.append(json.dumps({"feedback": [feedback(one) for one in answers]}))
            lessons = self.load("/feedback/batch", told, 1, seconds=60.0)
            during += load(port, self.load("/rank", self.ranks(), n), first=[lessons])
            left.append(backlog(port))
            settle(port)
        self.note("rank, nothing to learn", n, alone)
        self.note("rank, while learning", n, during)
        self.ratios["p99 of rank during heavy learning ÷ alone"] = [
            d["p99"] / a["p99"] for d, a in zip(during, alone, strict=True)
        ]
        return left


def main(
    seconds: float = 2.0,
    turns: int = 5,
    connections: list[int] = typer.Option([1, 16, 64]),
    out: Path = HERE / "results" / "service.json",
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        saved, X = learner(folder)
        bench = Bench(seconds, turns, X)
        serve = ("-m", "semibandit", "serve", "--start-from", saved, "--port", "0", "--store")
        with serving("-c", EMPTY) as empty, serving(*serve, f"{folder}/store") as port:
            load(empty, bench.load("/empty", ["{}"] * 500, 4))
            load(port, bench.load("/rank", bench.ranks(500), 4))
            for n in connections:
                bench.throughput(empty, port, n)
            for n in connections:
                bench.mixed(empty, port, n)
            drawn = (*serve, f"{folder}/drawn", "--randomise", MIXED)
            with serving(*serve, f"{folder}/plain") as plain, serving(*drawn) as randomised:
                for one in (plain, randomised):  # both with a log that begins
                    load(one, bench.load("/rank", bench.ranks(500), 4))
                for n in connections:
                    bench.propensities(plain, randomised, n)
            left = bench.heavy(port, 16)
    found = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}",
        "turns": turns,
        "seconds": seconds,
        "load average at the end": os.getloadavg()[0],
        "feedback left to learn at the end of each turn of heavy learning": left,
        "rows": bench.rows,
        "ratios": bench.ratios,
    }
    out.write_text(json.dumps(found, indent=1))
    out.with_suffix(".md").write_text(page(found))
    print(page(found))


def page(found: dict[str, Any]) -> str:
    """The figures for people."""
    turns, seconds = found["turns"], found["seconds"]
    left = found["feedback left to learn at the end of each turn of heavy learning"]
    lines = [
        "# The service under load",
        "",
        "`make bench-service` made this page: d = 120, K = 101, every matrix dense, 10 slots,",
        "SQLite with every commit on disk, load from a second process on the same machine.",
        f"Every figure is the median of {turns} turns of {seconds:g} s ({LONGER * turns} for",
        "logging propensities); those of a ratio were taken one right after the other, and the",
        "last column has the lowest and the highest ratio of a turn. The empty endpoint is a",
        "FastAPI application that answers at once and does nothing: a ratio to it says what is",
        "left of what HTTP alone allows on this machine.",
        "",
        f"{found['machine']}; load average at the end {found['load average at the end']:.1f}.",
        "",
        "| ratio | target | measured | turns |",
        "|---|---|---|---|",
    ]
    for name, all_turns in found["ratios"].items():
        ratio = median(all_turns)
        target, good = _judged(name, ratio)
        measured = f"{ratio:.2f}{'' if good else ' (missed)'}"
        lines.append(f"| {name} | {target} | {measured} | {_span(all_turns)} |")
    lines += ["", "| what | connections | a second | p50 ms | p99 ms |", "|---|---|---|---|---|"]
    for row in found["rows"]:
        cells = (f"{row['rate']:.0f}", f"{1e3 * row['p50']:.2f}", f"{1e3 * row['p99']:.2f}")
        lines.append(f"| {row['what']} | {row['connections']} | {' | '.join(cells)} |")
    lines += ["", f"Feedback left to learn at the end of turns of heavy learning: {left}."]
    return "\n".join(lines) + "\n"


def _judged(name: str, ratio: float) -> tuple[str, bool]:
    """The target of a ratio, if it has one, and whether it is met."""
    if name.startswith("p99"):
        return "at most 3", ratio <= 3.0
    for begins, ends, least in LEAST:
        if name.startswith(begins) and name.endswith(ends):
            return f"at least {least:g}", ratio >= least
    return "", True


def _span(numbers: list[float]) -> str:
    return f"{min(numbers):.2f} to {max(numbers):.2f}"


if __name__ == "__main__":
    typer.run(main)
