"""Many labels: what a round costs if only some of them may be shown."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import semibandit as sb

__all__ = ["measure", "warm_learner"]

K, D, SOME, SLOTS = 20_000, 64, 50, 10
UPDATES = 40  # of each label: more than d/2, so that all matrices are dense
CHUNK = 500  # labels whose matrices are made at a time


def warm_learner(labels: list[str], d: int = D, seed: int = 0) -> sb.SlateUCB:
    """A learner whose every label has learned from `UPDATES` contexts of its own.

    The state is made directly: w = A⁻¹Σ y x and A = I + Σ x xᵀ, as least squares has them.
    """
    random, n = np.random.default_rng(seed), len(labels)
    learner = sb.SlateUCB(d, labels, scale="unit", bias=False)
    w, A_inv = np.empty((n, d)), np.empty((n, d, d))
    for first in range(0, n, CHUNK):
        size = min(CHUNK, n - first)
        X = random.standard_normal((size, UPDATES, d)) / d**0.5
        y = np.where(random.random((size, UPDATES)) < 0.2, 1.0, -1.0)
        part = slice(first, first + size)
        A_inv[part] = np.linalg.inv(np.eye(d) + X.transpose(0, 2, 1) @ X)
        A_inv[part] = (A_inv[part] + A_inv[part].transpose(0, 2, 1)) / 2
        w[part] = np.einsum("kcd,knd,kn->kc", A_inv[part], X, y, optimize=True)
    rule = learner.fast_rule()
    assert rule is not None
    every = np.arange(n)
    rule.state.restore(
        {
            "owner": every, "w": w, "count": np.full(n, UPDATES), "A_inv": A_inv, "A_row": every,
            "V": np.empty((0, d)), "V_row": np.empty(0, dtype=np.int64),
            "sharp": np.full(n, -1), "lost": np.empty((0, d, d)),
        }
    )  # fmt: skip
    return learner


def measure() -> tuple[dict[str, float], dict[str, float]]:
    """The ratios of the page, and the seconds behind them."""
    random = np.random.default_rng(1)
    names = [f"label {i}" for i in range(K)]
    many = warm_learner(names)
    some = [names[i] for i in random.choice(K, SOME, replace=False)]
    few = warm_learner(some)
    prepared = many.candidates(some)
    X = random.standard_normal((200, D))
    other = [[names[i] for i in random.choice(K, SOME, replace=False)] for _ in X]
    own = iter([*other] * 2)
    seconds = {
        "rank, a learner with 50 labels": lambda x: few.rank(x, SLOTS),
        "rank, 50 candidates": lambda x: many.rank(x, SLOTS, candidates=some),
        "rank, 50 candidates, prepared": lambda x: many.rank(x, SLOTS, candidates=prepared),
        "rank, 50 other candidates each time": lambda x: many.rank(x, SLOTS, candidates=next(own)),
    }
    times = medians(seconds, X)
    times["rank, all labels"] = medians({"all": lambda x: many.rank(x, SLOTS)}, X[:5])["all"]
    times["rank_many of 64, 50 candidates each, per context"] = _of_many(many, X[:64], other[:64])
    for name, learner in (("50", few), ("20,000", many)):
        slate = learner.rank(X[0], SLOTS, candidates=some)
        learns = {"learn": lambda x, one=learner, it=slate: one.learn(it, it.labels[:2])}
        times[f"learn, {name} labels"] = medians(learns, X)["learn"]
    return {
        "candidates": times["rank, 50 candidates"] / times["rank, a learner with 50 labels"],
        "learn K": times["learn, 20,000 labels"] / times["learn, 50 labels"],
    }, times


def medians(work: dict[str, Callable[[np.ndarray], object]], X: np.ndarray) -> dict[str, float]:
    """The median seconds of each function of a context, in turn."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for x in X:
        for name, function in work.items():
            start = time.perf_counter()
            function(x)
            times[name].append(time.perf_counter() - start)
    return {name: float(np.median(values)) for name, values in times.items()}


def _of_many(learner: sb.SlateUCB, X: np.ndarray, sets: list[list[str]]) -> float:
    laps = {"all": lambda _: learner.rank_many(X, SLOTS, candidates=sets)}
    return medians(laps, X[:5])["all"] / len(X)
