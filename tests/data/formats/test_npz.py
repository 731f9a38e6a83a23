"""The .npz file of a data set gives it back, and a damaged one is refused."""

import json
import os
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from semibandit.data.dataset import Dataset
from semibandit.errors import FileError, MissingFile

X = np.array([[0.5, 0.0, 1.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
Y = np.array([[1, 0], [1, 1], [0, 0], [0, 1]])


@given(
    st.booleans(), st.booleans(), st.booleans(), st.sampled_from([np.float32, np.float64, np.int8])
)
def test_the_file_gives_it_back_to_the_bit(tmp_path_factory, sparse_X, sparse_Y, test, dtype):
    path = tmp_path_factory.mktemp("set") / "toy.npz"
    contexts, labels = X.astype(dtype), Y
    contexts = csr_array(contexts) if sparse_X else contexts
    labels = csr_array(labels) if sparse_Y else labels
    parts = (contexts, labels) * (2 if test else 1)
    saved = Dataset(
        "töy", *parts, feature_names=("a", "b", "ü"), label_names=("x", "y"), source="s"
    )
    saved.save(path)
    loaded = Dataset.load(path)
    assert loaded.checksum == saved.checksum
    for field in ("name", "feature_names", "label_names", "source", "n_train", "n_test"):
        assert getattr(loaded, field) == getattr(saved, field)
    assert loaded.X_train.dtype == saved.X_train.dtype
    assert type(loaded.X_train) is type(saved.X_train)
    assert type(loaded.Y_train) is type(saved.Y_train)
    assert os.listdir(path.parent) == ["toy.npz"]


def test_the_form_without_our_meta_loads(tmp_path):
    """What was kept before there was a format: a meta of other keys, or none."""
    sparse = csr_array(X.astype(np.float32))
    arrays = {f"X_train_{k}": getattr(sparse, k) for k in ("data", "indices", "indptr")}
    arrays |= {"X_train_shape": np.array(sparse.shape), "Y_train": Y.astype(np.uint8)}
    meta = np.array(json.dumps({"name": "old", "sparse_X": True}))
    np.savez_compressed(tmp_path / "a.npz", meta=meta, **arrays)
    np.savez(tmp_path / "b.npz", X_train=X, Y_train=Y)
    assert Dataset.load(tmp_path / "a.npz").name == "old"
    assert Dataset.load(tmp_path / "a.npz").sparse
    assert Dataset.load(tmp_path / "b.npz").name == "b"


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "toy.npz"
    Dataset("toy", csr_array(X), Y).save(path)
    return path


def test_a_truncated_file_is_refused(saved):
    content = saved.read_bytes()
    for end in range(0, len(content) - 1, 37):
        saved.write_bytes(content[:end])
        with pytest.raises(FileError, match=r"toy\.npz is not a complete \.npz data set"):
            Dataset.load(saved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Y_train": 1 - Y}, "is damaged"),
        ({"Y_train": None}, "has no Y_train; it holds X_train_data"),
        ({"X_train_indices": np.array([9] * 6)}, "X_train is not a sparse matrix"),
        ({"X_train_indptr": np.array([0, 99, 3, 3, 6])}, "X_train is not a sparse matrix"),
        ({"X_train_shape": np.array([4])}, "X_train is not a sparse matrix"),
        ({"X_train_shape": np.array([4, 4 * 10**9])}, "4000000000 features, and no more than"),
        ({"meta": np.array("[" * 200_000)}, "meta is not JSON: it is nested too deeply"),
        ({"meta": np.array("{")}, "meta is not JSON"),
        ({"meta": np.array("[1]")}, r"meta is \[1\], expected a JSON object"),
        ({"meta": np.array('{"label_names": 7}')}, "label_names is 7, expected a list of names"),
        ({"meta": np.array('{"label_names": ["a"]}')}, "label_names has 1 names for 2 columns"),
        ({"meta": np.array('{"format": 99}')}, "has format 99; this version reads 1"),
    ],
)
def test_a_file_that_is_wrong_says_how(saved, changes, message):
    with np.load(saved) as file:
        arrays = dict(file) | changes
    np.savez(saved, **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(FileError, match=message):
        Dataset.load(saved)


def test_a_pickle_inside_is_never_run(tmp_path):
    np.savez(tmp_path / "bad.npz", X_train=np.array([print], dtype=object), Y_train=Y)
    with pytest.raises(FileError, match="not a complete"):
        Dataset.load(tmp_path / "bad.npz")
    np.save(tmp_path / "one.npy", X)
    with pytest.raises(FileError, match="it holds one array"):
        Dataset.load(tmp_path / "one.npy")


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(saved, monkeypatch):
    old = saved.read_bytes()

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        Dataset("toy", X, Y).save(saved)
    assert saved.read_bytes() == old
    assert os.listdir(saved.parent) == [saved.name]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_every_damaged_byte_gives_the_same_data_or_a_file_error(tmp_path, save):
    path = tmp_path / "toy.npz"
    meta = np.array(json.dumps({"checksum": Dataset("toy", X, Y).checksum}))
    save(path, X_train=X, Y_train=Y.astype(np.uint8), meta=meta)
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            dataset = Dataset.load(path)
        except FileError:
            continue
        assert np.array_equal(dataset.X_train, X)
        assert np.array_equal(dataset.Y_train, Y)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(MissingFile, match=r"there is no file .*nowhere\.npz"):
        Dataset.load(tmp_path / "nowhere.npz")
    with pytest.raises(MissingFile, match=r"there is no folder .*nowhere"):
        Dataset("toy", X, Y).save(tmp_path / "nowhere" / "toy.npz")


def test_columns_of_a_table_come_back(tmp_path):
    columns = {"hour": [7.5, None], "device": ["phone", "ü"], "tags": [["a"], []]}
    test = {name: values[:1] for name, values in columns.items()}
    Y = [[1, 0], [0, 1]]
    for more in ({}, {"X_test": np.empty((1, 0)), "Y_test": Y[:1], "columns_test": test}):
        dataset = Dataset("toy", np.empty((2, 0)), Y, columns_train=columns, **more)
        dataset.save(tmp_path / "toy.npz")
        again = Dataset.load(tmp_path / "toy.npz")
        assert again.columns_train == columns
        assert again.columns_test == more.get("columns_test")
        assert (again.d, again.checksum) == (3, dataset.checksum)
    other = Dataset("toy", np.empty((2, 0)), Y, columns_train={**columns, "hour": [7.5, 8.0]})
    assert other.checksum != dataset.checksum


@pytest.mark.parametrize("name", ["extra", "X_train"])
def test_a_file_that_expands_without_end_is_refused_or_passed_over(tmp_path, name):
    """4 kB that say they are 4 GB, and 120 MB that no data set needs."""
    arrays, path = {"X_train": X, "Y_train": Y}, tmp_path / "toy.npz"
    rows = np.zeros((15_000_000, 1))
    np.savez_compressed(path, **arrays | {name: rows})
    content = path.read_bytes()
    tracemalloc.start()
    try:
        if name == "extra":
            assert Dataset.load(path).n_train == 4
        else:
            size = rows.nbytes + 128
            path.write_bytes(content.replace(_four(size), _four(2**32 - 8)))
            with pytest.raises(
                FileError, match=r"take 4,294,[\d,]+ bytes, and the file has 1\d\d,"
            ):
                Dataset.load(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def _four(n):
    return n.to_bytes(4, "little")


@pytest.mark.parametrize("content", [b"[" * 200_000, b"{", b"7", b"[1, 2]", b'[{"hour": 7}, null]'])
def test_damaged_columns_are_a_file_error(tmp_path, content):
    dataset = Dataset("toy", np.empty((1, 0)), [[1, 0]], columns_train={"hour": [7.5]})
    dataset.save(tmp_path / "toy.npz")
    with np.load(tmp_path / "toy.npz") as archive:
        arrays = dict(archive)
    arrays["columns"] = np.frombuffer(content, dtype=np.uint8)
    np.savez(tmp_path / "toy.npz", **arrays)
    with pytest.raises(FileError, match="columns"):
        Dataset.load(tmp_path / "toy.npz")
