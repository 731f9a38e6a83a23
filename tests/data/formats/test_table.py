"""CSV and Parquet with label columns."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from semibandit.data.formats.table import read_csv, read_parquet
from semibandit.errors import FileError, InputError

TEXT = 'age,"likes, sea",y_sun,height,y_snow\n30,1,0,1.8,1\n41,0,true,1.6,FALSE\n'
COLUMNS = {
    "age": [30, 41],
    "likes, sea": [1, 0],
    "y_sun": [False, True],
    "height": [1.8, 1.6],
    "y_snow": [1, 0],
}


def csv_of(folder):
    (folder / "toy.csv").write_text(TEXT)
    return read_csv, folder / "toy.csv"


def parquet_of(folder):
    pq.write_table(pa.table(COLUMNS), folder / "toy.parquet")
    return read_parquet, folder / "toy.parquet"


@pytest.mark.parametrize("made", [csv_of, parquet_of])
@pytest.mark.parametrize("labels", ["y_*", ["y_sun", "y_snow"], ("y_sun", "y_sn*")])
def test_label_columns_by_name_and_by_pattern(tmp_path, made, labels):
    read, path = made(tmp_path)
    dataset = read(path, labels=labels)
    assert dataset.feature_names == ("age", "likes, sea", "height")
    assert dataset.label_names == ("y_sun", "y_snow")
    assert np.array_equal(dataset.X_train, [[30, 1, 1.8], [41, 0, 1.6]])
    assert np.array_equal(dataset.Y_train, [[0, 1], [1, 0]])
    assert read(path, labels=1).label_names == ("y_snow",)
    assert (dataset.name, dataset.n_test) == ("toy", 0)


@pytest.mark.parametrize("made", [csv_of, parquet_of])
def test_columns_that_are_not_there(tmp_path, made):
    read, path = made(tmp_path)
    with pytest.raises(InputError, match=r"has no column 'z_\*'; it has age, likes, sea, y_sun"):
        read(path, labels="z_*")
    with pytest.raises(InputError, match="no column 'part' to split by"):
        read(path, labels=1, split="part")
    with pytest.raises(InputError, match=r"labels = 5, but toy.* has 5 columns"):
        read(path, labels=5)
    with pytest.raises(InputError, match=r"no column 'y_snw'.*did you mean 'y_snow'"):
        read(path, labels=["y_snw"])
    with pytest.raises(InputError, match=r"split = 'age' and test = .*: give one of them"):
        read(path, labels=1, split="age", test=path)
    with pytest.raises(InputError, match="no columns but labels"):
        read(path, labels="*")
    with pytest.raises(FileError, match=r"toy.*: Y_train holds 30"):
        read(path, labels=["age"])


def test_semicolons_tabs_and_a_byte_order_mark(tmp_path):
    for separator in ";\t":
        (tmp_path / "toy.csv").write_text(f"\ufeffa{separator}b\n1{separator}0\n")
        assert read_csv(tmp_path / "toy.csv", labels=["b"]).feature_names == ("a",)


def test_a_column_that_says_which_part(tmp_path):
    (tmp_path / "toy.csv").write_text("a,part,y\n1,train,1\n2,Test,0\n3,TRAIN,0\n")
    pq.write_table(
        pa.table({"a": [1, 2, 3], "part": ["train", "Test", "TRAIN"], "y": [1, 0, 0]}),
        tmp_path / "toy.parquet",
    )
    for read, name in ((read_csv, "toy.csv"), (read_parquet, "toy.parquet")):
        dataset = read(tmp_path / name, labels=["y"], split="part")
        assert dataset.X_train.tolist() == [[1], [3]]
        assert dataset.X_test.tolist() == [[2]]
    (tmp_path / "toy.csv").write_text("a,part,y\n1,train,1\n2,dev,0\n")
    with pytest.raises(FileError, match="'part' holds 'dev', expected train or test"):
        read_csv(tmp_path / "toy.csv", labels=["y"], split="part")


def test_two_files(tmp_path):
    (tmp_path / "toy_train.csv").write_text("a,y\n1,1\n")
    (tmp_path / "toy_test.csv").write_text("y,a\n0,5\n")
    dataset = read_csv(tmp_path / "toy_train.csv", labels=["y"])
    assert dataset.X_test.tolist() == [[5]]
    assert dataset.name == "toy"
    (tmp_path / "toy_test.csv").write_text("y,b\n0,5\n")
    with pytest.raises(FileError, match="differ in column 'a'"):
        read_csv(tmp_path / "toy_train.csv", labels=["y"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs a first line with a name for each column"),
        ("a,a\n1,1\n", "needs a first line with a name for each column"),
        ("a,y\n", "toy.csv has no rows"),
        ("a,y\n1,1\n2\n", "toy.csv, line 3: 1 values for 2 columns"),
        ("a,y\n1,1\n,0\n", "row 2: column 'a' is empty, expected a number"),
        ("a,y\nred,1\n", "row 1: column 'a' is 'red', expected a number; columns=.*--features"),
        ("a,y\n1,red\n", "row 1: column 'y' is 'red', expected a number$"),
        ("a,y\n1,2\n", "Y_train holds 2.0"),
        ('a,y\n"1,1\n', "toy.csv, line"),
    ],
)
def test_mistakes_are_shown_where_they_are(tmp_path, text, message):
    (tmp_path / "toy.csv").write_text(text)
    with pytest.raises(FileError, match=message):
        read_csv(tmp_path / "toy.csv", labels=["y"])


def test_parquet_that_is_damaged_or_not_of_numbers(tmp_path):
    _, path = parquet_of(tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileError, match="is not a complete Parquet file"):
        read_parquet(path, labels=1)
    pq.write_table(pa.table({"a": ["x"], "y": [1]}), path)
    with pytest.raises(FileError, match="column 'a' is string, expected numbers"):
        read_parquet(path, labels=1)
    pq.write_table(pa.table({"a": [1, None], "y": [1, 0]}), path)
    with pytest.raises(FileError, match="column 'a' has 1 empty values"):
        read_parquet(path, labels=1)


def test_csv_needs_no_pyarrow_and_parquet_says_that_it_does(tmp_path):
    csv_of(tmp_path)
    parquet_of(tmp_path)
    code = """
