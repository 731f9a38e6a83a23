"""Many contexts at once are decided as each by itself."""

import numpy as np
import pytest
from learners import D

import semibandit as sb
from semibandit.policies.learner import Request
from semibandit.policies.together import pick_together
from semibandit.theory.cost import Costs
from semibandit.theory.slate import GRID, cut, order

COSTS = [sb.decreasing, sb.constant, lambda i, s: 1.0 / i, [[1.0], [0.9, 0.2], [0.9, 0.3, 0.1]]]


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("a", [0.0, 0.3, 0.5, 1.0])
def test_it_is_order_and_cut_row_by_row(cost, a):
    random, costs = np.random.default_rng(3), Costs(cost)
    prob = random.choice([0.0, 0.2, 0.5, 0.500000000001, 0.9, 1.0], (40, 9))  # many ties
    tie = random.permutation(9) / 9
    slots = [*([None, 0, 1, 2, 3, 4, 9, 20] * 5)]
    found = pick_together(prob, prob, tie, slots, a, costs)
    for row, s, best in zip(prob, slots, found, strict=True):
        one = order(np.rint(row * GRID), tie, s)
        assert best.tolist() == one[: cut(row[one], a, costs)].tolist()


@pytest.mark.parametrize("width", [sb.Scaled(0.7), sb.KnownNorm(1.0), sb.UnknownNorm()])
@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(2.0)])
def test_a_group_is_decided_as_its_members(width, loss):
    learner = sb.SlateUCB(D, 12, width=width, loss=loss)
    random = np.random.default_rng(1)
    for _ in range(60):
        slate = learner.rank(random.standard_normal(D), 3)
        learner.learn(slate, [label for label in slate.labels if random.random() < 0.3])
    X = random.standard_normal((20, D))
    asked = [
        Request(learner._read(x), i % 5 or None, None, [i % 12] if i % 7 == 0 else None, 0)
        for i, x in enumerate(X)
    ]
    for one, slate in zip(asked, learner._rank_all(asked), strict=True):
        alone = learner.rank(X[asked.index(one)], one.slots, exclude=one.exclude)
        assert slate.labels == alone.labels
        for key in ("margin", "width", "estimate", "prob"):
            np.testing.assert_allclose(getattr(slate, key), getattr(alone, key), atol=1e-12)
