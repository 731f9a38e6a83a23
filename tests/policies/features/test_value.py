"""Values of features: what is right is read, what is wrong is named with what was expected."""

import math

import numpy as np
import pytest

from semibandit.errors import InputError
from semibandit.policies.features.value import read_members, read_number, read_text


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), np.float64(2)])
def test_numbers_become_floats(value):
    found = read_number("hour", value)
    assert found == 2.0
    assert isinstance(found, float)


def test_true_and_false_are_numbers():
    assert [read_number("member", value) for value in (True, False, np.True_)] == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    "value", ["7", math.nan, math.inf, -math.inf, 10**400, [1.0], {}, 1j, np.float32("nan")]
)
def test_what_is_no_finite_number_is_named(value):
    with pytest.raises(InputError, match=r"^feature 'hour' = .*, but it must be a finite number"):
        read_number("hour", value)


@pytest.mark.parametrize(
    ("value", "text"),
    [("1", "1"), (1, "1"), (np.int8(1), "1"), (True, "true"), (np.False_, "false"), ("", "")],
)
def test_categories_are_compared_by_their_text(value, text):
    assert read_text("plan", value) == text
    assert type(read_text("plan", np.str_("a"))) is str


@pytest.mark.parametrize("value", [1.0, math.nan, ["a"], {"a": 1}, b"a", np.float32(1)])
def test_what_is_no_category_is_named(value):
    with pytest.raises(InputError, match=r"^feature 'plan' = .*, but it must be a string, a whole"):
        read_text("plan", value)


@pytest.mark.parametrize(
    "value", [["a", 1], ("a", 1), np.array(["a", "1"]), np.array(["a", 1], dtype=object)]
)
def test_sets_are_lists_of_values(value):
    assert read_members("tags", value) == ["a", "1"]


@pytest.mark.parametrize("value", ["a", 1, {"a": 1}, np.array([["a"]]), iter("a"), b"a"])
def test_what_is_no_set_is_named(value):
    with pytest.raises(InputError, match=r"^feature 'tags' = .*, but it must be a list of values"):
        read_members("tags", value)


@pytest.mark.parametrize("member", [None, 1.5, ["a"]])
def test_a_wrong_member_is_named(member):
    with pytest.raises(InputError, match=r"^feature 'tags' has .*, but a member must be a string"):
        read_members("tags", ["new", member])
