"""Sparse rows from text."""

import numpy as np
import pytest

from semibandit.data.formats.sparse_rows import SparseRows, parse_row
from semibandit.errors import FileError


def test_rows_become_a_matrix():
    rows = SparseRows()
    for columns, values in (([1, 3], [0.5, 2.0]), ([], []), ([2], [-1.0])):
        rows.add(columns, values)
    assert (len(rows), rows.width) == (3, 4)
    expected = np.array([[0, 0.5, 0, 2, 0], [0] * 5, [0, 0, -1, 0, 0]])
    assert np.array_equal(rows.matrix(5).toarray(), expected)
    assert np.array_equal(rows.matrix(4, first=1).toarray(), expected[:, 1:])


@pytest.mark.parametrize("columns", [[-1], [1, 2**63], [10**30]])
def test_columns_out_of_range_are_refused(columns):
    rows = SparseRows()
    with pytest.raises(FileError, match="is out of range"):
        rows.add(columns, [1.0] * len(columns))
    assert len(rows) == 0


def test_a_row_of_text():
    assert parse_row(["3,x", "1:0.5", "7:2"]) == ("3,x", [1, 7], [0.5, 2.0])
    assert parse_row(["1:0.5"]) == ("", [1], [0.5])
    assert parse_row([]) == ("", [], [])
    for text in ("1 x:1", "1 2", "1 1:1:1", f"1 {'9' * 5000}:1"):
        with pytest.raises(
            FileError, match=r"expected 'label,label feature:value \.\.\.', found '1"
        ):
            parse_row(text.split())
