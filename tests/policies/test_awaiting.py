"""Feedback that comes late: equal labels take turns, and contexts count before they are learned."""

from __future__ import annotations

import copy
import pickle
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from learners import bits

import semibandit as sb
from semibandit.models.full import FullState
from semibandit.models.model import dense
from semibandit.policies.randomness import turn_of
from semibandit.policies.scaling import Scaling

D, K, SLOTS = 6, 40, 4
LEARNERS = [
    sb.SlateUCB(D, K, a=1.0),
    sb.SlateUCB(D, K, probe=0.5, a=0.4),
    sb.Greedy(D, K, loss=sb.Logistic(2.0)),
    sb.SlateUCB(D, K, model=sb.Diagonal()),
    sb.SlateUCB(D, K, model=sb.Dual(sb.rbf(1.0))),
]


def learned(learner, rounds=30, seed=0):
    """The learner after some rounds; many of its labels have not been shown."""
    random, learner = np.random.default_rng(seed), copy.deepcopy(learner)
    for _ in range(rounds):
        slate = learner.rank(random.standard_normal(D), SLOTS)
        learner.learn(slate, [label for label in slate.labels if random.random() < 0.5])
    return learner


def by_scores(learner, x, draw):
    """The slate as Lemma 1 makes it of the scores of all labels, equal ones from the turn on."""
    scores = learner.scores(x)
    key = np.rint((scores.margin + scores.width) * learner._grid)
    tie = learner._tie
    best = np.lexsort((tie, tie < turn_of(draw), -key))[:SLOTS]
    return best[: len(sb.best_slate(scores.prob[best], SLOTS, learner.a, learner.cost))].tolist()


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("rounds", [0, 2, 30])
def test_a_draw_turns_the_order_among_equal_labels_and_nothing_else(learner, rounds):
    learner = learned(learner, rounds)
    X = np.random.default_rng(1).standard_normal((12, D))
    for draw, x in enumerate(X):
        slate = learner.rank(x, SLOTS, draw=draw)
        shown = slate.labels if slate.probe is None else slate.labels[:-1]
        assert shown == by_scores(learner, x, draw)
        (many,) = learner.rank_many([x], SLOTS, draw=draw)
        assert (many.labels, many.probe) == (slate.labels, slate.probe)
        drawn = sb.Mixed(learner, epsilon=0.0).rank(x, SLOTS, draw=draw)
        assert (drawn.labels, drawn.probe) == (slate.labels, slate.probe)


def test_the_search_for_the_best_labels_takes_the_same_turns(monkeypatch):
    learner = learned(sb.SlateUCB(D, 400, probe=0.5), rounds=60)
    X = np.random.default_rng(1).standard_normal((40, D))

    def ranked(searches):
        monkeypatch.setattr(FullState, "prefers_best", lambda *_: searches)
        slates = [learner.rank(x, SLOTS, draw=draw) for draw, x in enumerate(X)]
        return [(slate.labels, slate.probe) for slate in slates]

    assert ranked(True) == ranked(False)


def test_visits_in_a_row_show_different_labels():
    shown = [sb.SlateUCB(D, K).rank(np.ones(D), SLOTS, draw=draw).labels for draw in range(30)]
    counts = np.bincount(np.concatenate(shown), minlength=K)
    assert counts.min() >= 1
    assert counts.max() <= 6
    assert turn_of(0) == 0.0


@pytest.mark.parametrize("sparse", [False, True])
def test_contexts_are_scaled_by_those_that_were_expected(sparse):
    """As if they had been learned by now; what was learned stays."""
    bandit = sb.SlateUCB(D, K) if not sparse else sb.SlateUCB(sb.Hashed(D), K)
    before, twin = bits(bandit), Scaling("standard", bandit.n_features, bias=True)
    random = np.random.default_rng(0)
    for i in range(9):
        x = {f"f{j}": float(random.random()) for j in range(3)} if sparse else random.random(D)
        slate = bandit.rank(x, SLOTS)
        np.testing.assert_allclose(dense(slate.x), dense(twin.scaled(slate.given)))
        bandit.expect([slate] if i % 2 else slate)
        twin.add(slate.given)
    assert bits(bandit) == before
    assert bits(pickle.loads(pickle.dumps(bandit))) == before


