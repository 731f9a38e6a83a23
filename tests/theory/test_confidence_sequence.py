import math

import numpy as np
import pytest

from semibandit.errors import InputError
from semibandit.theory.confidence_sequence import (
    BETS,
    PSI,
    WEIGHTS,
    ConfidenceSequence,
    boundary,
    difference,
    ratio,
    variance_terms,
)

RUNS, ROUNDS, FIRST_LOOK = 400, 5000, 100
TIMES = np.arange(1, ROUNDS + 1)


def reach(values, error):
    """The boundary at every time of every run, from a table: linear between its points.

    The boundary is concave in the variance term, so the table is never above it.
    """
    V = np.cumsum(variance_terms(values), axis=-1)
    table = np.concatenate([[0.0], np.geomspace(1e-3, V.max() + 1.0, 4000)])
    return np.interp(V, table, boundary(table, error))


def ever_outside(values, means, error, first=1):
    """Whether a run's running mean ever left the lower bound, for each run."""
    excess = np.cumsum(values - means, axis=-1) - reach(values, error)
    return (excess[:, first - 1 :] >= 0).any(axis=-1)


def normal_ever_outside(values, means):
    """Whether the two-sided normal 95% interval, watched from the 100th value on, ever failed."""
    mean = np.cumsum(values, axis=-1) / TIMES
    deviation = np.sqrt(np.cumsum(values**2, axis=-1) / TIMES - mean**2)
    error = np.abs(np.cumsum(values - means, axis=-1)) / TIMES
    return (error > 1.96 * deviation / np.sqrt(TIMES))[:, FIRST_LOOK - 1 :].any(axis=-1)


@pytest.mark.parametrize(("first", "last"), [(0.2, 0.2), (0.05, 0.3), (0.6, 0.02)])
def test_a_mean_that_drifts_is_covered_at_all_times_where_the_normal_interval_fails(first, last):
    means = np.broadcast_to(np.linspace(first, last, ROUNDS), (RUNS, ROUNDS))
    clicks = (np.random.default_rng(1).random(means.shape) < means).astype(float)
    wrong = ever_outside(clicks, means, 0.025) | ever_outside(1 - clicks, 1 - means, 0.025)
    assert wrong.mean() <= 0.05
    assert normal_ever_outside(clicks, means).mean() > 0.35


def test_weighted_values_without_a_bound_are_covered_at_all_times():
    """Importance weights 1/b with b as small as 1e-4, mean 1, and a mean of clicks that drifts."""
    rng = np.random.default_rng(2)
    b = 10.0 ** -rng.choice(5, p=[0.9, 0.05, 0.03, 0.015, 0.005], size=(RUNS, ROUNDS))
    weight = np.where(rng.random(b.shape) < b, 1 / b, 0.0)
    p = np.linspace(0.1, 0.4, ROUNDS)
    clicked = rng.random(b.shape) < p
    assert weight.max() > 1000
    below = ever_outside(weight * clicked, np.broadcast_to(p, b.shape), 0.025)
    above = ever_outside(weight * ~clicked, np.broadcast_to(1 - p, b.shape), 0.025)
    assert (below | above).mean() <= 0.05
    assert normal_ever_outside(weight * clicked, np.broadcast_to(p, b.shape)).mean() > 0.35


def test_a_mean_that_depends_on_what_came_before_is_covered():
    """As with a learner: every click raises the rate of the visits after it."""
    rng = np.random.default_rng(3)
    u, total = rng.random((RUNS, 2000)), np.zeros(RUNS)
    clicks, means = np.empty(u.shape), np.empty(u.shape)
    for i in range(u.shape[1]):
        means[:, i] = (1.0 + total) / (10.0 + i)  # a Pólya urn: the limits differ between runs
        clicks[:, i] = u[:, i] < means[:, i]
        total += clicks[:, i]
    wrong = ever_outside(clicks, means, 0.025) | ever_outside(1 - clicks, 1 - means, 0.025)
    assert wrong.mean() <= 0.05


def test_the_bounds_are_the_mean_and_the_boundary():
    values = (np.random.default_rng(4).random(3000) < 0.2).astype(float)
    sequence = ConfidenceSequence()
    sequence.add(values)
    apart = float(reach(values[None], 0.025)[0, -1]) / len(values)
    assert sequence.interval(0.05) == pytest.approx(
        (values.mean() - apart, values.mean() + apart), rel=1e-4
    )
    exact = boundary(sequence.state()[2], 0.025)
    assert sequence.lower(0.025) == pytest.approx(values.mean() - exact / 3000, rel=1e-12)


