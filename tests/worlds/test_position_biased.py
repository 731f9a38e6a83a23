"""Clicks on relevant labels whose position was looked at; and what learning gains by knowing it."""

import inspect

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import InputError
from semibandit.evaluation.off_policy.position_bias import position_bias
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.evaluation.off_policy.visit_chunk import VisitChunk
from semibandit.policies.mixed import Mixed
from semibandit.policies.request import Request
from semibandit.worlds.position_biased import PositionBiased

THETA = (1.0, 0.5, 0.3, 0.2, 0.1)


def test_clicks_come_as_often_as_positions_are_looked_at():
    world, shown, n = PositionBiased(5, 8, examination=THETA[:3], seed=2), np.arange(5), 4000
    all_relevant = np.array([world.clicked(t, shown, shown) for t in range(n)])
    expected = np.array([1.0, 0.5, 0.3, 0.3, 0.3])
    np.testing.assert_array_equal(world.examined(5), expected)
    np.testing.assert_allclose(all_relevant.mean(axis=0), expected, atol=4 * 0.5 / np.sqrt(n))
    assert np.abs(np.corrcoef(all_relevant[:, 1:].T) - np.eye(4)).max() < 4 / np.sqrt(n)
    assert not world.clicked(3, shown, np.array([], dtype=int)).any()
    np.testing.assert_array_equal(world.clicked(5, shown, shown), all_relevant[5])


def test_whoever_stops_after_a_click_sees_no_more():
    world, shown = PositionBiased(5, 8, examination=[1.0], stop=0.8, seed=2), np.arange(3)
    clicks = np.array([world.clicked(t, shown, shown) for t in range(4000)])
    np.testing.assert_allclose(clicks.mean(axis=0), [1.0, 0.2, 0.04], atol=0.02)


def test_it_is_a_synthetic_world_in_all_but_clicks():
    synthetic, biased = (
        inspect.signature(cls).parameters for cls in (sb.Synthetic, PositionBiased)
    )
    for name, parameter in synthetic.items():
        assert biased[name] == parameter
    options = {"loss": sb.Logistic(3.0), "density": 0.2, "correlation": 0.3, "seed": 4}
    one, two = sb.Synthetic(5, 6, **options), PositionBiased(5, 6, **options)
    np.testing.assert_array_equal(one.u, two.u)
    np.testing.assert_array_equal(one.relevant(3, one.context(3)), two.relevant(3, two.context(3)))
    x, shown = one.context(1), np.array([4, 2])
    assert two.value(x, shown) == pytest.approx(one.prob(x)[4] + 0.7 * one.prob(x)[2])


@pytest.mark.parametrize(
    "wrong", [{"examination": []}, {"examination": [0.0]}, {"examination": [2]}, {"stop": 1.5}]
)
def test_what_is_no_probability_is_refused(wrong):
    with pytest.raises(InputError, match=f"{next(iter(wrong))} = .*, but"):
        PositionBiased(5, 6, **wrong)


def play(policy, world, rounds, slots=5, group=20):
    """Rounds of rank and learn, some at a time, as visits for `position_bias`."""
    visits = []
    for first in range(0, rounds, group):
        X = [world.context(t) for t in range(first, first + group)]
        for t, (x, slate) in enumerate(zip(X, policy.rank_many(X, slots), strict=True), first):
            clicked = world.clicked(t, np.array(slate.labels), world.relevant(t, x))
            policy.learn(slate, np.array(slate.labels)[clicked])
            visits.append(LoggedVisit(
                Request(x, slots, None, None, t), slate.labels, clicked, slate.slate_propensity,
                slate.prefix_propensity, slate.item_propensity, slate.distribution, group="",
            ))  # fmt: skip
    return visits


def share_of_the_best(examination, seed, rounds=1000):
    """How far a learner has come from random slates to the best ones, in expected clicks."""
    world = PositionBiased(8, 20, examination=THETA, seed=seed)
    learner = sb.EpsilonGreedy(8, 20, a=1.0, epsilon=0.05, examination=examination, seed=seed)
    play(learner, world, rounds)
    X = [world.context(t) for t in range(rounds, rounds + 200)]
    slates = [np.array(slate.labels) for slate in learner.rank_many(X, 5)]
    prob = [world.prob(x) for x in X]
    got = np.mean([world.value(x, shown) for x, shown in zip(X, slates, strict=True)])
    best = np.mean([world.value(x, np.argsort(-p)[:5]) for x, p in zip(X, prob, strict=True)])
    random = sum(THETA) * np.mean(prob)
    return (got - random) / (best - random)


def test_learning_gets_better_by_examination_probabilities_estimated_from_a_log():
    world = PositionBiased(8, 20, examination=THETA, seed=9)
    visits = play(Mixed(sb.SlateUCB(8, 20, a=1.0), 0.5), world, 1500)
    found = position_bias([VisitChunk(visits=visits, items=[list(range(20))] * 1500)])
    np.testing.assert_allclose(found.examination, THETA, atol=0.12)
    gain = [
        share_of_the_best(found.examination, seed) - share_of_the_best(None, seed)
        for seed in range(3)
    ]
    assert np.mean(gain) > 0.05
    assert min(gain) > 0


def test_a_learner_that_plays_is_told_of_clicks_and_judged_by_relevance():
    told = []

    class Told(sb.Random):
        def learn(self, slate, clicked, examined=None):
            told.append(len(clicked))
            super().learn(slate, clicked, examined)

    world = PositionBiased(5, 6, examination=[0.2], seed=1)
    played = sb.play(Told(5, 6, a=1.0), world, 300, slots=3, progress=False)
    assert sum(told) == pytest.approx(0.2 * 3 / 6 * played.trace.relevant.sum(), rel=0.2)
    same = sb.play(sb.Random(5, 6, a=1.0), sb.Synthetic(5, 6, seed=1), 300, 3, progress=False)
    np.testing.assert_array_equal(played.trace.relevant, same.trace.relevant)
    np.testing.assert_array_equal(played.expected, same.expected)
