"""Slates by the best labels alone are those of a look at all labels."""

from __future__ import annotations

import copy
import threading
import tracemalloc

import numpy as np
import pytest

import semibandit as sb
from semibandit.models import best, compiled_best
from semibandit.models.full import FullState
from semibandit.policies import batch
from semibandit.policies.randomised import rank_with_distributions
from semibandit.policies.request import Request

LEARNERS = {
    "ucb": lambda d, K: sb.SlateUCB(d, K, probe=0.3),
    "ranking": lambda d, K: sb.SlateUCB(d, K, a=1.0, width=sb.Scaled(1.0), project="all"),
    "logistic": lambda d, K: sb.SlateUCB(
        d, K, loss=sb.Logistic(2.0), probe=0.3, at_least=2, cost=sb.constant
    ),
    "forgetting": lambda d, K: sb.SlateUCB(d, K, forget=12.0, probe=0.3, width=sb.Scaled(0.1)),
    "theory": lambda d, K: sb.SlateUCB(d, K, width=sb.UnknownNorm(), a=0.8, probe=0.5),
    "greedy": lambda d, K: sb.Greedy(d, K, at_least=1),
}


@pytest.fixture(params=["compiled", "numpy"])
def eager(request, monkeypatch):
    """Every search takes place, however small the learner, and bounds are improved all the time."""
    for name, value in {"COMPILED": 0, "PLAIN": 0, "LONGEST": 0, "PRICE": 0, "OVERHEAD": 1}.items():
        monkeypatch.setattr(best, name, value)
    monkeypatch.setattr(batch, "LARGE", 0)
    if request.param == "numpy":
        monkeypatch.setattr(best, "use_compiled", lambda *_, **__: False)
    assert compiled_best.find_best  # it is loaded
    return request.param


def without_search(learner):
    """The slow twin: its state never says that a search pays."""
    twin = copy.deepcopy(learner)
    twin._state.prefers_best = lambda contexts, most: False
    return twin


def same(one, two):
    return one.labels == two.labels and one.probe == two.probe


def a_life(make, seed, rounds, d=8, K=80):
    """A learner and its twin through the same rounds; yields both before each round is learned."""
    random = np.random.default_rng(seed)
    learner = make(d, K)
    twin = without_search(learner)
    contexts = random.standard_normal((30, d)) + 0.5
    for t in range(rounds):
        x = contexts[random.integers(30)] if t % 3 else random.standard_normal(d)
        slots = int(random.integers(learner.at_least, 12))
        exclude = None if t % 4 else random.choice(learner.labels, 3, replace=False).tolist()
        slates = [one.rank(x, slots, exclude=exclude, draw=t) for one in (learner, twin)]
        yield t, learner, twin, slates
        shown = slates[0].labels
        clicked = [label for label in shown if random.random() < 0.1 + 0.5 * (label % 3 == 0)]
        for one in (learner, twin):
            one.learn(slates[0], clicked)
        if t % 20 == 19:
            gone = random.choice(learner.labels, 3, replace=False).tolist()
            for one in (learner, twin):
                one.retire_labels(gone)
                one.add_labels(int(2 + t % 3))


def improve(state, random):
    """Make new bounds for some rows: those of the others get older, and stay valid."""
    for row in random.choice(state.n, min(2, state.n), replace=False).tolist():
        A_inv = state.inverse(int(state.label_of[row]))
        assert state.search.bounds.improve(row, A_inv, int(state.count[row]))


@pytest.mark.parametrize("name", LEARNERS)
def test_slates_are_those_of_a_look_at_all_labels(name, eager):
    random = np.random.default_rng(2)
    for t, learner, _, slates in a_life(LEARNERS[name], seed=1, rounds=200):
        assert same(*slates), t
        improve(learner._state, random)
    assert learner.looked_share < 0.7


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("name", LEARNERS)
def test_policies_around_it_draw_the_same_and_know_the_same_probabilities(name, epsilon, eager):
    drawn = 0
    for t, learner, twin, (own, _) in a_life(LEARNERS[name], seed=2, rounds=120):
        x, slots = own.given, own.slots
        one, two = (sb.Mixed(inner, epsilon).rank(x, slots, draw=t) for inner in (learner, twin))
        assert same(one, two), t
        assert one.distribution == two.distribution
        assert one.slate_propensity == two.slate_propensity
        for numbers in ("prefix_propensity", "item_propensity"):
            np.testing.assert_array_equal(getattr(one, numbers), getattr(two, numbers))
        for numbers in ("estimate", "width", "prob"):
            np.testing.assert_allclose(getattr(one, numbers), getattr(two, numbers), atol=1e-12)
        drawn += len(one) == min(slots, 80) and one.labels != learner.rank(x, slots, draw=t).labels
    assert learner.looked_share < (0.9 if epsilon else 0.7)
    assert (drawn > 10) == (epsilon > 0)


