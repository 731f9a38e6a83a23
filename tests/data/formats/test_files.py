"""Finding and naming files."""

import pytest

from semibandit.data.formats.files import (
    dataset_name,
    existing_file,
    find_test_file,
    train_and_test,
)
from semibandit.errors import InputError, MissingFile


@pytest.mark.parametrize(
    ("train", "test"),
    [
        ("toy-train.csv", "toy-test.csv"),
        ("train.txt", "test.txt"),
        ("toy_trn.txt", "toy_tst.txt"),
        ("train-train.svm", "train-test.svm"),
    ],
)
def test_the_file_for_testing_is_found_by_its_name(tmp_path, train, test):
    (tmp_path / train).touch()
    assert find_test_file(tmp_path / train) is None
    assert train_and_test(tmp_path / train, None) == (tmp_path / train,)
    (tmp_path / test).touch()
    assert find_test_file(tmp_path / train) == tmp_path / test
    assert train_and_test(tmp_path / train, None) == (tmp_path / train, tmp_path / test)
    assert find_test_file(tmp_path / test) is None


def test_what_is_missing_is_named(tmp_path):
    (tmp_path / "toy.csv").touch()
    with pytest.raises(MissingFile, match=r"there is no file .*nowhere\.csv"):
        existing_file(tmp_path / "nowhere.csv")
    with pytest.raises(MissingFile, match=r"there is no file .*nowhere\.csv"):
        train_and_test(tmp_path / "toy.csv", tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="is a folder, expected a file"):
        existing_file(tmp_path)


def test_the_name_of_a_data_set(tmp_path):
    names = {dataset_name(tmp_path / f"toy{end}.txt") for end in ("", "-train", "_data", ".trn")}
    assert names == {"toy"}
    assert dataset_name(tmp_path / "train.txt") == tmp_path.name
