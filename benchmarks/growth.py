"""How the time of a round grows with K, d, T and S: full matrices, one thread."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import semibandit as sb
from benchmarks.workloads import even

BASE = {"K": 200, "d": 64, "S": 10}
STEPS = {
    "K": (50, 100, 200, 400, 800, 1600, 3200, 10_000, 100_000),
    "d": (8, 16, 32, 64, 96, 128, 192, 256),
    "S": (1, 2, 5, 10, 20, 50, 100, 200),
}
WARM, ROUNDS = 4_000, 1_000


def per_round(K: int, d: int, S: int) -> float:
    """Microseconds of a round, after WARM rounds."""
    data = even("", WARM + ROUNDS, d, K)
    learner = sb.SlateUCB(d, K)
    sb.replay(learner, data.X[:WARM], data.Y[:WARM], S, threads=1)
    start = time.perf_counter()
    sb.replay(learner, data.X[WARM:], data.Y[WARM:], S, threads=1)
    return (time.perf_counter() - start) / ROUNDS * 1e6


def curves() -> dict[str, list[tuple[int, float]]]:
    found = {
        name: [(value, per_round(**{**BASE, name: value})) for value in values]
        for name, values in STEPS.items()
    }
    data = even("", 20_000, BASE["d"], BASE["K"])
    learner, over_time = sb.SlateUCB(BASE["d"], BASE["K"]), []
    for first in range(0, 20_000, 1_000):
        start = time.perf_counter()
        part = slice(first, first + 1_000)
        sb.replay(learner, data.X[part], data.Y[part], BASE["S"], threads=1)
        over_time.append((first + 1_000, (time.perf_counter() - start) / 1_000 * 1e6))
    found["T"] = over_time
    return found


def plot(found: dict[str, list[tuple[int, float]]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    names = {"K": "labels K", "d": "features d", "S": "slots S", "T": "rounds so far T"}
    for axes, (name, points) in zip(figure.subplots(2, 2).ravel(), found.items(), strict=True):
        x, y = np.array(points).T
        axes.plot(x, y, "o-", color="#0072b2", ms=4)
        if name != "T":
            axes.set_xscale("log")
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.set_xlabel(names[name])
        axes.set_ylabel("µs a round")
        axes.grid(alpha=0.25, which="both")
        rest = ", ".join(f"{k} = {v}" for k, v in BASE.items() if k != name)
        axes.set_title(rest, fontsize=9)
    figure.savefig(path, dpi=150)
