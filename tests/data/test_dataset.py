"""A data set: what it refuses, and what it counts."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

import semibandit as sb
from semibandit.data.dataset import Dataset
from semibandit.errors import InputError

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
        ({"X_train": X[0]}, r"X_train must be a matrix with a row per context.*shape \(3,\)"),
        ({"X_train": X[:0], "Y_train": Y[:0]}, "X_train must be a matrix with a row per context"),
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
    with pytest.raises(InputError, match=message):
        Dataset(**({"name": "toy", "X_train": X, "Y_train": Y} | fields))


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


def test_it_replays():
    dataset = Dataset(
        "toy", csr_array(X[[0, 1, 3]]), csr_array(Y[[0, 1, 3]]), label_names=("p", "q")
    )
    learner = sb.SlateUCB(dataset.d, list(dataset.label_names))
    trace = sb.replay(learner, dataset.X_train, dataset.Y_train, progress=False)
    assert len(trace.losses("ac")) == 3


def test_columns_have_a_value_for_each_row():
    X, Y = np.empty((2, 0)), [[1, 0], [0, 1]]
    good = Dataset("toy", X, Y, columns_train={"hour": [7, None]})
    assert (good.d, good.n, good.rows_without_features) == (1, 2, 2)
    with pytest.raises(InputError, match="column 'hour' has 1 values for 2 rows"):
        Dataset("toy", X, Y, columns_train={"hour": [7]})
    with pytest.raises(InputError, match="columns_train and columns_test come together"):
        Dataset("toy", X, Y, X, Y, columns_train={"hour": [7, 8]})
    with pytest.raises(InputError, match="different columns"):
        Dataset("toy", X, Y, X, Y, columns_train={"hour": [7, 8]}, columns_test={"day": [7, 8]})
    with pytest.raises(InputError, match="got shape"):
        Dataset("toy", X, Y)
