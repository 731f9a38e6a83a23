"""Cells of a table as values of features."""

import pytest

import semibandit as sb
from semibandit.errors import FileError, InputError

FEATURES = sb.Features(hour="number", device="category", tags="set")


def test_text_becomes_what_the_feature_takes():
    columns = {
        "hour": ["7", None, "true", 2],
        "device": ["7", "phone", None, 3],
        "tags": ["a|b", "|", ["c"], None],
        "other": [1, 2, 3, 4],
    }
    assert FEATURES.read_cells(columns) == {
        "hour": [7.0, None, 1.0, 2],
        "device": ["7", "phone", None, 3],
        "tags": [["a", "b"], [], ["c"], None],
    }
    assert sb.Hashed(8).read_cells(columns) == columns


def test_what_is_wrong_is_named():
    with pytest.raises(
        FileError, match="row 2: column 'hour' is 'noon', expected a number; if it is"
    ):
        FEATURES.read_cells({"hour": ["7", "noon"], "device": ["a", "b"], "tags": ["", ""]})
    with pytest.raises(InputError, match="no column 'tags'"):
        FEATURES.read_cells({"hour": ["7"], "device": ["a"]})
