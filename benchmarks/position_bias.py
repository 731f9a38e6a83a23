"""What learning gains by knowing how likely each position is looked at.

In worlds whose truth is known, learners play with and without `examination`: the true
probabilities, those that `position_bias` estimates from the log of a learner mixed with uniform
slates, or "up to the last click". Measured is the share of the way from random slates to the best
ones, in expected clicks, on contexts after the last round.

    python -m benchmarks.position_bias
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import semibandit as sb
from semibandit.evaluation.off_policy.position_bias import position_bias
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.evaluation.off_policy.visit_chunk import VisitChunk
from semibandit.policies.mixed import Mixed
from semibandit.policies.request import Request
from semibandit.worlds.position_biased import PositionBiased

THETA = (1.0, 0.5, 0.3, 0.2, 0.1)
D, K, S = 8, 20, len(THETA)
ROUNDS, LOGGED, JUDGED, SEEDS = 3000, 6000, 400, 5
WORLDS = {
    "clicks in half of the visits": {},
    "the same, and visitors who leave after a click": {"stop": 0.5},
    "rare clicks": {"n_features": 10, "density": 0.1},
}
LEARNERS = {"SlateUCB": sb.SlateUCB, "EpsilonGreedy": sb.EpsilonGreedy, "Greedy": sb.Greedy}
Examination = Sequence[float] | str | None


def world_for(settings: dict[str, float], seed: int) -> PositionBiased:
    given = {"n_features": D, "n_labels": K} | settings
    return PositionBiased(**given, examination=THETA, seed=seed)  # type: ignore[arg-type]


def estimated(world: PositionBiased) -> list[float]:
    """The examination probabilities, from the log of a learner mixed with uniform slates."""
    policy, visits = Mixed(sb.SlateUCB(world.n_features, K, a=1.0), 0.2), []
    for t in range(LOGGED):
        x = world.context(10**6 + t)
        slate = policy.rank(x, S, draw=t)
        clicked = _clicked(world, 10**6 + t, x, slate)
        policy.learn(slate, np.array(slate.labels)[clicked].tolist())
        visits.append(LoggedVisit(
            Request(x, S, None, None, t), slate.labels, clicked, slate.slate_propensity,
            slate.prefix_propensity, slate.item_propensity, slate.distribution, group="",
        ))  # fmt: skip
    items = [list(range(K))] * len(visits)
    return position_bias([VisitChunk(visits=visits, items=items)]).examination


def share_of_the_best(learner: sb.Learner, world: PositionBiased) -> float:
    """From random slates (0) to the best ones (1), after ROUNDS rounds of learning."""
    for t in range(ROUNDS):
        x = world.context(t)
        slate = learner.rank(x, S)
        learner.learn(slate, np.array(slate.labels)[_clicked(world, t, x, slate)].tolist())
    X = [world.context(t) for t in range(ROUNDS, ROUNDS + JUDGED)]
    slates = [np.array(slate.labels) for slate in learner.rank_many(X, S)]
    got = np.mean([world.value(x, shown) for x, shown in zip(X, slates, strict=True)])
    best = np.mean([world.value(x, np.argsort(-world.prob(x))[:S]) for x in X])
    random = world.examined(S).sum() * np.mean([world.prob(x) for x in X])
    return float((got - random) / (best - random))


def _clicked(world: PositionBiased, t: int, x: np.ndarray, slate: sb.Slate) -> np.ndarray:
    return world.clicked(t, np.array(slate.labels, dtype=np.intp), world.relevant(t, x))


def main() -> None:
    for name, settings in WORLDS.items():
        worlds = [world_for(settings, seed) for seed in range(SEEDS)]
        guesses = [estimated(world) for world in worlds]
        print(f"\n{name}: estimated from {LOGGED:,} visits, mixed:0.2, and in truth")
        print("   ", np.mean([[*one, *[one[-1]] * S][:S] for one in guesses], 0).round(2), THETA)
        columns: dict[str, list[Examination]] = {
            "without": [None] * SEEDS, "true": [THETA] * SEEDS, "estimated": list(guesses),
            "last click": ["up to the last click"] * SEEDS,
        }  # fmt: skip
        print(f"    {'':14}" + "".join(f"{column:>18}" for column in columns))
        for learner, cls in LEARNERS.items():
            cells = []
            for chosen in columns.values():
                found = [
                    share_of_the_best(
                        cls(world.n_features, K, a=1.0, examination=one, seed=seed), world
                    )
                    for seed, (world, one) in enumerate(zip(worlds, chosen, strict=True))
                ]
                error = np.std(found, ddof=1) / np.sqrt(SEEDS)
                cells.append(f"{np.mean(found):11.3f} ± {error:.3f}")
            print(f"    {learner:14}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
