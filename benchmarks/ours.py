"""Our engines and our online path."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import semibandit as sb
from benchmarks.workloads import SLOTS, Workload

WIDE = sb.Scaled(1.0)  # explores, and so learns, more than the default: more work
ENGINES = {
    "full": lambda d, K: sb.SlateUCB(d, K, width=WIDE),
    "float32": lambda d, K: sb.SlateUCB(d, K, width=WIDE, model=sb.Full(dtype="float32")),
    "diagonal": lambda d, K: sb.SlateUCB(d, K, width=WIDE, model=sb.Diagonal()),
    "OBR": lambda d, K: sb.OBR(d, K),
}


def replay_seconds(workload: Workload, engine: str, threads: int, repeat: int = 2) -> float:
    """One pass over the workload by a new learner; the least of a few."""
    _, d, K = workload.shape
    best = float("inf")
    sb.replay(ENGINES[engine](d, K), workload.X[:130], workload.Y[:130], SLOTS, threads=threads)
    for _ in range(repeat):
        learner = ENGINES[engine](d, K)
        start = time.perf_counter()
        sb.replay(learner, workload.X, workload.Y, SLOTS, threads=threads)
        best = min(best, time.perf_counter() - start)
    return best


def online(workload: Workload, rounds: int = 200) -> dict[str, float]:
    """Medians of one pass A.reshape(K·d, d) @ x, one `rank` and one `learn` of 10 labels, in turn.

    The learner is warm: it has replayed the workload with a = 1, so that all labels are dense.
    """
    T, d, K = workload.shape
    learner = sb.SlateUCB(d, K, width=WIDE, a=1.0)
    sb.replay(learner, workload.X, workload.Y, max(SLOTS, K // 8))
    A = np.tile(np.eye(d), (K, 1, 1)) + 0.01
    times: dict[str, list[float]] = {"pass": [], "rank": [], "learn": []}
    for t in range(rounds):
        x = workload.X[t % T] / np.linalg.norm(workload.X[t % T])
        marks = [time.perf_counter()]
        A.reshape(K * d, d) @ x
        marks.append(time.perf_counter())
        slate = learner.rank(x, SLOTS)
        marks.append(time.perf_counter())
        clicked = [i for i in slate.labels if workload.Y[t % T, i]]
        begin = time.perf_counter()
        learner.learn(slate, clicked)
        end = time.perf_counter()
        times["pass"].append(marks[1] - marks[0])
        times["rank"].append(marks[2] - marks[1])
        times["learn"].append(end - begin)
    found = {name: float(np.median(values)) for name, values in times.items()}
    X = np.asarray(workload.X[:64])
    laps = [_timed(lambda: learner.rank_many(X, SLOTS)) for _ in range(10)]
    return found | {"rank_many": float(np.median(laps)) / len(X)}


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def million_rounds(d: int = 120, K: int = 101) -> dict[str, float]:
    """Seconds for 5,000 rounds by a learner that has seen few rounds, and after a million."""
    random = np.random.default_rng(0)
    X = random.standard_normal((20_000, d))
    Y = (random.random((20_000, K)) < 0.05).astype(np.uint8)
    learner = sb.SlateUCB(d, K, width=WIDE)

    def lap(rounds: int) -> float:
        start = time.perf_counter()
        sb.replay(learner, X[:rounds], Y[:rounds], SLOTS, threads=1, keep_slates=False)
        return time.perf_counter() - start

    lap(20_000)
    before = min(lap(5_000) for _ in range(3))
    while learner.t < 1_000_000:
        lap(20_000)
    return {"rounds": float(learner.t), "new": before, "old": min(lap(5_000) for _ in range(3))}


XL = """
import json, resource, time
from benchmarks import workloads
import semibandit as sb
workload = workloads.XL()
learner = sb.SlateUCB(128, 1_000_000, width=sb.Scaled(1.0))
sb.replay(learner, workload.X[:64], workload.Y[:64], 10)
learner = sb.SlateUCB(128, 1_000_000, width=sb.Scaled(1.0))
start = time.perf_counter()
trace = sb.replay(learner, workload.X, workload.Y, 10, threads=1)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"seconds": seconds, "peak": peak, "touched": int(learner._state.n)}))
"""


def xl() -> dict[str, Any]:
    """XL in a process of its own, for its peak memory."""
    import json

    run = subprocess.run([sys.executable, "-c", XL], capture_output=True, text=True, check=True)
    return dict(json.loads(run.stdout))
