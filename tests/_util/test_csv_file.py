"""CSV: whatever is in a cell, a reader gets it back."""

import csv

import numpy as np
import pytest

from semibandit._util.csv_file import write_csv

CELLS = ['say "so"', "a,b", "two\nlines", "old\rmac", "both\r\n", "", " padded ", "ümlaut", "'"]


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_quotes_commas_and_line_ends_come_back(tmp_path):
    path = tmp_path / "table.csv"
    write_csv(path, ["name", 'the "label"'], [(cell, cell) for cell in CELLS])
    assert read(path) == [["name", 'the "label"'], *([cell, cell] for cell in CELLS)]


def test_numbers_have_their_shortest_exact_form_and_plain_cells_no_quotes(tmp_path):
    path = tmp_path / "table.csv"
    values = [0.1, 1 / 3, 1e300, 5e-324, np.float64(0.1), 3, np.int64(4), True, None, "x y"]
    write_csv(path, list("abcdefghij"), [values])
    expected = "0.1,0.3333333333333333,1e+300,5e-324,0.1,3,4,True,,x y"
    assert path.read_bytes() == f"a,b,c,d,e,f,g,h,i,j\n{expected}\n".encode()


def test_a_table_that_fails_leaves_the_old_one(tmp_path):
    path = tmp_path / "table.csv"
    write_csv(path, ["a"], [[1]])

    def rows():
        yield [2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_csv(path, ["a"], rows())
    assert path.read_bytes() == b"a\n1\n"
    assert list(tmp_path.iterdir()) == [path]
