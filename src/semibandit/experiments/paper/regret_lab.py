"""The regret lab: exact regret in worlds whose truth is known, against the paper's bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from semibandit.evaluation.play import play
from semibandit.evaluation.trace import log_spaced
from semibandit.experiments.setting import Setting
from semibandit.policies.slate_ucb import SlateUCB
from semibandit.theory import bounds
from semibandit.theory.surrogate import Square
from semibandit.worlds.adversarial import Adversarial
from semibandit.worlds.synthetic import Synthetic

__all__ = ["CASES", "WORLDS", "lab_runs", "play_run", "slope"]

WORLDS = {"synthetic": Synthetic, "adversarial": Adversarial}
MARKS = 120

# What is compared: the setting's parts; "bound" is the theorem its regret is held against. Dual
# variables cost O(N²) a round, so they play `most` rounds.
CASES: dict[str, dict[str, Any]] = {
    "Scaled(1)": {"width": "scaled:1"},
    "KnownNorm(U), Theorem 1": {"width": "known", "bound": "theorem1"},
    "UnknownNorm, Theorem 2": {"width": "unknown", "bound": "theorem2"},
    "ranking (a=1), Theorem 3": {
        "width": "known",
        "a": 1.0,
        "kind": "p_rank",
        "bound": "theorem3",
    },
    "Scaled(1), diagonal": {"width": "scaled:1", "model": "diagonal"},
    "Scaled(1), dual, linear": {"width": "scaled:1", "model": "linear", "most": 500},
    "Scaled(1), dual, rbf": {"width": "scaled:1", "model": "rbf:0.5", "most": 500},
    "Scaled(1), S varying": {"width": "scaled:1", "varying": True},
    "Greedy": {"learner": "Greedy"},
    "Random": {"learner": "Random"},
}


def lab_runs(
    rounds: int, seeds: int, *, features: int = 4, labels: int = 8, slots: int = 3
) -> dict[tuple[str, str, int], dict[str, Any]]:
    """(world, case, seed) -> what `play_run` takes. S_t runs through 1 to 2S where it varies."""
    shape = {"rounds": rounds, "features": features, "labels": labels, "slots": slots}
    return {
        (world, case, seed): {"world": world, "case": case, "seed": seed, **shape}
        for world in WORLDS
        for case in CASES
        for seed in range(seeds)
    }


def play_run(given: Mapping[str, Any]) -> dict[str, Any]:
    """One game: regret at some rounds, its log-log slope, coverage, and the bound."""
    case = CASES[given["case"]]
    d, K, T, S = (int(given[name]) for name in ("features", "labels", "rounds", "slots"))
    seed, T = int(given["seed"]), min(T, case.get("most", T))
    world = WORLDS[given["world"]](d, K, density=0.2, seed=seed)
    parts = {name: case[name] for name in ("learner", "model", "a") if name in case}
    width = case.get("width", "scaled:1")
    width = f"known:{world.U!r}" if width == "known" else width
    learner = Setting("", **parts, width=width, seed=seed).build(d, K)
    slots = [1 + t % (2 * S) for t in range(T)] if case.get("varying") else S
    result = play(
        learner,
        world,
        T,
        slots,
        kind=case.get("kind", "ac"),
        coverage=isinstance(learner, SlateUCB),
        progress=False,
    )
    marks = log_spaced(T, MARKS)
    regret = result.regret[marks - 1]
    found = {
        "marks": marks.tolist(),
        "regret": regret.tolist(),
        "final": float(regret[-1]),
        "slope": slope(result.regret),
        "covered": None if result.covered is None else float(result.covered.mean()),
    }
    if "bound" in case:
        found["bound"] = [_bound(case["bound"], int(t), d, K, world.U, S) for t in marks]
    return found


def slope(regret: Any) -> float | None:
    """d log regret / d log t over the last three quarters: 1 is linear, 1/2 the theorems' rate."""
    T = len(regret)
    t = np.arange(max(T // 4, 1), T + 1)
    values = np.asarray(regret)[t - 1]
    if len(t) < 2 or values[0] <= 0:
        return None
    return float(np.polyfit(np.log(t), np.log(values), 1)[0])


def _bound(name: str, T: int, d: int, K: int, U: float, S: int) -> float:
    return float(getattr(bounds, name)(T=T, d=d, K=K, U=U, loss=Square(), slots=S))
