"""One door: the reader is chosen by what the file is, not by what it is called."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from package_index import FILENAME

import semibandit as sb
from semibandit.data.read import kind_of

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
    assert kind_of(path) == made.__name__


def test_a_name_of_the_catalogue_is_fetched(index):
    dataset = sb.read_dataset("Mediamill")
    assert (dataset.name, dataset.n) == ("mediamill", 10)
    with pytest.raises(ValueError, match="labels= does not apply: mediamill is a set of the cat"):
        sb.read_dataset("mediamill", labels=3)


def test_the_package_and_its_members(package, tmp_path):
    archive, _, contents = package
    (tmp_path / FILENAME).write_bytes(archive)
    assert sb.read_dataset(tmp_path / FILENAME, name="corel5k").d == 9
    with pytest.raises(ValueError, match="holds several data sets: say which with name="):
        sb.read_dataset(tmp_path / FILENAME)
    with pytest.raises(ValueError, match="no data set is called 'yeast'"):
        sb.read_dataset(tmp_path / FILENAME, name="yeast")
    members = tmp_path / "members"
    members.mkdir()
    for path, content in contents.items():
        (members / path.rpartition("/")[2]).write_bytes(content)
    assert sb.read_dataset(members / "Corel5k-train.dump.bz2").n_test == 4
    assert sb.read_dataset(members, name="corel5k").d == 9
    with pytest.raises(ValueError, match="holds several data sets"):
        sb.read_dataset(members)
    (members / "Corel5k-test.dump.bz2").write_bytes(b"BZh9 no more")
    with pytest.raises(ValueError, match="corel5k cannot be read"):
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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "file is empty"),
        (b"\x00\x01\x02", "of no format known here"),
        (b"hello\n", "of no format known here: it starts 'hello'"),
        (b"\x1f\x8bnot gzip", "name="),
    ],
)
def test_what_it_is_not(tmp_path, content, message):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        sb.read_dataset(tmp_path / "file")


def test_options_that_do_not_apply_and_those_that_are_missing(tmp_path):
    npz(tmp_path), csv(tmp_path)
    with pytest.raises(ValueError, match=r"split= does not apply: toy\.npz is read as npz"):
        sb.read_dataset(tmp_path / "toy.npz", split=1)
    with pytest.raises(ValueError, match="say which columns are labels with labels="):
        sb.read_dataset(tmp_path / "toy.csv")
    with pytest.raises(ValueError, match="holds several data sets"):
        sb.read_dataset(tmp_path)
    with pytest.raises(ValueError, match="'nowhere' is neither a file nor one of mediamill"):
        sb.read_dataset("nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="holds no data set"):
        sb.read_dataset(tmp_path / "empty")
