"""Probes: a label that was given up too soon comes back; a service never falls silent."""

import numpy as np
import pytest
from scipy import sparse

import semibandit as sb
from reference import FIGURE_2, Figure2, Standard
from semibandit.models.model import Sparse
from semibandit.policies.randomness import coin, coins, coins_by_seed, coins_of

D, K = 4, 7


def game(T, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((T, D)) * [1, 10, 0.1, 3] + 2
    Y = (X @ random.standard_normal((D, K)) + random.standard_normal((T, K)) > 8).astype(int)
    return X, Y


def slow_twin(bandit, probe, at_least):
    return Figure2(
        D + 1, K, R=1.0, g=lambda m: 1 - m, c2=1.0, cost=lambda i, s: (s - i + 1) / s, a=bandit.a,
        width=lambda n, t: 0.25 * n**0.5, tie=bandit._tie, project="learned", at_least=at_least,
    )  # fmt: skip


@pytest.mark.parametrize(("probe", "at_least"), [(0.1, 0), (0.5, 2), (1.0, 0), (0.0, 1)])
def test_windows_rank_and_the_naive_loop_agree_with_all_defaults(probe, at_least):
    """Contexts standardised, labels projected as they learn, probes, at_least: slate for slate."""
    X, Y = game(500)
    slots = 3 + np.arange(500) % 3
    options = {"probe": probe, "at_least": at_least, "a": 0.4, "seed": 3}
    fast, plain = (sb.SlateUCB(D, K, **options) for _ in range(2))
    slow, scaling = slow_twin(fast, probe, at_least), Standard()
    trace = sb.replay(fast, X, Y, slots.tolist())
    probes = 0
    for t, x in enumerate(X):
        tossed = coin(3, t + 1, 0, x) < probe
        expected = slow.rank(scaling.scaled(x), int(slots[t]), range(K), tossed=tossed)
        slate = plain.rank(x, int(slots[t]))
        relevant = set(np.flatnonzero(Y[t]).tolist())
        assert slate.labels == expected == trace.slates[t, : trace.sizes[t]].tolist()
        slow.learn(scaling.scaled(x), expected, relevant)
        scaling.add(x)
        plain.learn(slate, [i for i in slate.labels if i in relevant])
        assert len(slate) >= at_least
        assert slate.probe in (None, slate.labels[-1] if slate.labels else None)
        probes += slate.probe is not None
    assert slow.projected > 0
    assert (probes > 0) == (probe > 0)


def test_a_probe_is_drawn_from_seed_round_context_and_draw():
    random = np.random.default_rng(0)
    X = random.standard_normal((4000, D))
    found = coins(7, 5, 0, X)
    assert [coin(7, 5 + t, 0, x) for t, x in enumerate(X[:50])] == found[:50].tolist()
    dense_again = coins(7, 5, 0, sparse.csr_array(X))
    np.testing.assert_array_equal(found, dense_again)
    assert found.min() >= 0
    assert found.max() < 1
    assert abs(found.mean() - 0.5) < 0.02  # 3 deviations are 0.014
    assert abs(np.mean(found < 0.1) - 0.1) < 0.015
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.06
    x = np.array([0.0, 1.5, -0.0, 2.0])
    entries = Sparse(np.array([1, 3]), np.array([1.5, 2.0]), 4)
    one = coin(1, 1, 0, x)
    assert coin(1, 1, 0, entries) == one
    assert len({one, coin(2, 1, 0, x), coin(1, 2, 0, x), coin(1, 1, 1, x), coin(1, 1, 0, -x)}) == 5
    same = [coin(1, t, 0, np.ones(3)) for t in range(2000)]
    assert abs(np.mean(np.array(same) < 0.1) - 0.1) < 0.03


def test_many_draws_in_one_round_are_those_of_each():
    import semibandit.policies.compiled  # noqa: F401  # as in a service with a large learner

    random = np.random.default_rng(4)
    X = random.standard_normal((50, 9)) * 10.0 ** random.integers(-300, 300, (50, 1))
    X[random.random(X.shape) < 0.3] = 0.0
    X[random.random(X.shape) < 0.1] = -0.0
    X[random.random(X.shape) < 0.1] = np.nan
    asked = [(2**63 + b, x) for b, x in enumerate(X)]
    for seed in (0, 7, 2**70):
        want = [coin(seed, 12, draw, x) for draw, x in asked]
        assert coins_of(seed, 12, asked) == want
    entries = Sparse(np.array([1]), np.array([1.5]), 9)
    assert coins_of(1, 3, [(0, entries), (1, X[0])]) == [
        coin(1, 3, 0, entries),
        coin(1, 3, 1, X[0]),
    ]
    assert coins_of(1, 3, []) == []
    seeds = [7, 0, 2**70]
    assert coins_by_seed(seeds, 12, asked) == [coins_of(seed, 12, asked) for seed in seeds]
    assert coins_by_seed(seeds, 12, asked[:1]) == [coins_of(seed, 12, asked[:1]) for seed in seeds]


def test_draws_are_the_same_in_every_process_and_version():
    """What was drawn belongs to a log: these numbers may never change."""
    x = np.array([0.5, -1.25, 3.0])
    assert [round(coin(seed, 9, 2, x), 12) for seed in (0, 1, 2**40)] == PINNED


PINNED = [0.685337578385, 0.483752546296, 0.677871703353]


def test_a_label_that_was_given_up_comes_back():
    """Not relevant at first, always later: without probes it is never shown again."""
    shown = {}
    for probe in (0.0, 0.1):
        bandit = sb.SlateUCB(2, 3, probe=probe, seed=1)
        for t in range(600):
            slate = bandit.rank([1.0, t % 2], 3)
            bandit.learn(slate, [i for i in slate.labels if i == 2 and t > 40])
            shown[probe] = 2 in slate.labels
    assert shown == {0.0: False, 0.1: True}


def test_probes_are_only_for_free_slots_and_within_the_candidates():
    bandit = sb.SlateUCB(2, 5, probe=1.0, a=0.05, width=sb.Scaled(0.0))
    assert len(bandit.rank([1.0, 2.0], 1)) == 1
    assert bandit.rank([1.0, 2.0], 0).labels == []
    for _ in range(30):
        slate = bandit.rank([1.0, 2.0], 4)
        bandit.learn(slate, [])
    assert len(slate) == 1
    assert slate.probe == slate.labels[0]
    assert bandit.rank([1.0, 2.0], 4, candidates=[3]).labels == [3]
    assert bandit.rank([1.0, 2.0], 4, candidates=[]).labels == []
    filled = sb.SlateUCB(2, 5, probe=1.0, a=1.0)
    assert filled.rank([1.0, 2.0], 4).probe is None
    table = sb.SlateUCB(2, 5, probe=1.0, cost=[[1.0], [1.0, 1.0]])
    assert len(table.rank([1.0, 2.0], 5)) <= 2


def test_rank_many_probes_as_rank_does(monkeypatch):
    monkeypatch.setattr("semibandit.policies.batch.LEAST", 0)
    X, Y = game(300, seed=2)
    bandit = sb.SlateUCB(D, K, probe=0.5, a=0.3)
    sb.replay(bandit, X, Y, 4)
    many, alone = bandit.rank_many(X, 4), [bandit.rank(x, 4) for x in X]
    assert [s.labels for s in many] == [s.labels for s in alone]
    assert [s.probe for s in many] == [s.probe for s in alone]
    assert 20 < sum(s.probe is not None for s in many) < 250


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"probe": 1.5}, "probe = 1.5, but it is a share of the rounds, from 0 to 1"),
        ({"probe": -0.1}, "probe = -0.1"),
        ({"probe": "often"}, "probe = 'often'"),
        ({"probe": float("nan")}, "probe = nan"),
        ({"at_least": -1}, "at_least = -1"),
        ({"at_least": 1.5}, "at_least = 1.5"),
        ({"project": "some"}, "project = 'some', but it must be 'learned' or 'all'"),
        ({"forget": 0}, "forget = 0, but it must be a half-life"),
        ({"forget": -3.0}, "forget = -3.0"),
    ],
)
def test_settings_out_of_range_are_refused(given, text):
    with pytest.raises(sb.errors.InputError, match=text):
        sb.SlateUCB(2, 3, **given)


def test_fewer_slots_than_at_least_are_refused():
    bandit = sb.SlateUCB(2, 5, at_least=3)
    with pytest.raises(sb.errors.InputError, match="slots = 2, but this learner shows at_least"):
        bandit.rank([1.0, 0.0], 2)
    with pytest.raises(sb.errors.InputError, match="at_least"):
        bandit.rank_many(np.eye(2), [3, 2])
    assert bandit.t == 1
    assert len(bandit.rank([1.0, 0.0], 3, candidates=[0, 1])) == 2  # there are no more


def test_figure_2_has_no_probes():
    bandit = sb.SlateUCB(2, 3, **FIGURE_2)
    assert all(bandit.rank([1.0, t], 3).probe is None for t in range(50))
