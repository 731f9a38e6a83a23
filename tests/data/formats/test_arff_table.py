"""The ARFF file format: attributes of numbers and of words, dense and sparse rows."""

import numpy as np
import pytest

from semibandit.data.formats.arff_table import Attribute, read_arff_table
from semibandit.errors import FileError


def read(folder, text):
    (folder / "x.arff").write_text(text)
    return read_arff_table(folder / "x.arff")


def test_words_become_numbers(tmp_path):
    text = """@relation x
@attribute sex {m, f}
@attribute colour {red,green,'dark blue'}
@attribute size {1,2,10}
@attribute y {0,1}
@data
f,'dark blue',10,1
m,red,2,0
"""
    table = read(tmp_path, text)
    columns = ["sex", "colour=red", "colour=green", "colour=dark blue", "size", "y"]
    assert [column for attribute in table.attributes for column in attribute.columns] == columns
    assert np.array_equal(table.data, [[1, 0, 0, 1, 10, 1], [0, 1, 0, 0, 2, 0]])


def test_a_file_that_is_not_utf8(tmp_path):
    (tmp_path / "x.arff").write_bytes(
        "@relation x\n@attribute caf\xe9 numeric\n@attribute y {0,1}\n@data\n1,1\n".encode(
            "latin-1"
        )
    )
    assert read_arff_table(tmp_path / "x.arff").attributes[0] == Attribute("caf\xe9")


@pytest.mark.parametrize(
    ("attribute", "width", "encoded"),
    [
        (Attribute("a"), 1, {"7": [7.0], "1e-3": [0.001]}),
        (Attribute("a", ("1", "2", "10")), 1, {"10": [10.0]}),
        (Attribute("a", ("no", "yes")), 1, {"no": [0.0], "yes": [1.0]}),
        (Attribute("a", ("x", "y", "z")), 3, {"y": [0.0, 1.0, 0.0]}),
    ],
)
def test_an_attribute_encodes_its_values(attribute, width, encoded):
    assert attribute.width == len(attribute.columns) == width
    for text, numbers in encoded.items():
        assert attribute.encode(text) == numbers
    with pytest.raises(FileError, match="'a' is 'much'"):
        attribute.encode("much")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("'" + "x" * 200_000 + "',1", "x.arff, line 5: expected values between commas: field"),
        ("1,'2", "line 5: 'b' is '2', declared as"),
        ("1", "line 5: 1 values for 2 attributes"),
    ],
)
def test_rows_that_cannot_be_split_are_refused_where_they_are(tmp_path, row, message):
    head = "@relation x\n@attribute a numeric\n@attribute b {no,yes}\n@data\n"
    with pytest.raises(FileError, match=message):
        read(tmp_path, head + row + "\n")


def test_a_column_for_each_of_many_words_in_many_rows_is_refused(tmp_path):
    """70 kB that would be 300 MB."""
    words = ",".join(f"w{i}" for i in range(6000))
    head = f"@relation x\n@attribute a {{{words}}}\n@attribute b {{0,1}}\n@data\n"
    with pytest.raises(FileError, match=r"x\.arff has 6001 columns, .* in 6000 rows: more than"):
        read(tmp_path, head + "w7,1\n" * 6000)
    assert read(tmp_path, head + "w7,1\n" * 3).data.shape == (3, 6001)
