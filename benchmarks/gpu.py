"""`make bench-gpu`: full matrices on a GPU, all labels warm. Writes benchmarks/results/gpu.md.

It takes some minutes, and stops making larger learners once its time is over.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch

import semibandit as sb
from benchmarks.gpu_warm import SEEN, contexts, warm_learner
from semibandit.errors import SemibanditError
from semibandit.models.gpu.device import find_device

PAGE = Path(__file__).parent / "results" / "gpu.md"
SIZES = [(100_000, 64), (1_000_000, 64), (4_000_000, 64), (1_000_000, 32), (100_000, 128)]
SLOTS = 10
SECONDS = 200.0  # after which no further size is begun
RELEVANT = 40  # labels that are relevant to a context
ROUNDS = 8192  # of a replay: what it prepares once is part of the time
REPLAYS = 5  # after one that is not counted

COLUMNS = ["labels", "d", "rank", "p99", "rank_many of 64", "learn", "replay", "kB a label"]


def main() -> int:
    try:
        find_device("cuda")
    except SemibanditError as why:
        print(f"bench-gpu: {why}", file=sys.stderr)
        return 2
    start, rows = time.perf_counter(), []
    for labels, d in SIZES:
        if time.perf_counter() - start < SECONDS:
            rows.append(measured(labels, d))
            print(" | ".join(rows[-1]), flush=True)
    text = page(rows)
    PAGE.write_text(text, encoding="utf-8")
    print(text)
    return 0


def measured(labels: int, d: int) -> list[str]:
    """One line of the table."""
    before = torch.cuda.memory_allocated()
    bandit, X = warm_learner(labels, d, "cuda"), contexts(512, d)
    ranked = times(partial(rank, bandit, X), 300)
    many = times(partial(rank_many, bandit, X), 5, warm=2)
    memory = (torch.cuda.memory_allocated() - before) / labels
    learned = times(learning(bandit, labels, X), 300)
    played = replayed(bandit, labels, d)
    del bandit
    torch.cuda.empty_cache()
    figures = [np.median(ranked), np.quantile(ranked, 0.99), np.median(many) / 64]
    shown = [f"{1e3 * one:.3f}" for one in (*figures, np.median(learned), played)]
    return [f"{labels:,}", str(d), *shown, f"{memory / 1e3:.1f}"]


def rank(bandit: sb.SlateUCB, X: np.ndarray, i: int) -> None:
    bandit.rank(X[i], SLOTS)


def rank_many(bandit: sb.SlateUCB, X: np.ndarray, i: int) -> None:
    bandit.rank_many(X[64 * i : 64 * (i + 1)], SLOTS)


def learning(bandit: sb.SlateUCB, labels: int, X: np.ndarray) -> Callable[[int], None]:
    """Learn ten labels drawn at random, and wait until the GPU has done it."""
    rng = np.random.default_rng(0)
    shown = [rng.choice(labels, SLOTS, replace=False).tolist() for _ in range(len(X))]
    slates = [bandit.shown(x, some, SLOTS) for x, some in zip(X, shown, strict=True)]

    def learn(i: int) -> None:
        bandit.learn(slates[i], slates[i].labels[:3])
        torch.cuda.current_stream().synchronize()

    return learn


def replayed(bandit: sb.SlateUCB, labels: int, d: int) -> float:
    """Seconds of a context in a replay, which learns."""
    X, rng = contexts(ROUNDS, d), np.random.default_rng(0)
    rows = np.repeat(np.arange(ROUNDS), RELEVANT)
    entries = np.ones(len(rows)), (rows, rng.integers(0, labels, len(rows)))
    Y = scipy.sparse.csr_array(entries, shape=(ROUNDS, labels))
    Y.data[:] = 1.0  # where a label was drawn twice

    def replay(_: int) -> None:
        sb.replay(bandit, X, Y, SLOTS, progress=False)

    return float(np.median(times(replay, REPLAYS, warm=1))) / ROUNDS


def times(work: Callable[[int], Any], n: int, warm: int = 30) -> list[float]:
    """Seconds of each of n calls, after some that are not counted."""
    found = []
    for i in range(warm + n):
        start = time.perf_counter()
        work(i)
        found.append(time.perf_counter() - start)
    return found[warm:]


def page(rows: list[list[str]]) -> str:
    lines = [COLUMNS, ["---:"] * len(COLUMNS), *rows]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    device = torch.cuda.get_device_name()
    versions = f"torch {torch.__version__}, Python {sys.version.split()[0]}"
    return f"""# Full matrices on a GPU

`make bench-gpu` on one {device} ({versions}). All labels are warm: each has weights and a matrix
of {SEEN} updates. Square loss, `Scaled(0.3)`, {SLOTS} slots, all of them filled. Times are
milliseconds from the call in Python to its result on the host, medians of 300 calls, for `replay`
of {REPLAYS} replays of {ROUNDS:,} rounds. `learn` is of {SLOTS} labels, and waits until
the GPU is done; `rank_many` and `replay` are per context, `replay` with learning.

{table}
"""


if __name__ == "__main__":
    sys.exit(main())
