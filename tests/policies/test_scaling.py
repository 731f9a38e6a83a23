"""Contexts are scaled by those before them: as by a list of all contexts, anew each time."""

import math

import numpy as np
import pytest
from learners import ALL, bits, drive
from scipy import sparse

import semibandit as sb
from reference import Standard
from semibandit.models.model import Sparse, dense
from semibandit.policies.scaling import Scaling

D = 5
OFFSET = np.array([0.0, 2000.0, -3e6, 1e9, 0.5])
SIZE = np.array([1.0, 3.0, 4e4, 2.0, 1e-7])


def contexts(n, seed=0):
    """Numbers, years, euros, counts and shares; one is the same for a while."""
    X = OFFSET + SIZE * np.random.default_rng(seed).standard_normal((n, D))
    X[: n // 3, 2] = 17.0
    return X


@pytest.mark.parametrize("bias", [False, True])
def test_it_is_mean_and_deviation_of_all_contexts_so_far(bias):
    scaling, slow = Scaling("standard", D, bias), Standard(bias)
    for x in contexts(200):
        found = scaling.scaled(x)
        np.testing.assert_allclose(found, slow.scaled(x), atol=1e-5)  # the list itself rounds
        assert math.isclose(float(found @ found), 1.0)
        scaling.add(x)
        slow.add(x)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("unknown", [False, True])
def test_rows_in_turn_are_one_by_one(bias, unknown):
    X = contexts(300, seed=1)
    if unknown:
        X[:, 1:][np.random.default_rng(2).random((300, D - 1)) < 0.3] = np.nan
        X[:40, 3] = np.nan
    one, block = Scaling("standard", D, bias), Scaling("standard", D, bias)
    for first, end in ((0, 1), (1, 70), (70, 71), (71, 300)):
        found = block.scaled_in_turn(X[first:end])
        for x, row in zip(X[first:end], found, strict=True):
            np.testing.assert_allclose(row, one.scaled(x), atol=1e-12)
            one.add(x)
        block.add_rows(X[first:end])
        for name, array in one.arrays().items():
            np.testing.assert_array_equal(block.arrays()[name], array)


def test_what_is_unknown_is_average_and_does_not_count():
    scaling, slow = Scaling("standard", D, True), Standard()
    X = contexts(80, seed=3)
    X[np.random.default_rng(4).random(X.shape) < 0.4] = np.nan
    for x in X:
        found = scaling.scaled(x)
        np.testing.assert_allclose(found, slow.scaled(x), atol=1e-5)
        assert np.all(found[:-1][np.isnan(x)] == 0)
        scaling.add(x)
        slow.add(x)
    nothing = scaling.scaled(np.full(D, np.nan))
    assert nothing.tolist() == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("bias", [False, True])
def test_sparse_contexts_are_not_centred(bias):
    random, slow = np.random.default_rng(5), Standard(bias)
    scaling, block = Scaling("standard", D, bias), Scaling("standard", D, bias)
    X = random.standard_normal((60, D)) * SIZE * (random.random((60, D)) < 0.5)
    X[np.all(X == 0, axis=1), 0] = 1.0
    rows = block.scaled_in_turn(sparse.csr_array(X)).toarray()
    for x, row in zip(X, rows, strict=True):
        index = np.flatnonzero(x)
        raw = Sparse(index, x[index], D)
        expected = slow.scaled_sparse(x)
        np.testing.assert_allclose(dense(scaling.scaled(raw)), expected, atol=1e-12)
        np.testing.assert_allclose(row, expected, atol=1e-12)
        assert np.all(row[:D][x == 0] == 0)
        scaling.add(raw)
        slow.add(x)


def test_sparse_after_dense_counts_the_zeros():
    scaling, slow = Scaling("standard", 2, True), Standard()
    for x in ([5.0, 1.0], [6.0, 0.0], [0.0, 2.0], [7.0, 0.0]):
        given = np.array(x)
        index = np.flatnonzero(given)
        np.testing.assert_allclose(scaling.scaled(given), slow.scaled(given), atol=1e-12)
        scaling.add(Sparse(index, given[index], 2) if x[0] in (0.0, 6.0) else given)
        slow.add(given)


@pytest.mark.parametrize("make", ALL)
def test_scaled_contexts_do_not_depend_on_units(make):
    """Euros or cents, years since 0 or since 2000: the same slates."""
    one, two = make(scale="standard"), make(scale="standard")
    d = one.n_features
    factor, shift = 10.0 ** np.arange(-3, d - 3), np.arange(d) * 7.0
    random = np.random.default_rng(6)
    for t in range(60):
        x = random.standard_normal(d)
        slates = [one.rank(x, 1), two.rank(x * factor + shift, 1)]
        np.testing.assert_allclose(dense(slates[0].x), dense(slates[1].x), atol=1e-9)
        for learner, slate in zip((one, two), slates, strict=True):
            told = list(range(t % 3)) if learner.full_information else slate.labels[: t % 2]
            learner.learn(slate, told)


@pytest.mark.parametrize("make", ALL)
def test_rank_changes_nothing_and_learn_adds_the_context(make):
    learner = make()
    drive(learner, 10)
    before, x = bits(learner), np.full(learner.n_features, 3.0)
    slate = learner.rank(x, 1)
    learner.scores(x)
    learner.rank_many([x, 2 * x], 1)
    assert bits(learner) == before
    learner.learn(slate, [])
    assert learner._scaling.n == 11


def test_a_slate_learns_with_the_context_it_was_ranked_with():
    """Late feedback: other contexts came meanwhile, and scale the same one otherwise."""
    late, prompt = (sb.SlateUCB(D, 4, a=1.0, seed=1) for _ in range(2))
    X = contexts(30, seed=8)
    for bandit in (late, prompt):
        for x in X[:20]:
            bandit.learn(bandit.rank(x, 2), [])
    slate = late.rank(X[20], 2)
    seen = slate.x.copy()
    for x in X[21:]:
        late.learn(late.rank(x, 2), [])
    assert not np.allclose(late.rank(X[20], 2).x, seen)
    looks = [late._state.inverse(row) for row in range(4)]
    late.learn(slate, [slate.labels[0]])
    for row in range(4):
        grown = np.linalg.inv(looks[row]) + (row in slate.labels) * np.outer(seen, seen)
        np.testing.assert_allclose(late._state.inverse(row) @ grown, np.eye(D + 1), atol=1e-9)
    logged = prompt.shown(X[20], slate.labels, 2, seen=seen)
    np.testing.assert_array_equal(logged.x, seen)
    for wrong in (seen[:-1], [*seen[:-1], np.nan]):
        with pytest.raises(ValueError, match="seen = "):
            prompt.shown(X[20], slate.labels, 2, seen=wrong)


@pytest.mark.parametrize("kind", ["standardised", 1, None, "Unit"])
def test_other_scales_are_refused(kind):
    with pytest.raises(sb.errors.InputError, match="must be 'standard', 'unit' or 'none'"):
        sb.SlateUCB(D, 3, scale=kind)


def test_numbers_whose_squares_overflow_are_refused():
    bandit = sb.SlateUCB(2, 3)
    with pytest.raises(sb.errors.InputError, match=r"context\[1\] is 1e\+150"):
        bandit.rank([1.0, 1e150])
    assert len(sb.SlateUCB(2, 3, scale="unit").rank([1.0, 1e150])) == 3


def test_an_average_context_is_its_bias_or_itself():
    bandit = sb.SlateUCB(2, 3)
    assert bandit.rank([3.0, 4.0]).x.tolist() == [0, 0, 1]
    without = sb.SlateUCB(2, 3, bias=False)
    np.testing.assert_allclose(without.rank([3.0, 4.0]).x, [0.6, 0.8])
    with pytest.raises(sb.errors.InputError, match="all zeros"):
        without.rank([0.0, 0.0])
    with pytest.raises(sb.errors.InputError, match="row 0 of X: context is all zeros"):
        sb.replay(sb.SlateUCB(2, 3, bias=False, scale="unit"), np.eye(3, 2, -2), np.eye(3), 1)


def test_a_context_that_is_the_mean_up_to_rounding_has_no_direction():
    random = np.random.default_rng(0)
    for _ in range(20):
        bandit, X = sb.SlateUCB(3, 3), random.random((4, 3)).round(2)
        for x in X:
            bandit.learn(bandit.rank(x, 1), [])
        mean = X.mean(axis=0)
        ranked = [bandit.rank(mean), *bandit.rank_many([mean] * 70)]
        in_turn = bandit.scaled_in_turn(np.array([mean]))
        seen = [*(slate.x for slate in ranked), *in_turn]
        np.testing.assert_array_equal(seen, [[0, 0, 0, 1]] * 72)
