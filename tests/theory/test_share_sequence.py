"""Bounds for a share that hold at all times at once, by two totals."""

import math

import numpy as np
import pytest

from semibandit.errors import InputError
from semibandit.theory.bounded_sequence import BoundedSequence
from semibandit.theory.confidence_sequence import difference
from semibandit.theory.share_sequence import BETS, WEIGHTS, ShareSequence

RUNS, ROUNDS, ERROR = 2000, 3000, 0.05
LOOKS = np.unique(np.geomspace(1, ROUNDS, 150).astype(int)) - 1


def never_wrong(values, means, error):
    """Whether both bounds held at every look, for each run; no bound is solved for.

    The mean is inside exactly if the mixtures of both signs are below 2/error there.
    """
    n = LOOKS + 1.0
    total, m = np.cumsum(values, axis=-1)[:, LOOKS], np.cumsum(means, axis=-1)[:, LOOKS] / n
    held = np.ones(len(values), dtype=bool)
    for sign in (1.0, -1.0):
        capital = np.zeros_like(m)
        for bet, weight in zip(sign * BETS, WEIGHTS, strict=True):
            capital += weight * np.exp(bet * total - n * np.log1p(m * math.expm1(bet)))
        held &= (capital < 2 / error).all(axis=-1)
    return held


@pytest.mark.parametrize(("first", "last"), [(0.03, 0.03), (0.5, 0.5), (0.01, 0.3), (0.6, 0.02)])
def test_a_share_that_drifts_is_covered_at_all_times(first, last):
    means = np.broadcast_to(np.linspace(first, last, ROUNDS), (RUNS, ROUNDS))
    clicks = np.random.default_rng(1).random(means.shape) < means
    assert never_wrong(clicks, means, ERROR).mean() >= 1 - ERROR


def test_a_share_that_depends_on_what_came_before_is_covered():
    """As with a learner: every click raises the rate of the visits after it."""
    u, total = np.random.default_rng(3).random((RUNS, ROUNDS)), np.zeros(RUNS)
    clicks, means = np.empty(u.shape), np.empty(u.shape)
    for i in range(ROUNDS):
        means[:, i] = (1.0 + total) / (10.0 + i)
        clicks[:, i] = u[:, i] < means[:, i]
        total += clicks[:, i]
    assert never_wrong(clicks, means, ERROR).mean() >= 1 - ERROR


@pytest.mark.parametrize("n", [1, 7, 300, 10**7])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("error", [0.2, 0.01])
def test_the_mixture_is_two_over_the_error_at_the_bounds(n, share, error):
    low, high = ShareSequence(n, n * share).interval(error)
    assert 0 <= low <= share <= high <= 1
    for m, bets in ((low, BETS), (high, -BETS)):
        exponents = np.log(WEIGHTS) + bets * n * share - n * np.log1p(m * np.expm1(bets))
        capital = np.logaddexp.reduce(exponents)
        if 0 < m < 1:
            assert capital == pytest.approx(math.log(2 / error), rel=1e-6)
        else:
            assert capital < math.log(2 / error)


def test_it_is_narrower_than_bounds_that_use_the_variance_alone():
    for n, share, most in ((150, 0.1, 0.93), (1000, 0.03, 0.97), (100, 0.5, 0.85)):
        values = np.zeros(n)
        values[:: int(1 / share)] = 1.0
        other = BoundedSequence()
        other.add(values, np.ones(n))
        _, high = ShareSequence(n, values.sum()).interval(ERROR)
        assert high - values.mean() < most * (other.interval(ERROR)[1] - values.mean())


def test_a_difference_that_gives_the_smaller_arm_more_of_the_error_is_narrower():
    learner, holdout = ShareSequence(49_000, 6125), ShareSequence(1000, 100)
    low, high = difference(learner, holdout, ERROR, others=0.8)
    even_low, even_high = difference(learner, holdout, ERROR)
    assert even_low < low < 0.025 < high < even_high
    assert learner.interval(0.01)[0] - holdout.interval(0.04)[1] == pytest.approx(low)


def test_without_values_and_bad_input():
    empty = ShareSequence(0, 0)
    assert (empty.n, empty.mean, empty.interval(ERROR)) == (0, 0.0, (0.0, 1.0))
    assert ShareSequence(30, 3).at(2.0).n == 60
    for n, total in ((1, 2), (1, -1), (math.nan, 0), (-1, -2)):
        with pytest.raises(InputError, match=r"n|total"):
            ShareSequence(n, total)
    with pytest.raises(InputError, match="error"):
        ShareSequence(3, 1).interval(1.0)
