"""Multilabel svmlight."""

import numpy as np
import pytest

from semibandit.data.formats.svmlight import read_svmlight
from semibandit.errors import FileError, InputError

TEXT = "# made by hand\n3,10 qid:7 1:0.5 3:2 # first\n\n10 2:-1\n 1:1e-3\n2.0\n"


def test_rows_labels_and_comments(tmp_path):
    (tmp_path / "toy.svm").write_text(TEXT)
    dataset = read_svmlight(tmp_path / "toy.svm")
    assert dataset.label_names == ("2", "3", "10")  # as numbers are ordered
    assert np.array_equal(
        dataset.X_train.toarray(), [[0.5, 0, 2], [0, -1, 0], [1e-3, 0, 0], [0] * 3]
    )
    assert np.array_equal(dataset.Y_train, [[0, 1, 1], [0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_counting_from_0_or_from_1(tmp_path):
    path = tmp_path / "toy.svm"
    path.write_text("1 0:1 2:1\n")
    assert read_svmlight(path).d == 3
    with pytest.raises(InputError, match="zero_based = False, but feature 0 occurs"):
        read_svmlight(path, zero_based=False)
    path.write_text("1 1:1 2:1\n")
    assert read_svmlight(path).d == 2
    assert read_svmlight(path, zero_based=True).d == 3
    assert read_svmlight(path, n_features=9).d == 9
    with pytest.raises(InputError, match="n_features = 1, but 2 occur"):
        read_svmlight(path, n_features=1)


def test_both_parts_share_labels_and_features(tmp_path):
    (tmp_path / "toy-train.svm").write_text("sea 1:1\n")
    (tmp_path / "toy-test.svm").write_text("snow,sea 4:1\n")
    dataset = read_svmlight(tmp_path / "toy-train.svm")
    assert (dataset.d, dataset.label_names, dataset.name) == (4, ("sea", "snow"), "toy")
    assert np.array_equal(dataset.Y_train, [[1, 0]])
    assert np.array_equal(dataset.Y_test, [[1, 1]])
    assert dataset.X_test.toarray()[0, 3] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:1\n2 x:1\n", "toy.svm, line 2: expected 'label,label feature:value ...'"),
        ("1 1:1\n2 3\n", "line 2: expected 'label,label"),
        ("1 1:1:1\n", "line 1: expected 'label,label"),
        ("1 -1:1\n", "line 1: column -1 is out of range"),
        ("1 1:1 1:2\n", "line 1: column 1 is given twice"),
        ("1 1:inf\n", "X_train holds inf"),
        ("# nothing\n", "toy.svm has no rows"),
        (" 1:1\n", "toy.svm has no labels at all"),
        ("1 4000000000:1\n", "toy.svm has 4000000000 features, and no more than 16777216 are"),
        (f"1 {'9' * 5000}:1\n", "line 1: expected 'label,label"),
    ],
)
def test_mistakes_are_shown_where_they_are(tmp_path, text, message):
    (tmp_path / "toy.svm").write_text(text)
    with pytest.raises(FileError, match=message):
        read_svmlight(tmp_path / "toy.svm")


def test_as_many_labels_as_rows_take_no_more_than_the_file(tmp_path):
    """Dense, its labels would take 144 MB."""
    (tmp_path / "toy.svm").write_text("".join(f"{i} 1:1\n" for i in range(12_000)))
    (tmp_path / "toy-test.svm").write_text("3,7,7.0 1:1\n")
    dataset = read_svmlight(tmp_path / "toy.svm", test=tmp_path / "toy-test.svm")
    assert (dataset.n_train, dataset.K) == (12_000, 12_000)
    assert dataset.Y_train.nnz == 12_000
    assert dataset.Y_test.indices.tolist() == [3, 7]
