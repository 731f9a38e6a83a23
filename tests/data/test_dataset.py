"""A data set: what it refuses, what it counts, and that its file gives it back."""

import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, csr_matrix

import semibandit as sb
from semibandit.data.dataset import Dataset

X = np.array([[0.5, 0.0, 1.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
Y = np.array([[1, 0], [1, 1], [0, 0], [0, 1]])


def test_statistics_are_over_both_parts():
    dataset = Dataset("toy", X[:3], Y[:3], X[3:], Y[3:])
    assert (dataset.n_train, dataset.n_test, dataset.n) == (3, 1, 4)
    assert (dataset.d, dataset.K) == (3, 2)
    assert dataset.cardinality == 1.0
    assert dataset.density == 0.5
    assert dataset.rows_without_features == 1
    assert dataset.rows_without_labels == 1


@pytest.mark.parametrize("form", [np.asarray, csr_array, csr_matrix, coo_array])
def test_dense_and_sparse_count_the_same(form):
    dataset = Dataset("toy", form(X), form(Y))
    assert (dataset.n, dataset.d, dataset.K, dataset.density) == (4, 3, 2, 0.5)
    assert (dataset.rows_without_features, dataset.rows_without_labels) == (1, 1)
    assert dataset.Y_train.dtype == np.uint8
    assert dataset.sparse == (form is not np.asarray)
    if dataset.sparse:
        assert isinstance(dataset.X_train, csr_array)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"X_train": X[0]}, r"X_train must have a row per context.*shape \(3,\)"),
        ({"X_train": X[:0], "Y_train": Y[:0]}, "X_train must have a row per context"),
        ({"X_train": [["a"]]}, "X_train must hold numbers, got an array of <U1"),
        ({"X_train": np.where(X == 2, np.nan, X)}, r"X_train\[1, 1\] is nan; expected a number"),
        ({"X_train": csr_array(np.where(X == 2, np.inf, X))}, "X_train holds inf"),
        ({"Y_train": Y * 2}, "Y_train holds 2; relevant labels are 1, others 0"),
        ({"Y_train": -Y}, "Y_train holds -1; relevant labels are 1, others 0"),
        ({"Y_train": Y[:3]}, "X_train has 4 rows and Y_train 3"),
        ({"X_test": X}, "X_test and Y_test come together"),
        ({"X_test": X[:, :2], "Y_test": Y}, "X_train has 3 features, X_test has 2"),
        ({"X_test": X, "Y_test": Y[:, :1]}, "Y_train has 2 labels, Y_test has 1"),
        ({"X_test": csr_array(X), "Y_test": Y}, "X_train and X_test must both be dense"),
        ({"label_names": ("a",)}, "label_names has 1 names for 2 columns"),
        ({"feature_names": ("a",)}, "feature_names has 1 names for 3 columns"),
        ({"label_names": ("a", "a")}, "label_names holds 'a' twice"),
    ],
)
def test_what_is_no_data_set_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Dataset(**({"name": "toy", "X_train": X, "Y_train": Y} | fields))


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


def test_the_checksum_is_of_the_data_alone():
    one = Dataset("one", csr_array(X), Y)
    rows, columns = np.nonzero(X)
    shuffled = np.random.default_rng(0).permutation(len(rows))
    values = X[rows, columns]
    other = coo_array((values[shuffled], (rows[shuffled], columns[shuffled])), shape=X.shape)
    assert Dataset("two", other, Y, source="elsewhere").checksum == one.checksum
    assert Dataset("one", csr_array(X), 1 - Y).checksum != one.checksum
    assert Dataset("one", csr_array(X[:, ::-1]), Y).checksum != one.checksum
    assert Dataset("one", X, Y, X, Y).checksum != Dataset("one", X, Y).checksum


def test_a_users_matrix_is_left_as_it_was():
    mine = csr_array((np.array([1.0, 0.0]), ([0, 1], [0, 1])), shape=(2, 2))
    Dataset("toy", mine, [[1], [0]])
    assert mine.nnz == 2


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
        with pytest.raises(ValueError, match=r"toy\.npz is not a whole \.npz data set"):
            Dataset.load(saved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Y_train": 1 - Y}, "is damaged"),
        ({"Y_train": None}, "has no Y_train; it holds X_train_data"),
        ({"X_train_indices": np.array([9] * 6)}, "X_train is not a sparse matrix"),
        ({"X_train_indptr": np.array([0, 99, 3, 3, 6])}, "X_train is not a sparse matrix"),
        ({"X_train_shape": np.array([4])}, "X_train is not a sparse matrix"),
        ({"meta": np.array("{")}, "meta is not JSON"),
        ({"meta": np.array("[1]")}, r"meta is \[1\], expected a JSON object"),
        ({"meta": np.array('{"format": 99}')}, "has format 99; this version reads 1"),
    ],
)
def test_a_file_that_is_wrong_says_how(saved, changes, message):
    with np.load(saved) as file:
        arrays = dict(file) | changes
    np.savez(saved, **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(ValueError, match=message):
        Dataset.load(saved)


def test_a_pickle_inside_is_never_run(tmp_path):
    np.savez(tmp_path / "bad.npz", X_train=np.array([print], dtype=object), Y_train=Y)
    with pytest.raises(ValueError, match="not a whole"):
        Dataset.load(tmp_path / "bad.npz")
    np.save(tmp_path / "one.npy", X)
    with pytest.raises(ValueError, match="it holds one array"):
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


def test_it_replays():
    dataset = Dataset(
        "toy", csr_array(X[[0, 1, 3]]), csr_array(Y[[0, 1, 3]]), label_names=("p", "q")
    )
    learner = sb.SlateUCB(dataset.d, list(dataset.label_names))
    trace = sb.replay(learner, dataset.X_train, dataset.Y_train, progress=False)
    assert len(trace.losses("ac")) == 3
