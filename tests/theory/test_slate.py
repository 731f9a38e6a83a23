"""Lemma 1 and Lemma 2 against brute force over all ordered subsets."""

import itertools

import numpy as np
import pytest
from brute_force import LEVELS, ordered_subsets, tables, value
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import semibandit as sb
from semibandit.errors import InputError
from semibandit.theory.slate import order

probs = st.lists(LEVELS, min_size=1, max_size=6)


def expected_ac(p, shown, a, c):
    """By the definition: sum over all 2^K answers."""
    total = 0.0
    for answer in itertools.product([0, 1], repeat=len(p)):
        weight = np.prod([q if y else 1 - q for q, y in zip(p, answer, strict=True)])
        missed = sum(answer) - sum(answer[i] for i in shown)
        wrong = sum(c(j, len(shown)) for j, i in enumerate(shown, 1) if not answer[i])
        total += weight * (a * missed + (1 - a) * wrong)
    return total


def expected_p_rank(p, shown, S):
    total = 0.0
    for answer in itertools.product([0, 1], repeat=len(p)):
        weight = np.prod([q if y else 1 - q for q, y in zip(p, answer, strict=True)])
        swaps = sum(answer[j] > answer[i] for i, j in itertools.combinations(shown, 2))
        total += weight * (swaps + S * (sum(answer) - sum(answer[i] for i in shown)))
    return total


@given(probs, st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 7), tables())
def test_lemma_1_is_the_best_of_all_ordered_subsets(p, a, slots, table):
    costs = [
        (sb.decreasing, lambda i, s: (s - i + 1) / s),
        (sb.constant, lambda i, s: 1.0),
        (table, lambda i, s: table[s - 1][i - 1]),
    ]
    for cost, c in costs:
        shown = sb.best_slate(p, slots, a, cost)
        best = min(value(p, other, a, c) for other in ordered_subsets(len(p), slots))
        assert value(p, shown, a, c) <= best + 1e-9
        assert len(shown) <= slots
        assert np.all(np.diff(np.array(p)[shown]) <= 0)
        if a == 1.0:
            assert len(shown) == min(slots, len(p))


few = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@given(st.lists(few, min_size=1, max_size=6), st.integers(0, 7), tables())
def test_a_is_0_shows_what_a_small_a_shows(p, slots, table):
    table = [np.round(np.multiply(row, 4)) / 4 for row in table]
    for cost in (sb.decreasing, sb.constant, table):
        limit = sb.best_slate(p, slots, 1e-9, cost)
        assert sb.best_slate(p, slots, 0.0, cost).tolist() == limit.tolist()


@given(probs, st.integers(0, 6))
def test_lemma_2_is_the_best_ranking_of_independent_labels(p, slots):
    K, P = len(p), np.array(p)

    def risk(shown):
        return sb.expected_loss("p_rank", P, np.array(shown, dtype=np.intp), slots=slots)

    best = min(risk(other) for other in ordered_subsets(K, slots))
    assert risk(sb.best_ranking(p, slots)) <= best + 1e-9
    assert len(sb.best_ranking(p, slots)) == min(slots, K)


@st.composite
def joint_laws(draw):
    """Up to 4 labels that depend on each other: all answers, and how likely each one is."""
    K = draw(st.integers(1, 4))
    answers = np.array([*itertools.product([0, 1], repeat=K)])
    weight = np.array(draw(st.lists(LEVELS, min_size=2**K, max_size=2**K)))
    return answers, weight / weight.sum() if weight.sum() > 0 else np.full(2**K, 0.5**K)


@given(joint_laws(), st.integers(1, 5))
def test_lemma_2_without_independence_has_the_best_of_all_rankings(law, slots):
    answers, weight = law
    p, pairs = np.minimum(weight @ answers, 1.0), (answers * weight[:, None]).T @ answers

    def risk(shown):  # by the definition, over all answers
        losses = [sb.loss_p_rank(set(np.flatnonzero(y).tolist()), shown, slots) for y in answers]
        return float(weight @ losses)

    best = min(risk(other) for other in ordered_subsets(len(p), slots))
    shown = sb.best_ranking(p, slots, both=lambda i, j: pairs[i, j])
    assert risk(shown.tolist()) <= best + 1e-9
    independent = sb.best_ranking(p, slots, both=lambda i, j: p[i] * p[j])
    assert independent.tolist() == sb.best_ranking(p, slots).tolist()


