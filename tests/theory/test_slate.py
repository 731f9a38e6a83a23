"""Lemma 1 and Lemma 2 against brute force over all ordered subsets."""

import itertools

import numpy as np
import pytest
from brute_force import LEVELS, ordered_subsets, tables, value
from hypothesis import given
from hypothesis import strategies as st

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


@given(probs, st.integers(0, 6))
def test_lemma_2_is_the_best_ranking_of_independent_labels(p, slots):
    K, P = len(p), np.array(p)

    def risk(shown):
        return sb.expected_loss("p_rank", P, np.array(shown, dtype=np.intp), slots=slots)

    best = min(risk(other) for other in ordered_subsets(K, slots))
    assert risk(sb.best_ranking(p, slots)) <= best + 1e-9
    assert len(sb.best_ranking(p, slots)) == min(slots, K)


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
