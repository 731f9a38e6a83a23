"""The reader is chosen by the content of the file, not by its name."""

import inspect

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from package_index import FILENAME

import semibandit as sb
from semibandit.data.formats.detect import detect_format
from semibandit.data.read import READERS
from semibandit.errors import FileError, InputError, MissingFile

X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.5]])
Y = np.array([[1, 0], [1, 1]])
ARFF = (
    "@relation x\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n"
    "@attribute p {0,1}\n@attribute q {0,1}\n@data\n1,0,2,1,0\n0,3,0.5,1,1\n"
)
XML = '<labels><label name="p"/><label name="q"/></labels>'


def npz(folder):
    sb.Dataset("toy", X, Y).save(folder / "toy.npz")
    return "toy.npz", {}


def arff(folder):
    (folder / "toy.arff").write_text(ARFF)
    (folder / "toy.xml").write_text(XML)
    return "toy.arff", {}


def extreme(folder):
    (folder / "toy.txt").write_text("2 3 2\n0 0:1 2:2\n0,1 1:3 2:0.5\n")
    return "toy.txt", {}


def svmlight(folder):
    (folder / "toy.svm").write_text("0 1:1 3:2\n0,1 2:3 3:0.5\n")
    return "toy.svm", {}


def csv(folder):
    (folder / "toy.csv").write_text("a,b,c,p,q\n1,0,2,1,0\n0,3,0.5,1,1\n")
    return "toy.csv", {"labels": ["p", "q"]}


def parquet(folder):
    table = dict(zip("abcpq", np.hstack([X, Y]).T, strict=True))
    pq.write_table(pa.table(table), folder / "toy.parquet")
    return "toy.parquet", {"labels": 2}


ALL = [npz, arff, extreme, svmlight, csv, parquet]


def dense(matrix):
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


@pytest.mark.parametrize("made", ALL, ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", ["file", "folder", "odd name"])
def test_every_format_gives_the_same_data_set(tmp_path, made, way):
    folder = tmp_path / "toy"
    folder.mkdir()
    name, options = made(folder)
    (folder / "README.md").write_text("about toy")
    path = folder / name
    if way == "odd name":
        path = path.rename(folder / "toy.data")
    dataset = sb.read_dataset(folder if way == "folder" else path, **options)
    assert np.array_equal(dense(dataset.X_train), X)
    assert np.array_equal(dense(dataset.Y_train), Y)
    assert (dataset.name, dataset.n, dataset.d, dataset.K) == ("toy", 2, 3, 2)
    assert dataset.cardinality == 1.5
    assert detect_format(path) == made.__name__


def test_a_name_of_the_catalogue_is_fetched(index):
    dataset = sb.read_dataset("Mediamill")
    assert (dataset.name, dataset.n) == ("mediamill", 10)
    with pytest.raises(
        InputError, match="labels= does not apply: mediamill is a data set of the c"
    ):
        sb.read_dataset("mediamill", labels=3)


def test_the_package_and_its_members(package, tmp_path):
    archive, _, contents = package
    (tmp_path / FILENAME).write_bytes(archive)
    assert sb.read_dataset(tmp_path / FILENAME, name="corel5k").d == 9
    with pytest.raises(InputError, match="holds several data sets: say which with name="):
        sb.read_dataset(tmp_path / FILENAME)
    with pytest.raises(InputError, match="no data set is called 'yeast'"):
        sb.read_dataset(tmp_path / FILENAME, name="yeast")
    members = tmp_path / "members"
    members.mkdir()
    for path, content in contents.items():
        (members / path.rpartition("/")[2]).write_bytes(content)
    assert sb.read_dataset(members / "Corel5k-train.dump.bz2").n_test == 4
    assert sb.read_dataset(members, name="corel5k").d == 9
    with pytest.raises(InputError, match="holds several data sets"):
        sb.read_dataset(members)
    (members / "Corel5k-test.dump.bz2").write_bytes(b"BZh9 no more")
    with pytest.raises(FileError, match="corel5k cannot be read"):
        sb.read_dataset(members, name="corel5k")


def test_a_mulan_folder_as_it_is_unpacked(tmp_path):
    for name in ("toy", "toy-train", "toy-test"):
        (tmp_path / f"{name}.arff").write_text(ARFF)
    (tmp_path / "toy.xml").write_text(XML)
    assert (sb.read_dataset(tmp_path).n_train, sb.read_dataset(tmp_path).n_test) == (2, 2)


def test_an_extreme_folder_as_it_is_unpacked(tmp_path):
    (tmp_path / "Toy_data.txt").write_text("2 3 2\n0 0:1 2:2\n0,1 1:3 2:0.5\n")
    (tmp_path / "toy_trSplit.txt").write_text("1 2\n")
    (tmp_path / "toy_tstSplit.txt").write_text("2 1\n")
    assert sb.read_dataset(tmp_path).X_train[[0], :].toarray().tolist() == [[1, 0, 2]]
    assert sb.read_dataset(tmp_path, split=1).X_train[[0], :].toarray().tolist() == [[0, 3, 0.5]]


def test_options_that_do_not_apply_and_those_that_are_missing(tmp_path):
    npz(tmp_path), csv(tmp_path)
    with pytest.raises(InputError, match=r"split= does not apply: toy\.npz is read as npz"):
        sb.read_dataset(tmp_path / "toy.npz", split=1)
    with pytest.raises(InputError, match=r"with labels= \(--labels on the command line"):
        sb.read_dataset(tmp_path / "toy.csv")
    with pytest.raises(InputError, match="holds several data sets"):
        sb.read_dataset(tmp_path)
    with pytest.raises(MissingFile, match="'nowhere' is neither a file nor one of mediamill"):
        sb.read_dataset("nowhere")
    with pytest.raises(MissingFile, match="did you mean 'mediamill'"):
        sb.read_dataset("mediamil")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="holds no data set"):
        sb.read_dataset(tmp_path / "empty")


def test_every_option_of_the_table_of_readers_is_a_parameter_of_the_reader():
    for reader, options in READERS.values():
        assert set(options) <= set(inspect.signature(reader).parameters)


def test_the_one_label_of_an_arff_file_may_be_given_as_a_name(tmp_path):
    (tmp_path / "toy.arff").write_text(ARFF)
    assert sb.read_dataset(tmp_path / "toy.arff", labels="q").label_names == ("q",)
