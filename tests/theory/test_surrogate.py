import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semibandit as sb
from semibandit.errors import InputError

BOTH = [sb.Square(), sb.Logistic(0.5), sb.Logistic(2.0), sb.Logistic(6.0)]


@pytest.mark.parametrize("loss", BOTH, ids=repr)
def test_conditions_of_theorem_1_hold_on_a_grid(loss):
    grid = np.linspace(-loss.R, loss.R, 20001)
    dL, ddL = -loss.slope(grid), loss.curvature(grid)
    dL_, ddL_ = -loss.slope(-grid), loss.curvature(-grid)
    i = (dL * ddL_ + ddL * dL_) / (dL + dL_) ** 2
    assert np.all(i >= -loss.c_L - 1e-12)
    assert np.all(dL**2 <= loss.c_L1 + 1e-12)
    assert np.all(ddL >= loss.c_L2 - 1e-12)
    # and the constants are tight: no smaller c_L, c'_L, no larger c''_L would do
    assert np.min(i) == pytest.approx(-loss.c_L, rel=1e-6)
    assert np.max(dL**2) == pytest.approx(loss.c_L1, rel=1e-9)
    assert np.min(ddL) == pytest.approx(loss.c_L2, rel=1e-9)


@pytest.mark.parametrize("loss", BOTH, ids=repr)
def test_slope_and_curvature_are_derivatives(loss):
    grid, h = np.linspace(-loss.R, loss.R, 101), 1e-5
    np.testing.assert_allclose(
        (loss.value(grid - h) - loss.value(grid + h)) / (2 * h), loss.slope(grid), atol=1e-8
    )
    np.testing.assert_allclose(
        (loss.slope(grid - h) - loss.slope(grid + h)) / (2 * h), loss.curvature(grid), atol=1e-8
    )
    p = loss.slope(-grid) / (loss.slope(grid) + loss.slope(-grid))
    np.testing.assert_allclose(loss.prob(grid), p, atol=1e-15)
    assert np.all(np.diff(p) > 0)


OWN = sb.Surrogate(L=lambda m: (2.0 - m) ** 2 + np.exp(-m), R=0.9, name="own")


@pytest.mark.parametrize("loss", [*BOTH, OWN], ids=repr)
def test_lemmas_3_and_4_the_true_margin_is_best_and_the_variance_is_below_the_mean(loss):
    """For every true Δ and every Δ̂ of a grid on D, both ends included."""
    grid = np.linspace(-loss.R, loss.R, 401)
    truth, guess = np.meshgrid(grid, grid, indexing="ij")
    p = loss.prob(truth)
    click, skip = (loss.value(s * guess) - loss.value(s * truth) for s in (1, -1))
    mean = p * click + (1 - p) * skip  # E[L(sΔ̂) - L(sΔ)]
    variance = p * (1 - p) * (click - skip) ** 2
    assert mean.min() >= -1e-12
    assert np.all(np.argmin(mean, axis=1) == np.arange(len(grid)))  # Lemma 3
    assert np.all(mean >= loss.c_L2 / 2 * (guess - truth) ** 2 - 1e-12)  # in the proof of Lemma 4
    assert np.all(variance <= 2 * loss.c_L1 / loss.c_L2 * mean + 1e-12)  # Lemma 4


def test_the_papers_constants():
    square, logistic = sb.Square(), sb.Logistic(3.0)
    assert (square.c_L, square.c_L1, square.c_L2, square.worst) == (0.5, 4.0, 1.0, 2.0)
    assert logistic.c_L == 0.25
    assert logistic.c_L1 <= 1
    assert logistic.c_L2 == 1 / (2 * (1 + math.cosh(3.0)))
    assert square.prob(0.3) == (1 + 0.3) / 2
    assert logistic.prob(0.3) == pytest.approx(math.exp(0.3) / (math.exp(0.3) + 1))


@given(st.floats(0.1, 4.0))
def test_your_own_logistic_gets_our_logistics_constants(R):
    ours = sb.Logistic(R)
    for yours in (
        sb.Surrogate(L=lambda m: np.log1p(np.exp(-m)), R=R),
        sb.Surrogate(g=lambda m: 1 / (1 + np.exp(m)), R=R),
        sb.Surrogate(L=lambda m: math.log1p(math.exp(-m)), R=R),  # one number at a time
    ):
        assert yours.c_L == pytest.approx(ours.c_L, rel=1e-5)
        assert yours.c_L1 == pytest.approx(ours.c_L1, rel=1e-6)
        assert yours.c_L2 == pytest.approx(ours.c_L2, rel=1e-5)
        grid = np.linspace(-R, R, 50)
        np.testing.assert_allclose(yours.slope(grid), ours.slope(grid), atol=1e-8)
        np.testing.assert_allclose(yours.prob(grid), ours.prob(grid), atol=1e-8)


def test_a_loss_from_its_slope_ends_at_zero():
    yours = sb.Surrogate(g=lambda m: 1 - m, R=1.0)
    grid = np.linspace(-1, 1, 50)
    np.testing.assert_allclose(yours.value(grid), sb.Square().value(grid), atol=1e-12)


@pytest.mark.parametrize("R", [0, -1.0, None, math.nan, math.inf, "2", True, 31.0])
def test_logistic_refuses_a_radius_it_cannot_use(R):
    with pytest.raises(InputError, match=f"R = {R!r}, but "):
        sb.Logistic(R)
