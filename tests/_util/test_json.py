"""JSON for answers and events: the same with orjson and without."""

import json
from math import inf, nan

import pytest

import semibandit._util.json
from semibandit._util.json import from_json, to_json
from semibandit.store.event import Decision, row

VALUES = [
    {"a": [1, -2.5, 1e-300, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, None, True], "b": "x"},
    {"wide": "käse 🧀", "control": "\u0000\n\x7f", "long": 2**80, "half": "\ud800"},
]


@pytest.mark.parametrize("values", VALUES)
def test_it_is_ascii_and_comes_back_to_the_bit(values, monkeypatch):
    found = to_json(values)
    assert found.isascii()
    assert json.loads(found) == values
    monkeypatch.setattr(semibandit._util.json, "orjson", None)
    assert json.loads(to_json(values)) == values


def test_numbers_that_are_not_finite_are_null(monkeypatch):
    values = {"a": [nan, 1.5, inf], "b": {"c": (-inf, "nan")}}
    found = to_json(values)
    assert json.loads(found) == {"a": [None, 1.5, None], "b": {"c": [None, "nan"]}}
    monkeypatch.setattr(semibandit._util.json, "orjson", None)
    assert to_json(values) == found


def test_a_decision_with_numbers_that_are_none_is_not_written():
    numbers = {"prob": [0.5, nan], "estimate": [0.5, 0.5], "width": [0.1, 0.1]}
    decision = Decision("x", 0.0, [1.0], None, None, None, ["a", "b"], **numbers, version=1, draw=1)
    with pytest.raises(ValueError, match="'x' has numbers that are not finite"):
        row(decision)


def test_what_was_written_is_read():
    for value in ({"a": [1, 0.1, None, True]}, "\ud800", 2**40, float("1e-300")):
        assert from_json(to_json(value)) == value
    assert from_json('{"a": NaN}')["a"] != 0
    with pytest.raises(json.JSONDecodeError):
        from_json(b"{")
