"""`python -m benchmarks.formulas`: the formulas of docs/how-to/scale.md, held against measurements.

Run it on a quiet machine: times follow from the rate at which one core reads memory, which is
measured in the same run.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np

import semibandit as sb
from benchmarks.scale import SLOTS, medians, warm_learner
from semibandit.policies.batch import prepare

POINTS = [(2_000, 64), (20_000, 64), (5_000, 128)]  # labels and features of warm learners
SHARDED = [5_000, 10_000, 20_000]  # labels, d = 64, on two shards
SOME = 500  # candidates
FIXED = 100e-6  # seconds that `rank` takes beside its looks
LEARN = 50e-6  # seconds that a label takes to learn, if nothing is in a cache
WARM = 800  # contexts that are ranked first


def main() -> int:
    print("| labels | d | what | by formula | measured |\n|---:|---:|---|---:|---:|")
    for labels, d in POINTS:
        rate, flops = read_rate(d), product_rate(d)
        lines = [("r, GB/s", "", f"{rate / 1e9:.1f}"), ("f, GFLOP/s", "", f"{flops / 1e9:.1f}")]
        for what, formula, measured in lines + warm(labels, d, rate, flops):
            print(f"| {labels:,} | {d} | {what} | {formula} | {measured} |", flush=True)
    print(f"| 1,000,000 | 64 | bytes a label never shown | 57 | {untouched():.0f} |", flush=True)
    sharded()
    return 0


def read_rate(d: int) -> float:
    """Bytes a second that one core reads in a pass A.reshape(K·d, d) @ x, which no cache holds."""
    A, x = np.ones((32_000_000 // d, d)), np.ones(d)
    return 5 * A.nbytes / seconds(lambda: A @ x, 5)


def product_rate(d: int) -> float:
    """Operations a second of one core in products of 64 contexts with many matrices."""
    X, A = np.ones((64, d)), np.ones((4_000_000 // d**2, d, d))
    return 5 * 2 * 64 * A.size / seconds(lambda: np.matmul(X, A), 5)


def seconds(work: Callable[[], object], times: int) -> float:
    work()
    start = time.perf_counter()
    for _ in range(times):
        work()
    return time.perf_counter() - start


def warm(labels: int, d: int, rate: float, flops: float) -> list[tuple[str, str, str]]:
    """Memory and times of a learner whose every label has a dense matrix."""
    names = [f"label {i}" for i in range(labels)]
    learner = warm_learner(names, d)
    rule = learner.fast_rule()
    assert rule is not None
    bytes_ = sum(array.nbytes for array in rule.state.arrays().values()) / labels
    prepare(learner, lambda _: None)
    random = np.random.default_rng(1)
    X, some = random.standard_normal((WARM + 60, d)), names[:: max(1, labels // SOME)][:SOME]
    for x in X[:WARM]:
        learner.rank(x, SLOTS)  # bounds are made on the way
    slate = learner.rank(X[0], SLOTS)
    times = medians(
        {
            "rank": lambda x: learner.rank(x, SLOTS),
            "scores": learner.scores,
            "some": lambda x: learner.rank(x, SLOTS, candidates=some),
            "learn": lambda x: learner.learn(slate, slate.labels[:2]),
        },
        X[WARM:],
    )
    times["many"] = medians({"many": lambda _: learner.rank_many(X[:64], SLOTS)}, X[:5])["many"]
    whole, few = 8 * labels * d * d / rate, 8 * len(some) * d * d / rate
    bounds = labels * (8 * d + d * d / 4) / rate
    return [
        ("bytes a warm label", f"{8 * d * d + 8 * d:,}", f"{bytes_:,.0f}"),
        ("a look at all labels, ms", ms(whole), ms(times["scores"])),
        ("`rank`, pruned, ms", ms(bounds + FIXED), ms(times["rank"])),
        (f"`rank` of {len(some)} candidates, ms", ms(few + FIXED), ms(times["some"])),
        ("`rank_many` of 64, ms", ms(64 * labels * d * d / flops), ms(times["many"])),
        (f"`learn` of {len(slate)} labels, ms", ms(len(slate) * LEARN), ms(times["learn"])),
    ]


def untouched() -> float:
    """Bytes of a label that was never shown, one of a million that are numbered."""
    tracemalloc.start()
    learner = sb.SlateUCB(64, 1_000_000)
    learner.rank(np.ones(64), SLOTS)
    now, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return now / learner.n_labels


def sharded() -> None:
    from benchmarks import shards

    print("\n| labels, d = 64 | `rank_many` of 64, one process, ms | 2 shards, ms | ratio |")
    print("|---:|---:|---:|---:|")
    for labels in SHARDED:
        ratios, times = shards.measure(labels)
        one, two = (
            times[f"rank_many of 64, {name}"] for name in ("one process", "2 shards on Ray")
        )
        print(f"| {labels:,} | {ms(one)} | {ms(two)} | {ratios['shards']:.2f} |", flush=True)


def ms(seconds: float) -> str:
    return f"{1e3 * seconds:.2f}"


if __name__ == "__main__":
    sys.exit(main())
