"""Each baseline does what its paper or its name says."""

import numpy as np
import pytest
from learners import D, K, contexts, drive

import semibandit as sb
from semibandit.policies.request import Request

X = np.array([0.6, 0.8, 0.0, 0.0])

PLAIN = {"scale": "unit", "bias": False}  # contexts of which one knows what the model sees


def test_greedy_is_width_zero():
    assert drive(sb.Greedy(D, K, seed=3), 200) == drive(
        sb.SlateUCB(D, K, width=sb.Scaled(0.0), probe=0.0, seed=3), 200
    )


def test_obr_learns_every_label_every_round():
    """OBR equals SlateUCB's model told all labels, label by label."""
    obr, full = sb.OBR(D, K, **PLAIN), sb.Full().start(K, D)
    random = np.random.default_rng(0)
    for x in contexts(150):
        slate = obr.rank(x, 2)
        look = full.look(slate.x)
        margin = np.clip(look.margin, -1, 1)
        np.testing.assert_allclose(obr.scores(x).margin, margin, atol=1e-9)
        relevant = np.flatnonzero(random.random(K) < 0.3)
        signs = np.where(np.isin(np.arange(K), relevant), 1.0, -1.0)
        moved = np.flatnonzero(margin != look.margin)
        steps = signs * (1 - signs * margin)
        full.step(look, moved, (margin - look.margin)[moved], np.arange(K), steps)
        obr.learn(slate, relevant.tolist())


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_epsilon_greedy_draws_that_often(epsilon):
    greedy, learner = (
        sb.Greedy(D, K, seed=1, **PLAIN),
        sb.EpsilonGreedy(D, K, epsilon=epsilon, seed=1, **PLAIN),
    )
    drive(greedy, 40)
    learner._state, learner._t, learner._changes = greedy._state, greedy._t, greedy._changes
    n = 600
    other = sum(greedy.rank(x, 2).labels != learner.rank(x, 2).labels for x in contexts(n, seed=8))
    same_by_luck = 1 / (K * (K - 1))
    assert other / n == pytest.approx(epsilon * (1 - same_by_luck), abs=0.06)


def test_an_epsilon_slate_is_as_long_as_the_greedy_one_and_not_empty():
    learner = sb.EpsilonGreedy(D, K, epsilon=1.0, a=0.0)  # a = 0: greedy shows nothing
    assert len(learner.rank(X, 3)) == 1
    assert len(learner.rank(X, 0)) == 0
    assert len(sb.EpsilonGreedy(D, K, epsilon=1.0, a=1.0).rank(X, 3)) == 3


def test_random_fills_the_slots_evenly():
    learner, n = sb.Random(D, K), 3000
    counts = np.zeros(K)
    for draw in range(n):
        slate = learner.rank(X, 2, draw=draw)
        assert len(slate) == 2
        counts[slate.labels] += 1
    np.testing.assert_allclose(counts / n, 2 / K, atol=0.04)


@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(2.0)])
def test_thompson_samples_the_second_order_state(loss):
    learner = sb.Thompson(D, K, alpha=0.3, loss=loss, probe=0.0, **PLAIN)
    drive(learner, 40)
    look, draws = learner._state.look(X), 4000
    asked = [Request(X, None, None, None, draw) for draw in range(draws)]
    margins = np.array([learner._view(X, one).score for one in asked])
    deviation = 0.3 * np.sqrt(look.norm2 / loss.c_L2)
    middle = np.clip(look.margin, -loss.R, loss.R)
    assert np.all(np.abs(margins.mean(axis=0) - middle) < 5 * deviation / draws**0.5)
    np.testing.assert_allclose(margins.std(axis=0), deviation, rtol=0.06)


def test_thompson_with_the_square_loss_draws_as_it_always_did():
    """c''_L = 1: dividing by its root changes no bit."""
    learner = sb.Thompson(D, K, alpha=0.3, probe=0.0, **PLAIN)
    drive(learner, 40)
    look = learner._state.look(X)
    view = learner._view(X, Request(X, None, None, None, 1))
    assert view.width.tolist() == (0.3 * np.sqrt(look.norm2)).tolist()


def test_banditron_by_hand():
    learner, gamma = sb.Banditron(D, K, gamma=0.3, **PLAIN), 0.3
    w = np.zeros((K, D))
    random = np.random.default_rng(0)
    explored = 0
    for x in contexts(400):
        slate = learner.rank(x)
        z, shown, leader = slate.x, slate.labels[0], slate.leader
        assert leader in np.flatnonzero(w @ z >= (w @ z).max() - 1e-9)
        P = (1 - gamma) * (shown == leader) + gamma / K
        assert slate.propensity == pytest.approx(P)
        assert slate.prob[0] == slate.propensity
        explored += shown != leader
        right = random.random() < 0.5
        learner.learn(slate, [shown] if right else [])
        w[shown] += z * right / P
        w[leader] -= z
        np.testing.assert_allclose(learner._w, w, atol=1e-10)
    assert explored / 400 == pytest.approx(gamma * (1 - 1 / K), abs=0.06)


@pytest.mark.parametrize("alpha", [1.0, 0.4])
def test_confidit_by_hand(alpha):
    """A starts as (1+alpha)² I, w = A⁻¹(A w' + X), margins in [-alpha, 1]."""
    learner = sb.Confidit(D, K, alpha=alpha, width=sb.Scaled(0.5), project="all", **PLAIN)
    A = np.array([(1 + alpha) ** 2 * np.eye(D)] * K)
    w = np.zeros((K, D))
    random, flipped, wrong = np.random.default_rng(0), 0, 0
    for x in contexts(500):
        slate = learner.rank(x)
        z, i = slate.x * (1 + alpha), slate.labels[0]  # the unit context
        norm2 = np.array([z @ np.linalg.inv(A[j]) @ z for j in range(K)])
        for j in range(K):
            m = w[j] @ z
            if not -alpha <= m <= 1:
                w[j] -= (m - np.clip(m, -alpha, 1)) / norm2[j] * np.linalg.inv(A[j]) @ z
        score = w @ z + 0.5 * np.sqrt(norm2)
        assert score[i] >= score.max() - 1e-9
        assert slate.prob[0] == pytest.approx((alpha + min(score[i], 1)) / (1 + alpha))
        right = random.random() < 0.3
        learner.learn(slate, [i] if right else [])
        new_A = A[i] + np.outer(z, z)
        ways = {s: np.linalg.solve(new_A, A[i] @ w[i] + s * z) for s in (1, -1)}
        ours = np.array([learner._state.margins(e).margin[i] for e in np.eye(D)]) / (1 + alpha)
        sign = min(ways, key=lambda s: np.abs(ways[s] - ours).max())
        np.testing.assert_allclose(ours, ways[sign], atol=1e-9)
        assert sign == 1 or not right
        wrong, flipped = wrong + (not right), flipped + (not right and sign == 1)
        A[i], w[i] = new_A, ways[sign]
    assert flipped / wrong == pytest.approx((1 - alpha) / 2, abs=0.06)
