import math

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import InputError
from semibandit.theory.numerical import antiderivative, derivative, extreme, vectorised


def test_derivatives_integrals_and_extremes():
    points = np.linspace(-1.5, 1.5, 70)
    np.testing.assert_allclose(derivative(np.sin, 1.5, "L")(points), np.cos(points), atol=1e-11)
    np.testing.assert_allclose(
        antiderivative(np.exp, 1.5)(points), np.exp(1.5) - np.exp(points), atol=1e-11
    )
    best, at = extreme(lambda m: -((m - 0.3) ** 2), 1.5, largest=True)
    assert (best, at) == (pytest.approx(0, abs=1e-9), pytest.approx(0.3, abs=1e-5))
    best, at = extreme(np.exp, 1.5, largest=False)
    assert (best, at) == (math.exp(-1.5), -1.5)


@pytest.mark.parametrize("f", [np.exp, math.exp, lambda m: 1.0 if m < 0 else math.exp(m)])
def test_functions_of_arrays_and_of_single_numbers_both_take_arrays(f):
    points = np.array([[-1.0, 0.0], [0.5, 2.0]])
    expected = [[float(f(m)) for m in row] for row in points]
    np.testing.assert_allclose(vectorised(f, "L")(points), expected, rtol=1e-15)


@pytest.mark.parametrize("error", [TypeError, ValueError, KeyError, InputError])
@pytest.mark.parametrize("part", ["L", "g", "dg"])
def test_what_a_users_function_raises_comes_out(part, error):
    def broken(margin):
        raise error("a bug of the user's own")

    functions = {"L": lambda m: np.exp(-m), part: broken}
    with pytest.raises(error, match="a bug of the user's own") as caught:
        sb.Surrogate(**functions, R=1.0)
    assert type(caught.value) is error


def test_what_a_function_of_single_numbers_raises_for_one_of_them_comes_out():
    with pytest.raises(ValueError, match=r"math domain error|expected a positive input") as caught:
        sb.Surrogate(L=lambda m: -math.log(m), R=1.0)
    assert type(caught.value) is ValueError


@pytest.mark.parametrize("part", ["L", "g", "dg"])
def test_what_is_no_function_is_refused(part):
    with pytest.raises(InputError, match=f"^{part} = 3, but it must be a function"):
        sb.Surrogate(**{"L": lambda m: np.exp(-m), part: 3}, R=1.0)
