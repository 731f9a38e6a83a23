"""The extreme-classification text format, and its split files."""

import numpy as np
import pytest

from semibandit.data.formats.extreme import read_extreme
from semibandit.errors import FileError, InputError

TEXT = "4 5 3\n0,2 0:1.5 4:2\n 1:1\n1 3:0.25\n2\n"
X = np.array([[1.5, 0, 0, 0, 2], [0, 1, 0, 0, 0], [0, 0, 0, 0.25, 0], [0, 0, 0, 0, 0]])
Y = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_rows_with_and_without_labels_and_features(tmp_path):
    (tmp_path / "toy.txt").write_text(TEXT)
    dataset = read_extreme(tmp_path / "toy.txt")
    assert np.array_equal(dataset.X_train.toarray(), X)
    assert np.array_equal(dataset.Y_train.toarray(), Y)
    assert dataset.Y_train.dtype == np.uint8
    assert (dataset.name, dataset.n_test) == ("toy", 0)


def test_split_files(tmp_path):
    (tmp_path / "Toy_data.txt").write_text(TEXT)
    (tmp_path / "toy_trSplit.txt").write_text("1 4\n3 2\n")
    (tmp_path / "toy_tstSplit.txt").write_text("2 1\n4 3\n")
    (tmp_path / "other_trSplit.txt").write_text("9\n")
    for split, train, test in ((0, [0, 2], [1, 3]), (1, [3, 1], [0, 2])):
        dataset = read_extreme(tmp_path / "Toy_data.txt", split=split)
        assert np.array_equal(dataset.X_train.toarray(), X[train])
        assert np.array_equal(dataset.Y_test.toarray(), Y[test])
        assert dataset.name == "Toy"
    with pytest.raises(InputError, match=r"split = 2, but toy_trSplit\.txt, line 1, has 2 columns"):
        read_extreme(tmp_path / "Toy_data.txt", split=2)
    (tmp_path / "toy_trSplit.txt").write_text("0\n")
    with pytest.raises(FileError, match=r"toy_trSplit\.txt, line 1: expected a row from 1 to 4"):
        read_extreme(tmp_path / "Toy_data.txt")


def test_train_and_test_files(tmp_path):
    (tmp_path / "train.txt").write_text(TEXT)
    (tmp_path / "test.txt").write_text("1 5 3\n1 0:1\n")
    dataset = read_extreme(tmp_path / "train.txt")
    assert (dataset.n_train, dataset.n_test, dataset.name) == (4, 1, tmp_path.name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected 'rows features labels'"),
        ("4 5 -3\n", "line 1: expected 'rows features labels', found '4 5 -3'"),
        ("4 5 " + "3" * 5000, "line 1: expected 'rows features labels', found '4 5 3333"),
        (TEXT.replace("1:1", "9" * 30 + ":1"), "line 3: column 9999.* is out of range"),
        ("1 4000000000 3\n0 1:1\n", "toy.txt has 4000000000 features, and no more than 16777216"),
        ("1 5 4000000000\n0 1:1\n", "toy.txt has 4000000000 labels, and no more than 16777216"),
        ("4000000000 5 3\n0 1:1\n", "is cut off: 1 rows of the 4000000000"),
        (f"1 5 3\n{'9' * 5000} 1:1\n", r"line 2: expected .*, found '9{70,}\.\.\.$"),
        ("4 5\n", "line 1: expected 'rows features labels', found '4 5'"),
        (TEXT[:-3], "is cut off: 3 rows of the 4"),
        (TEXT + "1 0:1\n", "line 6: more rows than the 4"),
        (TEXT.replace("4:2", "5:2"), "line 2: feature 5, but the first line says 5"),
        (TEXT.replace("0,2", "0,3"), "line 2: label 3, but the first line says 3"),
        (TEXT.replace("0,2", "0,-2"), "line 2: labels and features are counted from 0"),
        (TEXT.replace("1:1", "1:x"), "line 3: expected 'label,label feature:value ...'"),
        (TEXT.replace("0,2", "a,b"), "line 2: expected 'label,label feature:value ...'"),
        (TEXT.replace("4:2", "0:2"), "line 2: column 0 is given twice"),
    ],
)
def test_mistakes_are_shown_where_they_are(tmp_path, text, message):
    (tmp_path / "toy.txt").write_text(text)
    with pytest.raises(FileError, match=message):
        read_extreme(tmp_path / "toy.txt")


def test_bytes_that_are_not_utf8_are_refused_where_they_are(tmp_path):
    (tmp_path / "toy.txt").write_bytes(TEXT.replace("1:1", "1:\xe9").encode("latin-1"))
    with pytest.raises(FileError, match="line 3: expected 'label,label"):
        read_extreme(tmp_path / "toy.txt")
    (tmp_path / "toy.txt").write_text(TEXT)
    (tmp_path / "toy_trSplit.txt").write_bytes(b"\xe9\n")
    (tmp_path / "toy_tstSplit.txt").write_text("1\n")
    with pytest.raises(FileError, match=r"toy_trSplit\.txt, line 1: expected a row from 1 to 4"):
        read_extreme(tmp_path / "toy.txt")