@given(joint_laws(), st.data())
def test_the_probabilities_are_the_best_scores_for_the_ranking_loss_under_any_joint_law(law, data):
    answers, weight = law
    p = np.round(weight @ answers, 12)

    def risk(f):
        losses = [sb.loss_rank_scores(np.flatnonzero(y).tolist(), f) for y in answers]
        return float(weight @ losses)

    other = data.draw(st.lists(LEVELS, min_size=len(p), max_size=len(p)))
    assert risk(p) <= risk(other) + 1e-9
    slots = data.draw(st.integers(0, len(p)))  # and of slates, the most probable labels are best
    shown = sb.best_ranking(p, slots)
    slate = data.draw(st.permutations(range(len(p))))[:slots]
    first, second = np.zeros((2, len(p)))
    first[shown], second[slate] = np.arange(slots, 0, -1), np.arange(slots, 0, -1)
    assert risk(first) <= risk(second) + 1e-9


def test_without_independence_the_ranking_of_lemma_2_can_lose_a_half_more():
    """Of 3 labels and 2 slots, over all joint laws with p_1 >= p_2 >= p_3: a linear program."""
    answers = np.array([*itertools.product([0, 1], repeat=3)])
    order_of_p = np.array([[y[1] - y[0], y[2] - y[1]] for y in answers]).T  # p_j - p_i <= 0

    def losses(shown):
        return np.array([sb.loss_p_rank(set(np.flatnonzero(y)), shown, 2) for y in answers])

    worst = [
        -linprog(losses(other) - losses((0, 1)), order_of_p, [0, 0], np.ones((1, 8)), [1.0]).fun
        for other in ordered_subsets(3, 2)
    ]
    assert max(worst) == pytest.approx(0.5)


def test_too_many_sets_to_try_are_refused():
    with pytest.raises(InputError, match="there are 75394027566 sets to try, more than 100000"):
        sb.best_ranking(np.full(60, 0.5), 10, both=lambda i, j: np.full(len(i), 0.25))


@given(st.lists(LEVELS, min_size=1, max_size=4), st.integers(0, 4), st.floats(0, 1), st.data())
def test_expected_losses_are_sums_over_all_answers(p, slots, a, data):
    shown = data.draw(st.permutations(range(len(p))))[: min(slots, len(p))]
    P, index = np.array(p), np.array(shown, dtype=np.intp)
    c = lambda i, s: (s - i + 1) / s  # noqa: E731
    assert sb.expected_loss("ac", P, index, a=a) == pytest.approx(expected_ac(p, shown, a, c))
    assert sb.expected_loss("p_rank", P, index, slots=slots) == pytest.approx(
        expected_p_rank(p, shown, slots)
    )
    answers = list(itertools.product([0, 1], repeat=len(p)))
    weights = [np.prod([q if y else 1 - q for q, y in zip(p, z, strict=True)]) for z in answers]
    for kind, loss in (
        ("hamming", lambda Y: sb.hamming(Y, shown)),
        ("rank", lambda Y: sb.loss_rank(Y, shown, len(p))),
    ):
        mean = sum(
            w * loss({i for i, y in enumerate(z) if y})
            for w, z in zip(weights, answers, strict=True)
        )
        assert sb.expected_loss(kind, P, index) == pytest.approx(mean, abs=1e-12)


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.0]) | st.floats(-5, 5), min_size=1, max_size=40),
    st.integers(0, 45),
    st.randoms(use_true_random=False),
)
def test_order_is_a_plain_sort(scores, slots, random):
    tie = np.array(random.sample(range(100), len(scores)))
    slow = sorted(range(len(scores)), key=lambda i: (-scores[i], tie[i]))[:slots]
    assert order(np.array(scores), tie, slots).tolist() == slow


@pytest.mark.parametrize("slots", [-1, 1.5, "3", True, np.True_])
def test_slots_that_make_no_sense_are_refused(slots):
    with pytest.raises(
        InputError, match=r"slots = .*, but it must be a whole number of at least 0"
    ):
        sb.best_slate([0.5], slots)


@pytest.mark.parametrize("prob", [[0.5, 1.2], [float("nan")], [[0.5]], None, ["half"], [[0.5], []]])
def test_probabilities_that_are_none_are_refused(prob):
    with pytest.raises(InputError, match="prob"):
        sb.best_slate(prob)
