"""Cells that are text."""

import pytest

from semibandit._util.cells import parse_number, split_members


def test_numbers_and_truth_values():
    texts = ("7", " 7.5 ", "1e3", "true", "FALSE")
    assert [parse_number(text) for text in texts] == [7, 7.5, 1e3, 1, 0]
    for text in ("", "noon", "7,5"):
        with pytest.raises(ValueError, match="could not convert"):
            parse_number(text)


def test_sets():
    texts = ("a|b", " a | b |", "a", "|", "")
    assert [split_members(text) for text in texts] == [["a", "b"], ["a", "b"], ["a"], [], []]
