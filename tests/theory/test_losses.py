import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import semibandit as sb

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


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="names a label twice"):
        sb.hamming({1}, (2, 2))
    with pytest.raises(ValueError, match="fewer than the labels"):
        sb.loss_rank({1, 2}, (3,), 2)
    with pytest.raises(ValueError, match="2 labels were shown, more than slots = 1"):
        sb.loss_p_rank({1}, (1, 2), 1)
    with pytest.raises(ValueError, match="one of ac, hamming, rank, p_rank"):
        sb.expected_loss("zero-one", None, [])
