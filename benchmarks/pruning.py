"""Many labels, and no candidates: what the search for the best saves, and what it costs in vain."""

from __future__ import annotations

from typing import cast

import numpy as np

import semibandit as sb
from benchmarks.scale import SLOTS, D, K, medians, warm_learner
from benchmarks.workloads import M, Workload
from semibandit.models.full import FullState
from semibandit.models.partial import Aim
from semibandit.policies import batch

__all__ = ["measure"]

ROUNDS = 20_000  # of Mediamill
TURN = 20  # contexts
ALIKE = 5_000  # labels of which none can be left out


def measure() -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Ratios of `rank` to one that looks at all labels, the seconds, and the shares looked at."""
    work = M()
    X = work.X[ROUNDS : ROUNDS + 4_000]
    synthetic = np.random.default_rng(2).standard_normal((700, D))
    learners = {
        "pruned M": lambda: (after_mediamill(work), X, 3_000),
        "pruned M, all dense": lambda: (after_mediamill(work, a=1.0), X, 3_000),
        "pruned synthetic": lambda: (warm_learner([*map(str, range(K))]), synthetic, 600),
        "pruned in vain": lambda: (alike(), synthetic, 400),
    }
    ratios, seconds, shares = {}, {}, {}
    for name, make in learners.items():  # one after the other: each has a gigabyte of matrices
        times, shares[name] = compare(*make())
        ratios[name] = times["pruned"] / times["full"]
        ratios[f"{name}, search"] = times["search"] / times["look"]
        seconds |= {f"{name}: rank": times["pruned"], f"{name}: by a full pass": times["full"]}
        seconds |= {f"{name}: search": times["search"], f"{name}: full pass": times["look"]}
    return ratios, seconds, shares


def after_mediamill(work: Workload, a: float = 0.5) -> sb.SlateUCB:
    """A learner after so many rounds of Mediamill; with a = 1 it has shown every label often."""
    learner = sb.SlateUCB(work.shape[1], work.shape[2], a=a)
    sb.replay(learner, work.X[:ROUNDS], work.Y[:ROUNDS], SLOTS, keep_slates=False)
    return learner


def alike() -> sb.SlateUCB:
    """A learner whose labels have learned the same, so that all are equally good everywhere."""
    learner = warm_learner([*map(str, range(ALIKE))])
    state = state_of(learner)
    state.w[1:], state.dense.A_inv[1:] = state.w[0], state.dense.A_inv[0]
    return learner


def state_of(learner: sb.SlateUCB) -> FullState:
    rule = learner.fast_rule()
    assert rule is not None
    return cast(FullState, rule.state)


def compare(learner: sb.SlateUCB, X: np.ndarray, first: int) -> tuple[dict[str, float], float]:
    """Medians of `rank` and of its search, with those of a look at all labels, and the share of
    labels that the search looked at; in turns of 20 contexts, from context `first` on.

    One after another they would measure the caches that the other has emptied. The contexts before
    `first` are ranked once, as a service would have: bounds are made on the way.
    """
    batch.prepare(learner, lambda _: None)
    for x in X[:first]:
        learner.rank(x, SLOTS)
    state, rule, looked = state_of(learner), learner.fast_rule(), []
    assert rule is not None
    aim = Aim(SLOTS, 1.0, rule.spread(learner.t), rule.tie, np.empty(0, np.intp), rule.grid)

    def pruned(x: np.ndarray) -> None:
        before = learner.looks.looked
        learner.rank(x, SLOTS)
        looked.append(learner.looks.looked - before)

    def full(x: np.ndarray) -> None:
        state.prefers_best = lambda contexts, most: False  # type: ignore[method-assign]
        learner.rank(x, SLOTS)
        del state.prefers_best  # type: ignore[method-assign]

    def search(x: np.ndarray) -> None:
        state.best(x, aim)

    ranks, states = {"pruned": pruned, "full": full}, {"search": search, "look": state.look}
    laps = []
    for k in range(first, len(X), TURN):
        given = X[k : k + TURN]
        seen = [learner.scaled(x) for x in given]
        lap = {name: medians({name: one}, given)[name] for name, one in ranks.items()}
        laps.append(lap | {name: medians({name: one}, seen)[name] for name, one in states.items()})
    found = {name: float(np.median([lap[name] for lap in laps])) for name in laps[0]}
    return found, float(np.mean(looked)) / learner.n_labels