def test_learning_goes_by_the_slate_alone():
    """Whether slates were expected or not, and in whatever order, what is learned is the same."""
    random, told = np.random.default_rng(0), sb.SlateUCB(D, K)
    slates = []
    for t in range(20):
        slates.append(told.rank(random.standard_normal(D), SLOTS, draw=t))
        told.expect(slates[-1])
    other = sb.SlateUCB(D, K)
    for t in random.permutation(20):
        for learner in (told, other):
            learner.learn(slates[t], slates[t].labels[:1])
    assert bits(told) == bits(other)


def test_more_that_was_learned_counts_more_than_less_that_was_expected():
    bandit = sb.SlateUCB(2, 3)
    bandit.expect(bandit.rank([1.0, 2.0]))
    for i in range(5):
        bandit.learn(bandit.rank([float(i), 1.0]), [])
    alone = sb.SlateUCB(2, 3)
    for i in range(5):
        alone.learn(alone.rank([float(i), 1.0]), [])
    assert bandit.rank([9.0, 1.0]).x.tolist() == alone.rank([9.0, 1.0]).x.tolist()


def test_other_scales_have_nothing_to_count():
    bandit = sb.SlateUCB(2, 3, scale="unit")
    first = bandit.rank([3.0, 4.0])
    bandit.expect(first)
    assert bandit.rank([3.0, 4.0]).x.tolist() == first.x.tolist()


def clicks(delay, expected, seed):
    """Expected clicks a visit in a small shop, in the second half of 1,200 visits."""
    random = np.random.default_rng([seed, 5])
    X = random.standard_normal((1200, D)) * [1.0, 100.0, 1.0, 5.0, 1.0, 1.0] + 50.0
    taste = random.standard_normal((K, D))
    p = 1.0 / (1.0 + np.exp(3.0 - (X - X.mean(axis=0)) / X.std(axis=0) @ taste.T))
    clicked, bandit, late, got = random.random(p.shape) < p, sb.SlateUCB(D, K, a=1.0), deque(), []
    for t, x in enumerate(X):
        slate = bandit.rank(x, SLOTS, draw=t if expected else 0)
        if expected:
            bandit.expect(slate)
        got.append(p[t, slate.labels].sum())
        late.append((slate, [label for label in slate.labels if clicked[t, label]]))
        if len(late) > delay:
            bandit.learn(*late.popleft())
    return np.mean(got[600:])


def test_late_feedback_is_learned_nearly_as_well_as_if_it_came_at_once():
    at_once, late, expected = (
        np.mean([clicks(delay, told, seed) for seed in range(3)])
        for delay, told in ((0, False), (200, False), (200, True))
    )
    assert expected > 1.5 * late
    assert expected > 0.8 * at_once


def test_only_slates_of_such_a_learner_can_be_expected():
    bandit = sb.SlateUCB(2, 3)
    other = sb.SlateUCB(2, 3, scale="unit").rank([1.0, 2.0])
    for wrong, why in (
        (3, "expect takes slates that rank gave, got 3"),
        (["a"], "got 'a'"),
        ([bandit.rank([1.0, 2.0]), other], "it was ranked by another learner"),
    ):
        with pytest.raises(sb.errors.InputError, match=why):
            bandit.expect(wrong)
    bandit.expect([])
    assert bandit._ahead is None
    mixed = sb.Mixed(bandit, epsilon=0.1)
    mixed.expect(mixed.rank([1.0, 2.0], draw=t) for t in range(4))
    assert bandit._ahead.n == 4


def test_threads_that_expect_lose_nothing_and_others_rank_by_one_scale():
    bandit, X = sb.SlateUCB(20, 5), np.random.default_rng(0).standard_normal((80, 20))
    slates = bandit.rank_many(X)
    with ThreadPoolExecutor(4) as threads:
        told = [threads.submit(bandit.expect, slate) for slate in slates]
        for _ in range(20):
            assert len({slate.x.tobytes() for slate in bandit.rank_many([X[0]] * 8)}) == 1
        assert [one.result() for one in told] == [None] * 80
    assert bandit._ahead.n == 80


def test_the_scores_of_banditron_are_those_of_the_draw():
    bandit = sb.Banditron(3, 10, gamma=0.2)
    for draw in range(8):
        slate, scores = bandit.rank(np.ones(3), draw=draw), bandit.scores(np.ones(3), draw=draw)
        assert scores.prob[slate.labels[0]] == slate.prob[0]
