"""Many contexts at once are decided as each by itself."""

from dataclasses import replace

import numpy as np
import pytest
from learners import D

import semibandit as sb
from semibandit.policies.batch import rank_requests
from semibandit.policies.batch_compiled import choose_slates, judge_labels, scale_contexts
from semibandit.policies.request import Request
from semibandit.policies.scaling import Scaling
from semibandit.policies.view import View, Views
from semibandit.theory.cost import Costs
from semibandit.theory.slate import SCORE_GRID, cut, order


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Ask numba for groups of any size."""
    monkeypatch.setattr("semibandit.policies.batch.LEAST", 0)


def views_of(score, prob):
    """Views of all rows with these scores and probabilities, a line per context."""
    lines = zip(score, prob, strict=True)
    return Views.joined([View(one, one, two, one, two) for one, two in lines])


@pytest.mark.parametrize("bias", [False, True])
def test_contexts_are_read_as_one_by_one(bias):
    random = np.random.default_rng(3)
    X = random.standard_normal((40, D)) * 10.0 ** random.integers(-300, 300, (40, 1))
    X[:4] = [[1e308] * D, [5e-324] * D, [-0.0] * (D - 1) + [-1e-310], [0.0] * (D - 1) + [3.0]]
    scaling = Scaling("unit", D, bias)
    found, plain = scale_contexts(X, scaling), [scaling.scaled(x) for x in X]
    assert np.allclose(found, plain, rtol=1e-14, atol=0.0)


@pytest.mark.parametrize("bias", [False, True])
def test_contexts_are_standardised_as_one_by_one(bias):
    X = np.random.default_rng(3).standard_normal((60, D)) * [1.0, 1e-9, 1e6, 3.0] + [2000, 0, 5, 0]
    X[40:, 3] = 7.0
    scaling = Scaling("standard", D, bias)
    assert scale_contexts(X, scaling) is None  # nothing was seen: the first one is the origin
    scaling.add_rows(X[:20])
    found, plain = scale_contexts(X[20:], scaling), [scaling.scaled(x) for x in X[20:]]
    np.testing.assert_allclose(found, plain, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 0.0])
def test_contexts_are_not_read_where_one_is_wrong(wrong):
    X = np.ones((5, D))
    X[3] = wrong if wrong == 0.0 else [1.0] * (D - 1) + [wrong]
    assert scale_contexts(X, Scaling("unit", D, bias=False)) is None
    assert (scale_contexts(X, Scaling("unit", D, bias=True)) is None) == (wrong != 0.0)
    scaling = Scaling("standard", D, bias=True)
    scaling.add_rows(np.eye(D))
    assert (scale_contexts(X, scaling) is None) == (wrong != 0.0)


@pytest.mark.parametrize("cost", [sb.decreasing, sb.constant])
@pytest.mark.parametrize("a", [0.0, 0.3, 0.5, 1.0])
def test_it_is_order_and_cut_row_by_row(cost, a):
    random, costs = np.random.default_rng(3), Costs(cost)
    prob = random.choice([0.0, 0.2, 0.5, 0.500000000001, 0.9, 1.0], (40, 9))  # many ties
    tie = random.permutation(9) / 9
    slots = [*([None, 0, 1, 2, 3, 4, 9, 20] * 5)]
    rule = replace(sb.SlateUCB(D, 9, a=a, cost=cost).fast_rule(), tie=tie)
    found, sizes = choose_slates(views_of(prob, prob), slots, rule)
    for row, s, best, size in zip(prob, slots, found, sizes, strict=True):
        one = order(np.rint(row * SCORE_GRID), tie, s)
        assert best[:size].tolist() == one[: cut(row[one], a, costs)].tolist()


@pytest.mark.parametrize("width", [sb.Scaled(0.7), sb.KnownNorm(1.0), sb.UnknownNorm()])
@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(2.0)])
@pytest.mark.parametrize("retired", [False, True])
def test_a_group_is_decided_as_its_members(width, loss, retired):
    learner = sb.SlateUCB(D, 12, width=width, loss=loss)
    random = np.random.default_rng(1)
    for _ in range(60):
        slate = learner.rank(random.standard_normal(D), 3)
        learner.learn(slate, [label for label in slate.labels if random.random() < 0.3])
    if retired:
        learner.retire_labels([3, 7])
    X = random.standard_normal((20, D))
    asked = [
        Request(learner.read_context(x), i % 5 or None, None, [2] if i % 7 == 0 else None, 0)
        for i, x in enumerate(X)
    ]
    for one, slate in zip(asked, rank_requests(learner, asked), strict=True):
        alone = learner.rank(X[asked.index(one)], one.slots, exclude=one.exclude)
        assert slate.labels == alone.labels
        for key in ("margin", "width", "estimate", "prob"):
            np.testing.assert_allclose(getattr(slate, key), getattr(alone, key), atol=1e-12)


def test_where_every_label_is_retired_slates_are_empty():
    learner = sb.SlateUCB(D, 3)
    learner.retire_labels([0, 1, 2])
    assert [slate.labels for slate in learner.rank_many(np.eye(D))] == [[]] * D
    assert [slate.labels for slate in sb.SlateUCB(D, 0).rank_many(np.eye(D))] == [[]] * D


def test_numbers_that_are_not_finite_are_refused_as_by_rank():
    learner = sb.SlateUCB(D, 3, model=sb.Full("float32"), scale="none", bias=False)
    for x in np.eye(D):
        learner.learn(learner.rank(x, 2), [])
    huge = np.full((2, D), 1e50)
    with np.errstate(over="ignore", invalid="ignore"):
        with pytest.raises(ValueError, match="finite"):
            learner.rank(huge[0])
        with pytest.raises(ValueError, match="finite"):
            learner.rank_many(huge)


def test_large_groups_are_decided_in_parts(monkeypatch):
    random = np.random.default_rng(4)
    score, prob = random.random((30, 9)), random.random((30, 9))
    tie, slots = random.random(9), [*range(10)] * 3
    rule = replace(sb.SlateUCB(D, 9, a=0.3, cost=sb.constant).fast_rule(), tie=tie)
    views = views_of(score, prob)
    best, sizes = choose_slates(views, slots, rule)
    view = judge_labels(0.4, sb.Square(), score.ravel(), prob.ravel())
    monkeypatch.setattr("semibandit.policies.batch_compiled.PART", 20)
    for whole, some in zip((best, sizes), choose_slates(views, slots, rule), strict=True):
        np.testing.assert_array_equal(whole, some)
    in_parts = judge_labels(0.4, sb.Square(), score.ravel(), prob.ravel())
    for whole, some in zip(view.arrays, in_parts.arrays, strict=True):
        np.testing.assert_array_equal(whole, some)
