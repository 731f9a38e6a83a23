"""A table is encoded as its rows would be, one after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semibandit.errors import InputError
from semibandit.policies.features.features import Features

FEATURES = Features(hour="number", device="category:7", plan=["1", "2"], tags="set:8", x={"a"})
values = {
    "hour": st.floats(-1e6, 1e6) | st.integers(-5, 5) | st.booleans(),
    "device": st.sampled_from("abcdefg"),
    "plan": st.sampled_from(["1", "2", 1, 2]),
    "tags": st.lists(st.sampled_from("abcdefgh"), max_size=3) | st.sets(st.sampled_from("abc")),
    "x": st.sampled_from([[], ["a"], ["a", "a"]]),
}
contexts = st.fixed_dictionaries(
    {}, optional={name: st.none() | value for name, value in values.items()}
)


def row_by_row(encoder, rows):
    X = []
    for row in rows:
        x, new = encoder.encode(row)
        X.append(x)
        encoder = encoder.including(new)
    return np.array(X), encoder


@given(st.lists(contexts, min_size=1, max_size=8), st.lists(contexts, min_size=1, max_size=8))
def test_rows_and_columns_are_encoded_as_one_by_one(before, rows):
    encoder = FEATURES.encoder()
    _, encoder = row_by_row(encoder, before)
    X, after = row_by_row(encoder, rows)
    columns = {name: [row.get(name) for row in rows] for name in FEATURES.names}
    for found, encoder_after in (encoder.encode_rows(rows), encoder.encode_columns(columns)):
        np.testing.assert_array_equal(found, X)
        assert encoder_after.to_json() == after.to_json()


def test_arrays_are_columns_too():
    lists = {"hour": [1.5, 2.0], "device": ["a", "b"], "plan": [1, 2], "tags": [["a"], []]}
    arrays = {name: np.array(column, dtype=object) for name, column in lists.items()}
    arrays |= {name: np.array(lists[name]) for name in ("hour", "device", "plan")}
    X, _ = FEATURES.encoder().encode_columns(lists)
    np.testing.assert_array_equal(FEATURES.encoder().encode_columns(arrays)[0], X)
    assert np.isnan(X[:, -1]).all()  # x was left out: it is unknown


def test_an_unknown_number_is_none():
    X, _ = FEATURES.encoder().encode_columns({"hour": [1.0, None, 3]})
    np.testing.assert_array_equal(X[:, 0], [1.0, np.nan, 3.0])


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"hour": [1.0, "2"]}, "^row 11: feature 'hour' = '2', but it must be a finite number"),
        ({"hour": [1.0, np.nan]}, "^row 11: feature 'hour' = nan, but it must be"),
        ({"hour": np.array([1.0, np.inf])}, "^row 11: feature 'hour' = inf, but"),
        ({"plan": [1, 2, 3]}, "^row 12: feature 'plan' = '3', expected one of 1, 2"),
        ({"device": list("aabcbdefghi")}, "^row 19: feature 'device' = 'h', but it has 7"),
        ({"tags": [["a"], ["a", "b", "c", *map(str, range(9))]]}, "^row 11: feature 'tags' has "),
        ({"tags": [["a"], "b"]}, "^row 11: feature 'tags' = 'b', but it must be a list"),
        ({"hour": [1.0], "plan": [1, 2]}, "^column 'plan' has 2 rows, but 'hour' has 1"),
        ({"hours": [1.0]}, "names 'hours', which is not a feature; did you mean 'hour'"),
        ({"hour": "12"}, "^column 'hour' = '12', but it must be a list"),
        ({"hour": 12}, "^column 'hour' = 12, but it must be a list"),
        ({"hour": np.ones((2, 1))}, "^column 'hour' must be a list, got an array of shape"),
        ({}, "no columns"),
    ],
)
def test_a_wrong_table_is_refused_with_its_row(columns, reason):
    with pytest.raises(InputError, match=reason):
        FEATURES.encoder().encode_columns(columns, first=10)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{}, {"hours": 1}], "^row 1: context names 'hours'"),
        ([{}, [1.0]], "^row 1: context = .*, but its features have names"),
        ([{}, {"hour": "x"}], "^row 1: feature 'hour'"),
    ],
)
def test_a_wrong_row_is_named(rows, reason):
    with pytest.raises(InputError, match=reason):
        FEATURES.encoder().encode_rows(rows)
