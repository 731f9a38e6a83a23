"""Checks of what users give: what is right passes unchanged, what is wrong is named."""

import numpy as np
import pytest

from semibandit._util.checks import (
    check_keywords,
    finite_number,
    nearest,
    shortened,
    whole_number,
)
from semibandit.errors import InputError, UnknownKeyword


@pytest.mark.parametrize("value", [0, 7, np.int64(7), np.uint8(7)])
def test_whole_numbers_become_ints(value):
    found = whole_number("n", value, least=0)
    assert found == value
    assert type(found) is int


@pytest.mark.parametrize("value", [True, np.True_, 1.0, "1", None, -1, np.int64(-1)])
def test_what_is_no_whole_number_is_named(value):
    with pytest.raises(InputError, match=r"^n = .*, but it must be a whole number of at least 0"):
        whole_number("n", value, least=0)


@pytest.mark.parametrize("value", [0, 0.5, np.float32(0.5), 7])
def test_finite_numbers_become_floats(value):
    found = finite_number("x", value, least=0.0)
    assert found == value
    assert type(found) is float


@pytest.mark.parametrize("value", [True, "1", None, -0.1, float("nan"), float("inf"), 10**400])
def test_what_is_no_finite_number_is_named(value):
    with pytest.raises(InputError, match=r"^x = .*, but it must be a finite number of at least 0"):
        finite_number("x", value, least=0.0)


def test_long_values_are_shortened():
    assert shortened("abc") == "'abc'"
    assert len(shortened("x" * 1000)) == 80
    assert nearest("colour", ["width"]) == ""


def test_a_keyword_that_a_class_does_not_take_is_named_with_the_nearest():
    class Above:
        def __init__(self, width=1, seed=0): ...

    class Below(Above):
        def __init__(self, model=None, **more): ...

    check_keywords(Below, ["model", "width", "seed"])
    with pytest.raises(
        UnknownKeyword, match=r"no parameter 'widht'; did you mean 'width'\?"
    ) as why:
        check_keywords(Below, ["widht"])
    assert "it takes model, more, width, seed" in str(why.value)