def test_slates_with_their_probabilities_need_no_look_at_all_labels(eager):
    for t, learner, twin, (own, _) in a_life(LEARNERS["ucb"], seed=3, rounds=60):
        request = Request(own.given, own.slots, None, None, t)
        (one,), (two,) = (rank_with_distributions(who, [request]) for who in (learner, twin))
        assert same(one, two)
        assert one.distribution == two.distribution
    assert learner.looked_share < 0.7


def test_groups_of_requests_never_see_all_labels(monkeypatch):
    """A state that says so is searched for groups, too, and no array is of all labels."""
    K, d = 60_000, 6
    random = np.random.default_rng(0)
    learner = sb.SlateUCB(d, K, probe=0.5, a=0.2)
    X = random.standard_normal((40, d))
    for x in X:
        slate = learner.rank(x, 5)
        learner.learn(slate, slate.labels[:2])
    learner.retire_labels([*range(0, 90, 3)])
    twin = copy.deepcopy(learner)
    requests = {"slots": [1 + k % 7 for k in range(40)], "exclude": [1, 2, 5]}
    monkeypatch.setattr(FullState, "prefers_best", lambda self, contexts, most: True)
    learner.rank_many(X, **requests)
    tracemalloc.start()
    slates = learner.rank_many(X, **requests)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * K / 2
    monkeypatch.undo()
    twins = twin.rank_many(X, **requests)
    assert all(map(same, slates, twins))
    assert {slate.probe is None for slate in slates} == {True, False}
    np.testing.assert_allclose(
        np.concatenate([slate.prob for slate in slates]),
        np.concatenate([slate.prob for slate in twins]),
        atol=1e-12,
    )


def test_candidates_and_searched_requests_in_one_group(monkeypatch):
    random = np.random.default_rng(0)
    learner = sb.SlateUCB(sb.Features(a="number", b="category"), 60, probe=0.5)
    contexts = [{"a": float(a), "b": "xyz"[k % 3]} for k, a in enumerate(random.random(30))]
    for x in contexts:
        slate = learner.rank(x, 4)
        learner.learn(slate, slate.labels[:1])
    twin = without_search(learner)
    monkeypatch.setattr(FullState, "prefers_best", lambda self, contexts, most: True)
    candidates = [None if k % 3 else [1, 2, 3, 5, 8] for k in range(30)]
    exclude = [None if k % 2 else [4, 8] for k in range(30)]
    limits = {"candidates": candidates, "exclude": exclude}
    many = [one.rank_many(contexts, 6, **limits) for one in (learner, twin)]
    assert all(map(same, *many))
    with pytest.raises(sb.InputError, match="row 7 of X"):
        learner.rank_many([*contexts[:7], {"a": "no number"}], 6)
    with pytest.raises(sb.UnknownLabel, match="exclude names 99"):
        learner.rank(contexts[0], 6, exclude=[99])


def test_many_threads_rank_while_bounds_are_made(eager):
    *_, (_, learner, twin, _) = a_life(LEARNERS["ucb"], seed=3, rounds=60)
    X = np.random.default_rng(4).standard_normal((40, 8))
    expected = [twin.rank(x, 5).labels for x in X]
    found = [None] * 4

    def rank(k):
        found[k] = [learner.rank(x, 5).labels for x in X]

    threads = [threading.Thread(target=rank, args=(k,)) for k in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [expected] * 4


def test_learners_that_need_all_scores_are_not_searched(monkeypatch):
    monkeypatch.setattr(FullState, "prefers_best", lambda self, contexts, most: True)
    monkeypatch.setattr(FullState, "best", None)

    class Own(sb.SlateUCB):
        def _judge(self, look, request, rows=None):
            return super()._judge(look, request, rows)

    own = sb.SlateUCB(3, 50, width=lambda norm2, **_: np.sqrt(norm2))
    for learner in (sb.Thompson(3, 50), sb.EpsilonGreedy(3, 50), Own(3, 50), own):
        assert len(learner.rank([1.0, 2.0, 3.0], 5)) <= 5
        assert learner.looked_share == 1.0
