import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semibandit as sb
from semibandit.errors import InputError

K = 6


def as_ranking(shown):
    """f: decreasing positive values for what is shown, 0 for the rest."""
    return [len(shown) - shown.index(i) if i in shown else 0 for i in range(K)]


def pairs_wrong(Y, f, labels):
    """ℓ_rank as the paper writes it."""
    total = 0.0
    for i, j in itertools.permutations(labels, 2):
        if i in Y and j not in Y:
            total += (f[i] < f[j]) + 0.5 * (f[i] == f[j])
    return total


answers = st.sets(st.integers(0, K - 1))
slates = st.permutations(range(K)).flatmap(lambda p: st.integers(0, K).map(lambda s: p[:s]))


@given(answers, slates, st.integers(0, 3), st.floats(0, 1))
def test_losses_are_their_definitions(Y, shown, spare, a):
    s, f = len(shown), as_ranking(shown)
    wrong = sum((s - j + 1) / s for j, i in enumerate(shown, 1) if i not in Y)
    missed = len(Y - set(shown))
    assert sb.loss_ac(Y, shown, a) == pytest.approx(a * missed + (1 - a) * wrong)
    assert sb.hamming(Y, shown) == len(Y ^ set(shown))
    assert 2 * sb.loss_ac(Y, shown, 0.5, sb.constant) == sb.hamming(Y, shown)
    assert sb.loss_rank(Y, shown, K) == pairs_wrong(Y, f, range(K))
    S = s + spare
    assert sb.loss_p_rank(Y, shown, S) == pairs_wrong(Y, f, shown) + S * missed


levels = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(-2, 2)


@given(answers, st.lists(levels, min_size=K, max_size=K), slates)
def test_the_ranking_loss_of_scores_counts_ties_by_half(Y, f, shown):
    assert sb.loss_rank_scores(Y, f) == pairs_wrong(Y, f, range(K))
    assert sb.loss_rank_scores(Y, as_ranking(shown)) == sb.loss_rank(Y, shown, K)


@pytest.mark.parametrize("scores", [[0.1, float("nan")], [[0.1, 0.2]], 3, ["a", "b"], None])
def test_scores_that_are_none_are_refused(scores):
    with pytest.raises(InputError, match=r"scores = .*one number per label"):
        sb.loss_rank_scores({0}, scores)


def test_scores_must_have_the_relevant_labels():
    with pytest.raises(InputError, match=r"relevant = \[2\], but scores has labels 0 to 1"):
        sb.loss_rank_scores({2}, [0.1, 0.2])


def test_pairs_that_no_joint_law_has_are_refused():
    prob, shown = np.array([0.5, 0.6, 0.1]), np.array([0, 1])
    for joint, said in (
        (0.7, "0.7, but .* with 0.1 to 0.5"),
        (0.05, "0.05, but .* with 0.1 to 0.5"),
        (np.nan, "nan"),
    ):
        for kind in ("p_rank", "rank"):
            with pytest.raises(InputError, match=rf"both\(0, 1\) = {said}"):
                sb.expected_loss(kind, prob, shown, both=lambda i, j, q=joint: np.full(len(i), q))
        with pytest.raises(InputError, match=r"both\(1, 0\)"):
            sb.best_ranking(prob, 2, both=lambda i, j, q=joint: np.full(len(i), q))


@pytest.mark.parametrize(
    "table",
    [
        [[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]],  # each two exclude each other, at ½ each
        [[0.5, 0.5, 0.5], [0.5, 0.5, 0], [0.5, 0, 0.5]],  # 0 = 1 and 0 = 2, but never 1 and 2
    ],
)
def test_pairs_that_no_three_labels_have_are_refused(table):
    together = np.array(table)
    with pytest.raises(InputError, match=r"no joint law of the labels \[.*\] has these pairs"):
        sb.best_ranking([0.5, 0.5, 0.5], 2, both=lambda i, j: together[i, j])


def test_wrong_arguments_are_refused():
    with pytest.raises(InputError, match="names a label twice"):
        sb.hamming({1}, (2, 2))
    with pytest.raises(InputError, match="fewer than the labels"):
        sb.loss_rank({1, 2}, (3,), 2)
    with pytest.raises(InputError, match="2 labels were shown, more than slots = 1"):
        sb.loss_p_rank({1}, (1, 2), 1)
    with pytest.raises(InputError, match="one of ac, hamming, rank, p_rank"):
        sb.expected_loss("zero-one", None, [])


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        ([0, 3], r"shown = \[0, 3\], but prob has labels 0 to 2"),
        ([-1], r"shown = \[-1\], but prob has labels 0 to 2"),
        ([1, 1], r"shown = \[1, 1\] names a label twice"),
        (["first"], "shown = .*, but it must hold labels' indices"),
    ],
)
@pytest.mark.parametrize("kind", ["ac", "hamming", "rank", "p_rank"])
def test_expected_losses_refuse_labels_that_do_not_exist(kind, shown, message):
    with pytest.raises(InputError, match=message):
        sb.expected_loss(kind, [0.1, 0.5, 0.9], shown)


@pytest.mark.parametrize("slots", [-1, 2.5, "2", True])
def test_slots_that_make_no_sense_are_refused(slots):
    with pytest.raises(InputError, match=r"slots = .*, but it must be a whole number"):
        sb.loss_p_rank({1}, (1,), slots)
    with pytest.raises(InputError, match=r"slots = .*, but it must be a whole number"):
        sb.expected_loss("p_rank", [0.1, 0.5], [1], slots=slots)
