"""Bounds of norms: valid for every context, after every way of learning."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import semibandit as sb
from semibandit.models.norm_bounds import certified
from semibandit.policies.feedback_batch import ShownFeedback, can_compile, learn_batch


def inverse_of(X):
    A_inv = np.linalg.inv(np.eye(X.shape[1]) + X.T @ X)
    return (A_inv + A_inv.T) / 2


@pytest.mark.parametrize(("d", "n"), [(2, 4), (5, 3), (40, 12), (40, 4000), (70, 200)])
def test_what_is_certified_is_above_the_matrix(d, n):
    random = np.random.default_rng(d + n)
    X = random.standard_normal((n, d)) * np.linspace(1.0, 0.01, d)
    X[:, -1] += 2.0
    A_inv = inverse_of(X / np.linalg.norm(X, axis=1)[:, None])
    largest, vectors = certified(A_inv)
    G = vectors.astype(np.float64)
    above = largest * np.eye(d) - G.T @ G - A_inv
    assert np.linalg.eigvalsh(above)[0] > -1e-12
    assert largest < 1.6 * np.linalg.eigvalsh(A_inv)[-1] + 0.03
    x = X.mean(axis=0) / np.linalg.norm(X.mean(axis=0))
    assert largest - ((G @ x) ** 2).sum() < 0.5 * largest  # most was learned where contexts are


def test_a_matrix_that_is_not_positive_has_no_bound():
    assert certified(np.diag([1.0, -0.1])) is None
    assert certified(np.diag([1.5, 0.1])) is None  # nothing learned has that


def uncovered(state, random):
    """By how much the norms exceed their bounds at random contexts, at most."""
    worst = -np.inf
    for _ in range(5):
        x = random.standard_normal(state.d)
        x[-1] += random.integers(3)
        x = (x / np.linalg.norm(x)).astype(state.w.dtype)
        upper = state.search.bounds.upper(x, state.n, state.count)
        if state.fading is not None:
            upper = state.fading.capped(upper, float(x @ x))
        norm2 = state.look(x).norm2[state.label_of[: state.n]]
        worst = max(worst, float((norm2 - upper).max()))
    return worst


def improve(state):
    """New bounds for every second row."""
    for row in range(0, state.n, 2):
        A_inv = state.inverse(int(state.label_of[row]))
        state.search.bounds.improve(row, A_inv, int(state.count[row]))


@pytest.mark.parametrize("options", [{}, {"forget": 20.0}, {"model": sb.Full(dtype="float32")}])
def test_bounds_stay_valid_in_every_way_of_learning(options, tmp_path):
    random = np.random.default_rng(5)
    d, K = 9, 40
    X = random.standard_normal((1200, d)) * np.linspace(1.5, 0.1, d)
    Y = (random.random((1200, K)) < 0.2).astype(np.uint8)
    learner = sb.SlateUCB(d, K, a=1.0, **options)

    def check():
        assert uncovered(learner._state, random) <= 0.0
        improve(learner._state)
        assert uncovered(learner._state, random) <= 0.0

    for part in range(4):
        rows = slice(300 * part, 300 * part + 200)
        if learner._state.w.dtype == np.float64:  # else it would be compiled for this test alone
            sb.replay(learner, X[rows], Y[rows, : learner.n_labels], 8)  # windows
            check()
            batch = [
                ShownFeedback(slate.given, slate.x, slate.labels, 8, slate.labels[:2], None)
                for slate in learner.rank_many(X[300 * part + 200 : 300 * part + 240], 8)
            ]
            assert not can_compile(learner) or learn_batch(learner, batch) > 0
            check()
        for x in X[300 * part + 240 : 300 * part + 300]:
            slate = learner.rank(x, 8)
            learner.learn(slate, slate.labels[:3])
        check()
        learner.retire_labels(learner.labels[1:8:2])
        learner.add_labels(3)
        check()
        if part == 1:
            learner.save(tmp_path / "learner.npz")
            learner = sb.load(tmp_path / "learner.npz")
            check()
        if part == 2:
            learner = copy.deepcopy(learner)
            check()
    table = learner._state.search.bounds.table
    assert np.unique(table.bound_of[: learner._state.n]).size > 10  # they are not all λ = 1


def test_a_bound_that_is_not_dropped_by_a_fold_would_be_wrong():
    """The law above can fail: folds do make matrices larger."""
    learner = sb.SlateUCB(4, 6, a=1.0, forget=3.0)
    random = np.random.default_rng(0)
    state = learner._state
    for x in random.standard_normal((40, 4)):
        learner.learn(learner.rank(x, 6), [])
        improve(state)
    kept = state.search.bounds.table.bound_of.copy()
    state.advance(200)
    assert uncovered(state, random) <= 0.0
    state.search.bounds.table.bound_of[:] = kept
    assert uncovered(state, random) > 0.0