@pytest.mark.parametrize("variance", [0.0, 0.3, 7.0, 1e3, 1e7])
@pytest.mark.parametrize("error", [0.2, 0.025, 1e-6])
def test_the_mixture_is_one_over_the_error_at_the_boundary(variance, error):
    s = float(boundary(variance, error))
    assert np.log(WEIGHTS @ np.exp(BETS * s - PSI * variance)) == pytest.approx(-np.log(error))


def test_the_width_is_about_twice_that_of_the_normal_interval():
    """Weights up to 10, a mean of 0.227, 5000 visits: normal 0.035 to 0.04, anytime about 0.08."""
    rng = np.random.default_rng(5)
    weight = np.where(rng.random(5000) < 0.1, 10.0, 0.0)
    clicked = rng.random(5000) < 0.227
    below, above = ConfidenceSequence(), ConfidenceSequence()
    below.add(weight * clicked)
    above.add(weight * ~clicked)
    half = (1 - above.lower(0.025) - below.lower(0.025)) / 2
    normal = 1.96 * (weight * clicked).std() / math.sqrt(5000)
    assert 1.5 * normal < half < 2.2 * normal


def test_grouping_changes_nothing():
    rng = np.random.default_rng(6)
    values = rng.exponential(2.0, 5000)
    whole, groups = ConfidenceSequence(3.0), ConfidenceSequence(3.0)
    whole.add(values)
    for group in np.split(values, np.sort(rng.integers(0, 5000, 700))):
        groups.add(group)
        groups = ConfidenceSequence.from_state(groups.state())
    assert groups.state() == pytest.approx(whole.state(), rel=1e-12)
    assert groups.n == 5000


def test_the_scale_is_a_unit():
    values = np.random.default_rng(7).random(400)
    one, scaled = ConfidenceSequence(), ConfidenceSequence(5.0)
    one.add(values)
    scaled.add(5 * values)
    assert scaled.mean == pytest.approx(5 * one.mean)
    assert scaled.interval(0.05) == pytest.approx(tuple(5 * v for v in one.interval(0.05)))


def test_difference_and_ratio_cover_at_all_times_and_find_what_is_there():
    rng = np.random.default_rng(8)
    wrong, told = 0, 0
    for _ in range(100):
        one, other = ConfidenceSequence(), ConfidenceSequence()
        for _ in range(10):
            one.add((rng.random(2000) < 0.3).astype(float))
            other.add((rng.random(200) < 0.15).astype(float))
            low, high = difference(one, other, 0.05)
            least, most = ratio(one, other, 0.05)
            wrong += not (low < 0.15 < high and least < 1.0 < most)
        told += low > 0 and least > 0
    assert wrong <= 5
    assert told >= 95


def test_without_values_nothing_is_known():
    sequence = ConfidenceSequence(4.0)
    sequence.add([])
    assert (sequence.n, sequence.mean, sequence.interval(0.05)) == (0, 0.0, (0.0, 4.0))
    assert difference(sequence, sequence, 0.05) == (-4.0, 4.0)
    assert ratio(sequence, sequence, 0.05) == (-1.0, math.inf)


def test_as_many_values_again_narrow_the_interval():
    sequence = ConfidenceSequence()
    sequence.add(np.tile([0.0, 0.0, 1.0], 300))
    later = sequence.at(4.0)
    assert later.n == 3600
    assert later.mean == pytest.approx(sequence.mean)
    assert later.lower(0.05) > sequence.lower(0.05)
    more = ConfidenceSequence()
    more.add(np.tile([0.0, 0.0, 1.0], 1200))
    assert later.lower(0.05) == pytest.approx(more.lower(0.05), rel=1e-3)


def test_bad_input_is_refused():
    for scale in (0.0, -1.0, math.nan, "x"):
        with pytest.raises(InputError, match="scale"):
            ConfidenceSequence(scale)
    sequence = ConfidenceSequence()
    for values in ([-0.1], [math.nan], [math.inf], [[1.0]]):
        with pytest.raises(InputError, match="values"):
            sequence.add(values)
    for error in (0.0, 1.0, -1, math.nan):
        with pytest.raises(InputError, match="error"):
            sequence.lower(error)
    for state in ([1.0], [1.0, 1.0, 1.0, 1.0, math.nan], [1.0, 1.0, -1.0, 1.0, 1.0]):
        with pytest.raises(InputError, match="state"):
            ConfidenceSequence.from_state(state)
    sequence.add([1.5])
    assert sequence.lower(0.05) == 0.0
    with pytest.raises(InputError, match=r"largest value is 1\.5"):
        sequence.upper(0.05)
