"""Draws that follow from a coin: even, and the same however they are computed."""

from collections import Counter
from itertools import permutations

import numpy as np

from semibandit.policies import randomness
from semibandit.policies.randomness import even_draw, uniforms

COINS = np.random.default_rng(1).random(6000).tolist()


def test_even_draws_are_even():
    drawn = Counter(tuple(even_draw(coin, 5, 3)) for coin in COINS)
    assert set(drawn) == set(permutations(range(5), 3))
    expected = len(COINS) / 60
    chi2 = sum((many - expected) ** 2 / expected for many in drawn.values())
    assert 25 < chi2 < 110  # 59 degrees of freedom: 59 ± 5 · 11
    assert even_draw(0.3, 5, 5) != list(range(5))
    assert sorted(even_draw(0.3, 5, 5)) == list(range(5))
    assert even_draw(0.3, 0, 0) == even_draw(0.3, 4, 0) == []


def test_coins_below_epsilon_still_draw_evenly():
    """A policy draws by coins that are small."""
    drawn = Counter(even_draw(coin * 1e-3, 4, 1)[0] for coin in COINS)
    assert all(abs(many / len(COINS) - 0.25) < 0.03 for many in drawn.values())


def test_uniforms_are_uniform_and_independent():
    numbers = uniforms(COINS, 4)
    assert numbers.shape == (6000, 4)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert np.all(abs(numbers.mean(axis=0) - 0.5) < 5 / np.sqrt(12 * 6000))
    assert np.all(abs(np.corrcoef(np.c_[COINS, numbers].T) - np.eye(5)) < 0.07)
    assert np.array_equal(uniforms(COINS[7:8], 2), numbers[7:8, :2])


def test_one_number_is_mixed_as_many_are():
    many = [0, 1, 2**53, 2**64 - 1]
    assert [randomness._mixed_int(one) for one in many] == [
        int(one) for one in randomness._mixed(np.array(many, dtype=np.uint64))
    ]
