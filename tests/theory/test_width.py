import math

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import InputError
from semibandit.theory.width import is_spread_width


def test_the_widths_of_figure_2_and_remark_1_by_hand():
    t, d, K, U, delta = 50, 4, 7, 1.5, 0.05
    n = np.array([1e-6, 1e-4])
    known = sb.KnownNorm(U, delta)(n, t=t, d=d, K=K, loss=sb.Square())
    C = U**2 + d * 4 * math.log(1 + 49 / 4) + 12 * (4 + 3 * 2) * math.log(7 * 54 / 0.05)
    np.testing.assert_allclose(known, np.sqrt(n * C))
    unknown = sb.UnknownNorm(delta)(n, t=t, d=d, K=K, loss=sb.Square())
    C = 2 * d * 4 * math.log(1 + 49 / 4) + 12 * (4 + 3 * 2) * math.log(7 * 54 / 0.05)
    np.testing.assert_allclose(unknown, np.sqrt(n * C))


@pytest.mark.parametrize("width", [sb.Scaled(99.0), sb.KnownNorm(3.0), sb.UnknownNorm(0.01)])
@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(0.7)])
def test_every_width_is_capped_at_2R_and_grows_with_the_norm(width, loss):
    norms = np.linspace(0, 1, 1001)
    widths = width(norms, t=9, d=3, K=5, loss=loss)
    assert widths[0] == 0
    assert widths[-1] == 2 * loss.R
    assert np.all(np.diff(widths) >= 0)


@pytest.mark.parametrize("loss", [sb.Logistic(R) for R in (0.5, 1.0, 2.0, 4.0, 6.0)])
def test_scaled_widths_are_in_the_unit_of_the_step(loss):
    """A step is multiplied by 1/c''_L, so the margin's deviation is sqrt(x·A⁻¹x / c''_L)."""
    norms = np.array([1e-8, 1e-6, 1e-5])
    widths = sb.Scaled(0.3)(norms, t=9, d=3, K=5, loss=loss)
    np.testing.assert_allclose(widths, 0.3 * np.sqrt(norms / loss.c_L2), rtol=1e-14)
    assert sb.Scaled(0.3).spread(9, 3, 5, loss) == 0.3 / math.sqrt(loss.c_L2)


def test_for_the_square_loss_a_scaled_width_is_alpha_times_the_norm_to_the_bit():
    norms = np.random.default_rng(0).random(1000)
    for alpha in (0.1, 0.25, 1 / 3, 1.0):
        widths = sb.Scaled(alpha)(norms, t=9, d=3, K=5, loss=sb.Square())
        assert widths.tolist() == np.minimum(alpha * np.sqrt(norms), 2.0).tolist()


@pytest.mark.parametrize("delta", [0, -0.1, 1 / math.e, 0.5, math.nan, "0.05", True])
def test_delta_outside_0_to_1_over_e_is_refused(delta):
    for make in (sb.UnknownNorm, lambda delta: sb.KnownNorm(1.0, delta)):
        with pytest.raises(InputError, match=r"delta = .* strictly between 0 and 1/e"):
            make(delta)


@pytest.mark.parametrize("bad", [-1, math.inf, math.nan, "1", None, True])
def test_alpha_and_U_must_be_numbers_from_0(bad):
    with pytest.raises(InputError, match="alpha"):
        sb.Scaled(bad)
    with pytest.raises(InputError, match="U = "):
        sb.KnownNorm(bad)


def test_a_width_with_a_call_of_its_own_is_no_spread_width():
    class Doubled(sb.Scaled):
        def __call__(self, norm2, **round):
            return 2 * super().__call__(norm2, **round)

    assert is_spread_width(sb.Scaled(0.5))
    assert is_spread_width(sb.KnownNorm(1.0))
    assert not is_spread_width(Doubled(0.5))
    assert not is_spread_width(lambda norm2, **round: norm2)


@pytest.mark.parametrize("make", [sb.KnownNorm, sb.LogDet])
@pytest.mark.parametrize(
    ("U", "why"), [(-1.0, "at least 0"), (math.nan, "finite"), (1e200, r"at most 1e\+150")]
)
def test_a_norm_without_a_finite_square_is_refused(make, U, why):
    with pytest.raises(InputError, match=why):
        make(U)
