"""Options that name a file, read as the commands read them."""

import pytest

from semibandit.cli.options import feature_words, read_features, read_lines
from semibandit.errors import FileError, MissingFile


def test_lines_of_a_file_without_empty_ones(tmp_path):
    path = tmp_path / "labels.txt"
    path.write_text("hat\n\n  scarf, red \n", encoding="utf-8")
    assert read_lines(f"@{path}", "labels") == ["hat", "scarf, red"]


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path):
    path = tmp_path / "labels.bin"
    with pytest.raises(MissingFile, match=r"--labels = '@.*labels\.bin', but there is no file"):
        read_lines(f"@{path}", "labels")
    path.write_bytes(b"caf\xe9\n")
    with pytest.raises(FileError, match=r"--labels = '@.*', but the file is not UTF-8"):
        read_lines(f"@{path}", "labels")


def test_features_are_a_number_or_names_also_in_a_file(tmp_path):
    assert read_features(None) is None
    assert read_features("4") == 4
    path = tmp_path / "features.txt"
    path.write_text("hour\ndevice:category\n")
    assert feature_words(f"@{path}") == "hour,device:category"
    assert read_features(f"@{path}").words == "hour,device:category"
