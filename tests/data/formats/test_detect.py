"""The format of a file by its content, and the data set of a folder."""

import pytest

from semibandit.data.formats.detect import detect_format, find_in_folder
from semibandit.errors import FileError, InputError, MissingFile


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"PK\x03\x04 and more", "npz"),
        (b"PAR1", "parquet"),
        (b"BZh91AY", "dump"),
        (b"\x1f\x8b\x08", "archive"),
        (b"% a comment\n@relation x\n", "arff"),
        (b"\xef\xbb\xbf@RELATION x\n", "arff"),
        (b"4 5 3\n0 1:1\n", "extreme"),
        (b"# made by hand\n1,2 1:0.5\n", "svmlight"),
        (b" 1:0.5 2:1\n", "svmlight"),
        (b"a;b\n1;2\n", "csv"),
    ],
)
def test_a_format_is_known_by_the_content(tmp_path, content, expected):
    (tmp_path / "file").write_bytes(content)
    assert detect_format(tmp_path / "file") == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "file is empty"),
        (b"\n \n", "file is empty"),
        (b"\x00\x01\x02", "file is of no known format"),
        (b"hello\n", "file is of no known format: it starts 'hello'"),
    ],
)
def test_what_is_of_no_known_format_is_refused(tmp_path, content, message):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(FileError, match=message):
        detect_format(tmp_path / "file")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(MissingFile, match=r"there is no file .*nowhere"):
        detect_format(tmp_path / "nowhere")


def test_the_data_set_of_a_folder(tmp_path):
    with pytest.raises(FileError, match="holds no data set of a known format"):
        find_in_folder(tmp_path, None)
    for name in ("one-train.csv", "one-test.csv", "notes.txt", "one.csv"):
        (tmp_path / name).write_text("a,b\n1,0\n")
    assert find_in_folder(tmp_path, None).name == "one-train.csv"
    for name in ("two-train.csv", "two-test.csv"):
        (tmp_path / name).write_text("a,b\n1,0\n")
    assert find_in_folder(tmp_path, "Two").name == "two-train.csv"
    with pytest.raises(InputError, match=r"several data sets \(one-train\.csv, two-train\.csv\)"):
        find_in_folder(tmp_path, None)
