"""Random numbers that follow from what is known: there is no hidden state to save."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from semibandit._util.arrays import Array, Floats, Ints
from semibandit._util.numba import use_compiled
from semibandit.models.model import Sparse, Vector

__all__ = [
    "coin", "coins", "coins_by_seed", "coins_of", "even_draw", "generator_for", "position_coins",
    "tie_order", "turn_of", "uniforms",
]  # fmt: skip

WORD = 2**64 - 1
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio: splitmix64's step
POSITIONS = 1 << 48  # added to positions in place of draw numbers, which stay far below


def generator_for(seed: int, t: int, draw: int, given: Vector) -> np.random.Generator:
    """A generator that is a function of seed, round, draw number and context alone.

    Like a `coin` it follows from the context as it was given, dense or sparse. How a context is
    scaled differs in the last bit between CPUs, so nothing random may follow from that.
    """
    return np.random.default_rng([seed, t, draw, int(_words(given)[0])])


def coin(seed: int, t: int, draw: int, given: Vector) -> float:
    """A number in [0, 1) that is a function of seed, round, draw number and context alone.

    It follows from the context as it was given.
    """
    start = _mixed_int((seed * 1_000_003 + draw) % 2**64)
    word = _mixed_int(int(_words(given)[0]) ^ start)
    return (_mixed_int((word + t) & WORD) >> 11) * 2.0**-53


def position_coins(seed: int, t: int, X: Any, n: int) -> Floats:
    """Numbers in [0, 1), independent of each other and of all coins: (contexts, n positions).

    They are a function of seed, round, position and context alone. X has a context of each round
    from t on, or is a sparse one, that of round t.
    """
    words = _words(X) if isinstance(X, Sparse) else _hashed(X, _multipliers(X.shape[1])).sum(axis=1)
    rounds, draws = t + np.arange(len(words)), range(POSITIONS, POSITIONS + n)
    return _toss(words[:, None], seed, rounds[:, None], draws)


def coins(seed: int, t: int, draw: int, X: Any) -> Floats:
    """`coin` for every row of a matrix (dense or CSR), the rounds from t on."""
    rounds = t + np.arange(X.shape[0])
    if not hasattr(X, "tocsr"):
        words = _hashed(X, _multipliers(X.shape[1])).sum(axis=1)
        return _toss(words, seed, rounds, [draw])
    each = _hashed(X.data, _mixed(X.indices))
    total = np.concatenate([[np.uint64(0)], np.cumsum(each, dtype=np.uint64)])
    return _toss(total[X.indptr[1:]] - total[X.indptr[:-1]], seed, rounds, [draw])


def coins_of(seed: int, t: int, asked: Sequence[tuple[int, Vector]]) -> list[float]:
    """`coin` for each of these draw numbers and contexts, in round t."""
    return coins_by_seed([seed], t, asked)[0]


def coins_by_seed(
    seeds: Sequence[int], t: int, asked: Sequence[tuple[int, Vector]]
) -> list[list[float]]:
    """`coins_of` for each of these seeds: contexts are hashed once for all of them."""
    plain = all(isinstance(given, np.ndarray) for _, given in asked)
    if not asked or not plain or not use_compiled("policies", len(asked), least=2):
        return [[coin(seed, t, draw, given) for draw, given in asked] for seed in seeds]
    from semibandit.policies.compiled import toss_many

    X, draws = np.array([given for _, given in asked]), [draw for draw, _ in asked]
    start = np.array([_start(seed, draws) for seed in seeds])
    found = np.empty(start.shape)
    toss_many(X.view(np.uint64), _multipliers(X.shape[1]), start, np.uint64(t), found)
    return [line.tolist() for line in found]


def uniforms(tossed: Sequence[float], n: int) -> Floats:
    """A line of n numbers in [0, 1) for each coin: the stream of splitmix64 that starts with it.

    To start one of numpy's generators for each would take longer than to draw a slate.
    """
    start = _mixed(np.array(tossed) * 2.0**53)
    return _unit(_mixed(start[:, None] + np.arange(n, dtype=np.uint64)))


def even_draw(tossed: float, n: int, size: int) -> list[int]:
    """`size` different numbers below n, in random order, by the stream that starts with a coin.

    A shuffle of n numbers (Fisher and Yates) that ends after `size`, and keeps what it has moved.
    """
    moved: dict[int, int] = {}
    found = []
    start = _mixed_int(int(tossed * 2.0**53))
    for k in range(size):
        other = k + ((_mixed_int(start + k) >> 11) * (n - k) >> 53)
        found.append(moved.get(other, other))
        moved[other] = moved.get(k, k)
    return found


def tie_order(seed: int, first: int, n: int) -> Floats:
    """A fixed random order among equal labels, for labels number first, first + 1, ..."""
    return np.random.default_rng([seed, 1, first]).random(n)


def turn_of(draw: int) -> float:
    """Where the order among equal labels begins for a draw, in [0, 1): at 0 for number 0.

    The beginnings of draws in a row lie far apart.
    """
    return ((draw * int(GOLDEN) & WORD) >> 11) * 2.0**-53


@lru_cache(maxsize=16)
def _multipliers(n: int) -> Array:
    return _mixed(np.arange(n))


def _hashed(value: Floats, multipliers: Array) -> Array:
    """A hash of each number, to be added up; that of 0 and -0 is 0, so that zeros add nothing."""
    z = np.ascontiguousarray(value + 0.0).view(np.uint64) * multipliers
    return (z ^ (z >> np.uint64(32))) * multipliers


def _mixed(numbers: Any) -> Array:
    """A well-mixed odd number for each whole number (the finaliser of splitmix64)."""
    z = (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)


def _words(given: Vector) -> Array:
    """The hash of one context, as an array of one number."""
    if isinstance(given, Sparse):
        each = _hashed(given.value, _mixed(given.index))
    else:
        each = _hashed(given, _multipliers(len(given)))
    return np.asarray(each.sum(keepdims=True))


def _mixed_int(number: int) -> int:
    """`_mixed` of one number: for few of them, Python's own arithmetic is faster."""
    z = (number + 1) * int(GOLDEN) & WORD
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
    return (z ^ (z >> 31)) | 1


def _toss(words: Array, seed: int, rounds: Ints, draws: Sequence[int]) -> Floats:
    """A number in [0, 1) for each context's words and round, or for each draw number."""
    return _unit(_mixed(_mixed(words ^ _start(seed, draws)) + rounds.astype(np.uint64)))


def _unit(words: Array) -> Floats:
    """The first 53 bits of each word as a number in [0, 1)."""
    return np.asarray((words >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _start(seed: int, draws: Sequence[int]) -> Array:
    """What tosses with these draw numbers begin with."""
    return _mixed(np.array([(seed * 1_000_003 + draw) % 2**64 for draw in draws], dtype=np.uint64))
