"""The regret lab: exact regret in worlds whose truth is known, against the paper's bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from semibandit.evaluation.play import play
from semibandit.evaluation.trace import log_spaced
from semibandit.experiments.paper.plans import FIGURE_2
from semibandit.experiments.setting import Setting
from semibandit.policies.learner import Learner
from semibandit.policies.slate_ucb import SlateUCB
from semibandit.theory import bounds
from semibandit.theory.surrogate import Square
from semibandit.worlds.adversarial import Adversarial
from semibandit.worlds.synthetic import Synthetic

__all__ = ["CASES", "WORLDS", "lab_runs", "play_run", "slope"]

WORLDS = {"synthetic": Synthetic, "adversarial": Adversarial}
MARKS = 120

# What is compared: parts of a setting, the loss that regret is measured in (`kind`), and the
# theorem that bounds it (`bound`). Dual variables cost O(N²) a round, so they play `most` rounds.
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
    """The runs of `play_run` by (world, case, seed)."""
    size = {"rounds": rounds, "features": features, "labels": labels, "slots": slots}
    return {
        (world, case, seed): {"world": world, "case": case, "seed": seed, **size}
        for world in WORLDS
        for case in CASES
        for seed in range(seeds)
    }


def play_run(run: Mapping[str, Any]) -> dict[str, Any]:
    """Play one case in one world; the function of the regret lab's sweep.

    Parameters
    ----------
    run : mapping
        world, case and seed, and the size: rounds, features, labels and slots. If the case varies
        the slots, they run through 1 to 2·slots.

    Returns
    -------
    dict
        Regret at some rounds (marks), at the end (final), its log-log slope, the share of rounds in
        which all intervals covered the truth, and the bound at the same rounds if there is one.
    """
    case = CASES[run["case"]]
    d, K, T, S = (int(run[name]) for name in ("features", "labels", "rounds", "slots"))
    T = min(T, case.get("most", T))
    world = WORLDS[run["world"]](d, K, density=0.2, seed=int(run["seed"]))
    learner = _learner(case, world)
    played = play(
        learner,
        world,
        T,
        [1 + t % (2 * S) for t in range(T)] if case.get("varying") else S,
        kind=case.get("kind", "ac"),
        coverage=isinstance(learner, SlateUCB),
        progress=False,
    )
    marks = log_spaced(T, MARKS)
    regret = played.regret[marks - 1]
    result = {
        "marks": marks.tolist(),
        "regret": regret.tolist(),
        "final": float(regret[-1]),
        "slope": slope(played.regret),
        "covered": None if played.covered is None else float(played.covered.mean()),
    }
    if "bound" in case:
        result["bound"] = [_bound(case["bound"], int(t), d, K, world.U, S) for t in marks]
    return result


def _learner(case: Mapping[str, Any], world: Synthetic) -> Learner:
    """The learner of a case; a width "known" knows the norm of the world's weights."""
    parts = {name: case[name] for name in ("learner", "model", "a") if name in case}
    width = case.get("width", "scaled:1")
    width = f"known:{world.U!r}" if width == "known" else width
    setting = Setting("", **FIGURE_2, **parts, width=width, seed=world.seed)
    return setting.build(world.n_features, world.n_labels)


def slope(regret: Any) -> float | None:
    """The slope of log regret against log t over the last three quarters of the rounds.

    1 is linear growth, 1/2 the rate of the theorems. None if there are too few rounds or no regret.
    """
    T = len(regret)
    t = np.arange(max(T // 4, 1), T + 1)
    values = np.asarray(regret)[t - 1]
    if len(t) < 2 or values[0] <= 0:
        return None
    return float(np.polyfit(np.log(t), np.log(values), 1)[0])


def _bound(name: str, T: int, d: int, K: int, U: float, S: int) -> float:
    return float(getattr(bounds, name)(T=T, d=d, K=K, U=U, loss=Square(), slots=S))
