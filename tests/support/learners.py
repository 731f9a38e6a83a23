"""Every learner with every model, for laws that hold for all."""

import numpy as np
import pytest

import semibandit as sb
from semibandit.policies.persistence import snapshot_of

D, K = 4, 6
MODELS = {
    "full": sb.Full(),
    "diagonal": sb.Diagonal(),
    "dual": sb.Dual(sb.rbf(1.0)),
    "budget": sb.Dual(sb.rbf(1.0), budget=5),
}
SECOND_ORDER = (sb.SlateUCB, sb.Greedy, sb.EpsilonGreedy, sb.Thompson, sb.Confidit)

ALL = [
    pytest.param(
        lambda labels=K, cls=cls, model=model, **more: cls(
            D, labels, model=model, **{"seed": 5} | more
        ),
        id=f"{cls.__name__}-{name}",
    )
    for cls in SECOND_ORDER
    for name, model in MODELS.items()
] + [
    pytest.param(
        lambda labels=K, cls=cls, **more: cls(D, labels, **{"seed": 5} | more), id=cls.__name__
    )
    for cls in (sb.OBR, sb.Random, sb.Banditron)
]


def contexts(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, D))


def drive(learner, rounds, seed=0, first=0):
    """Play rounds of a fixed game; the slates shown, as (labels, prob)."""
    seen = []
    names = learner.labels
    for t in range(first, first + rounds):
        random = np.random.default_rng([seed, t])
        x, answer = random.standard_normal(D), random.random(len(names)) < 0.4
        slate = learner.rank(x, 1 if learner.one_slot else int(random.integers(0, 4)))
        seen.append((slate.labels, slate.prob.tolist()))
        relevant = [name for name, yes in zip(names, answer, strict=True) if yes]
        told = relevant if learner.full_information else [n for n in slate.labels if n in relevant]
        learner.learn(slate, told)
    return seen


def bits(learner):
    """All that a file of the learner would hold, to be compared to the bit."""
    snapshot = snapshot_of(learner)
    return snapshot.header, {
        name: (a.dtype, a.shape, a.tobytes()) for name, a in snapshot.arrays.items()
    }
