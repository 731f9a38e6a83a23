import math

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import InputError
from semibandit.theory.width import is_spread_width


def test_figure_2s_width_by_hand():
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