import sys
sys.modules["pyarrow"] = None
import semibandit as sb
from semibandit.errors import MissingExtra
print(sb.read_dataset("toy.csv", labels="y_*").K)
try:
    sb.read_dataset("toy.parquet", labels="y_*")
except MissingExtra as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    said = "toy.parquet is Parquet, which needs pyarrow: pip install 'semibandit[data]'"
    assert run.stdout.splitlines() == ["2", said], run.stderr


MIXED = """hour,device,tags,note,y_a,part
7,phone,new|sale,x,1,train
,tablet,,y,0,test
9,,|,z,0,Train
"""
VALUES = {
    "hour": [7, None, 9],
    "device": ["phone", "tablet", None],
    "tags": [["new", "sale"], None, []],
    "note": ["x", "y", "z"],
    "y_a": [1, 0, 0],
    "part": ["train", "test", "Train"],
}


def test_columns_of_a_csv_file_are_kept_as_they_are(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text(MIXED)
    dataset = read_csv(path, labels=["y_a"], columns=["device", "hour", "tags"])
    assert dataset.columns_train == {
        "device": ["phone", "tablet", None],
        "hour": ["7", None, "9"],
        "tags": ["new|sale", None, "|"],
    }
    assert (dataset.n, dataset.d, dataset.K, dataset.X_train.shape) == (3, 3, 1, (3, 0))
    everything = read_csv(path, labels=["y_a"], split="part", columns="all")
    assert everything.columns_train == {
        "hour": [7.0, 9.0], "device": ["phone", None], "tags": [["new", "sale"], []],
        "note": ["x", "z"],
    }  # fmt: skip
    assert everything.columns_test["tags"] == [None]
    assert np.array_equal(everything.Y_test, [[0]])
    for columns, reason in (
        (["hours"], "no column 'hours'.*did you mean 'hour'"),
        (["y_a"], "y_a"),
    ):
        with pytest.raises(InputError, match=reason):
            read_csv(path, labels=["y_a"], columns=columns)
    with pytest.raises(FileError, match="row 2: column 'hour' is empty, expected a number"):
        read_csv(path, labels=["y_a"], split="part")


def test_columns_of_a_parquet_file_are_kept_as_they_are(tmp_path):
    path = tmp_path / "mixed.parquet"
    pq.write_table(pa.table(VALUES), path)
    dataset = read_parquet(path, labels=["y_a"], columns="all", split="part")
    names = ("hour", "device", "tags", "note")
    assert dataset.columns_train == {name: VALUES[name][::2] for name in names}
    assert dataset.columns_test == {name: VALUES[name][1:2] for name in names}
    when = pa.array([0, 1, 2], pa.timestamp("s"))
    pq.write_table(pa.table(VALUES).append_column("when", when), path)
    assert read_parquet(path, labels=["y_a"], columns=["hour"]).columns_train == {
        "hour": VALUES["hour"]
    }
    with pytest.raises(FileError, match="row 1: column 'when' is datetime"):
        read_parquet(path, labels=["y_a"], columns="all")
