"""Theorem 1's conditions, checked for a user's own surrogate."""

import math

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import InputError


def test_constants_you_give_are_used_or_refused():
    assert sb.Surrogate(L=lambda m: np.exp(-m), R=1.0, c_L1=9.0).c_L1 == 9.0
    with pytest.raises(InputError, match=r"c'_L = 1 breaks condition ii .* L'² is 7\.38906 at -1"):
        sb.Surrogate(L=lambda m: np.exp(-m), R=1.0, c_L1=1.0)
    with pytest.raises(
        InputError, match=r"c''_L = 1 breaks condition iii .* L'' is 0\.367879 at 1"
    ):
        sb.Surrogate(L=lambda m: np.exp(-m), R=1.0, c_L2=1.0)
    with pytest.raises(InputError, match=r"c_L = 0\.1 breaks condition i .* p' is 0\.5 at "):
        sb.Surrogate(L=lambda m: np.exp(-m), R=1.0, c_L=0.1)


@pytest.mark.parametrize("constant", ["c_L", "c_L1", "c_L2"])
@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "1", True])
def test_constants_that_are_no_positive_numbers_are_refused(constant, value):
    name = {"c_L": "c_L", "c_L1": "c'_L", "c_L2": "c''_L"}[constant]
    with pytest.raises(InputError, match=f"{name} = "):
        sb.Surrogate(L=lambda m: np.exp(-m), R=1.0, **{constant: value})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"L": lambda m: (1 - m) ** 2 / 2, "R": 2.0}, r"L'\(2\) = 1, but L must be nonincreasing"),
        ({"L": lambda m: 1 - m, "R": 1.0}, r"L''\(.*\) = 0, but condition iii"),
        ({"L": lambda m: -np.exp(m) - 5, "R": 1.0}, r"L\(.*\) = -7.7.*must not be negative"),
        ({"L": lambda m: np.maximum(0, 1 - 2 * m), "R": 1.0}, r"L is not smooth near 0\.5"),
        ({"L": lambda m: -np.log(m), "R": 1.0}, r"L\(-1\) is not a finite number"),
        (
            {"g": lambda m: 2 - m, "L": lambda m: np.exp(-m), "R": 1.0},
            r"g\(.*\) = .*, but the deriv",
        ),
        ({"R": 1.0}, "needs L, or its negative derivative g"),
        (
            {"L": lambda m: np.exp(-m), "R": 0.0},
            r"R = 0\.0, but D = \[-R, R\] needs a finite R > 0",
        ),
        ({"L": lambda m: np.exp(-m), "R": math.inf}, "needs a finite R > 0"),
        (
            {"g": lambda m: 1 - m, "dg": lambda m: -2.0 + 0 * m, "R": 1.0},
            r"dg\(.*\) = -2, but the derivative of g there is -1",
        ),
        (
            {"L": lambda m: np.exp(-10 * m), "R": 1.0},
            r"L''\(1\) is about .* give or take .*; give g, and dg, as well",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value|divide by zero:RuntimeWarning")
def test_a_loss_that_breaks_the_conditions_is_refused_with_the_point(arguments, message):
    with pytest.raises(InputError, match=message):
        sb.Surrogate(**arguments)
