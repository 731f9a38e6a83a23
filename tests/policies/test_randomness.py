"""Draws that follow from a coin: even, and the same however they are computed."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.sparse import csr_array

import semibandit as sb
from semibandit.models.model import Sparse
from semibandit.policies import randomness
from semibandit.policies.randomness import even_draw, generator_for, uniforms

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


def test_a_generator_follows_from_the_numbers_that_were_given():
    dense = np.array([0.0, 2.5, -0.0, -1.0])
    sparse = Sparse(np.array([1, 2, 3]), np.array([2.5, 0.0, -1.0]), 4)
    numbers = [generator_for(3, 7, 2, given).random() for given in (dense, sparse)]
    assert numbers[0] == numbers[1]
    others = [(4, 7, 2, dense), (3, 8, 2, dense), (3, 7, 1, dense), (3, 7, 2, dense + 1e-12)]
    assert len({numbers[0], *(generator_for(*given).random() for given in others)}) == 5


@pytest.mark.parametrize("scale", ["standard", "unit", "none"])
@pytest.mark.parametrize("cls", [sb.Random, sb.EpsilonGreedy, sb.Banditron, sb.Thompson])
def test_a_context_gives_the_same_draws_dense_sparse_or_by_names(cls, scale):
    more = {sb.EpsilonGreedy: {"epsilon": 0.8}, sb.Banditron: {"gamma": 0.8}}.get(cls, {})
    names = sb.Features(**dict.fromkeys("abcd", "number"))
    plain, named = (cls(n, 20, scale=scale, seed=6, **more) for n in (4, names))
    drawn = set()
    for x in np.random.default_rng(2).standard_normal((30, 4)).round(1) * [1, 0, 1, 1]:
        by_name, slots = dict(zip("abcd", x.tolist(), strict=True)), 1 if plain.one_slot else 4
        labels = [
            *(plain.rank(way, slots, draw=3).labels for way in (x, csr_array(x[None]))),
            named.rank(by_name, slots, draw=3).labels,
        ]
        assert labels == [labels[0]] * 3
        drawn.add(tuple(labels[0]))
    assert len(drawn) > 8
