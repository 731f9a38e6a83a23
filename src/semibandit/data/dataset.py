"""A multilabel data set: contexts X, relevant labels Y, names, and the official split."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from semibandit.errors import InputError

__all__ = ["Columns", "Dataset", "Matrix"]

Matrix: TypeAlias = Any  # a 2-d NumPy array or a scipy csr_array
Columns: TypeAlias = Mapping[str, list[Any]]  # values as JSON can hold them, None if unknown


@dataclass(frozen=True, eq=False)
class Dataset:
    """Contexts and their relevant labels, for training and, if there is a split, for testing.

    Parameters
    ----------
    name : str
        The name of the data set.
    X_train, X_test : n×d matrix
        The contexts, dense or sparse. Integers become float64, float32 stays as it is.
    Y_train, Y_test : n×K matrix of zeros and ones
        The relevant labels, dense or sparse; they become uint8. X_test and Y_test may be absent.
    feature_names, label_names : tuple of str
        The names of all features and of all labels, or none at all.
    source : str
        Where the data came from, for people to read.
    columns_train, columns_test : mapping, optional
        The contexts by the column, as a table has them: texts, numbers, lists, or None. They are
        for learners with named features; X then has no columns.

    Raises
    ------
    InputError
        If the matrices are not of finite numbers, Y has others than 0 and 1, or sizes differ.

    Examples
    --------
    >>> toy = Dataset("toy", [[1, 0], [0, 1], [1, 1]], [[1, 0, 0], [0, 1, 1], [1, 0, 0]])
    >>> toy.n, toy.d, toy.K, round(toy.cardinality, 2), round(toy.density, 2)
    (3, 2, 3, 1.33, 0.44)
    """

    name: str
    X_train: Matrix
    Y_train: Matrix
    X_test: Matrix | None = None
    Y_test: Matrix | None = None
    feature_names: tuple[str, ...] = ()
    label_names: tuple[str, ...] = ()
    source: str = ""
    columns_train: Columns | None = None
    columns_test: Columns | None = None

    def __post_init__(self) -> None:
        if (self.X_test is None) != (self.Y_test is None):
            raise InputError("X_test and Y_test come together: one of them is missing")
        self._check_matrices("train")
        self._check_columns()
        if self.X_test is not None:
            self._check_matrices("test")
            _check_alike(self.X_train, self.X_test, "X", "features")
            _check_alike(self.Y_train, self.Y_test, "Y", "labels")
        self._check_names("feature_names", self.d)
        self._check_names("label_names", self.K)
        if len(set(self.label_names)) != len(self.label_names):
            twice = next(n for n in self.label_names if self.label_names.count(n) > 1)
            raise InputError(f"label_names holds {twice!r} twice; each label needs its own name")

    def _check_matrices(self, part: str) -> None:
        has_columns = bool(getattr(self, f"columns_{part}"))
        X = _context_matrix(getattr(self, f"X_{part}"), f"X_{part}", may_be_empty=has_columns)
        Y = _label_matrix(getattr(self, f"Y_{part}"), f"Y_{part}")
        if X.shape[0] != Y.shape[0]:
            raise InputError(
                f"X_{part} has {X.shape[0]} rows and Y_{part} {Y.shape[0]}: "
                "each context needs a row in both"
            )
        object.__setattr__(self, f"X_{part}", X)
        object.__setattr__(self, f"Y_{part}", Y)

    def _check_columns(self) -> None:
        """Columns are there for both parts or none, the same ones, with a value for each row."""
        if (self.columns_test is None) != (self.columns_train is None or self.X_test is None):
            raise InputError("columns_train and columns_test come together: one of them is missing")
        for part in ("train", "test"):
            columns = getattr(self, f"columns_{part}") or {}
            rows = getattr(self, f"n_{part}")
            if columns.keys() != (self.columns_train or {}).keys() and rows:
                raise InputError("columns_train and columns_test have different columns")
            for name, column in columns.items():
                if len(column) != rows:
                    raise InputError(f"column {name!r} has {len(column)} values for {rows} rows")

    def _check_names(self, field: str, size: int) -> None:
        names = tuple(str(name) for name in getattr(self, field))
        if names and len(names) != size:
            raise InputError(f"{field} has {len(names)} names for {size} columns")
        object.__setattr__(self, field, names)

    @property
    def n_train(self) -> int:
        """The number of rows for training."""
        return int(self.X_train.shape[0])

    @property
    def n_test(self) -> int:
        """The number of rows for testing; 0 if there is no split."""
        return 0 if self.X_test is None else int(self.X_test.shape[0])

    @property
    def n(self) -> int:
        """The number of all rows."""
        return self.n_train + self.n_test

    @property
    def d(self) -> int:
        """The number of features: columns of X, or of the table."""
        return int(self.X_train.shape[1]) if self.columns_train is None else len(self.columns_train)

    @property
    def K(self) -> int:
        """The number of labels."""
        return int(self.Y_train.shape[1])

    @property
    def cardinality(self) -> float:
        """Relevant labels per row, on average over all rows."""
        relevant = int(self.Y_train.sum(dtype=np.int64))
        if self.Y_test is not None:
            relevant += int(self.Y_test.sum(dtype=np.int64))
        return relevant / self.n

    @property
    def density(self) -> float:
        """The share of labels that are relevant: cardinality / K."""
        return self.cardinality / self.K

    @property
    def sparse(self) -> bool:
        """Whether X is sparse (CSR)."""
        return not isinstance(self.X_train, np.ndarray)

    @property
    def rows_without_features(self) -> int:
        """The number of rows of X that are all zero; learners need a bias for these."""
        if self.columns_train is not None:  # all that is known of a row may be unknown
            return self.n
        return sum(_empty_rows(X) for X in (self.X_train, self.X_test) if X is not None)

    @property
    def rows_without_labels(self) -> int:
        """The number of rows without a relevant label."""
        return sum(_empty_rows(Y) for Y in (self.Y_train, self.Y_test) if Y is not None)

    @cached_property
    def checksum(self) -> str:
        """The sha256 of the content of X and Y; it does not depend on the file it came from."""
        digest = hashlib.sha256()
        for field in ("X_train", "Y_train", "X_test", "Y_test"):
            matrix = getattr(self, field)
            if matrix is not None:
                digest.update(f"{field} {matrix.shape} {matrix.dtype.name}".encode())
                for array in _arrays(matrix):
                    digest.update(np.ascontiguousarray(array).data)
        for part in ("train", "test"):
            columns = getattr(self, f"columns_{part}")
            if columns is not None:
                digest.update(f"columns_{part} {json.dumps(dict(columns))}".encode())
        return digest.hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the data set to one .npz file, which `Dataset.load` reads; see `write_npz`."""
        from semibandit.data.formats.npz import write_npz

        write_npz(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Dataset:
        """Read the data set of an .npz file; see `read_npz`."""
        from semibandit.data.formats.npz import read_npz

        return read_npz(path)


def _context_matrix(X: Any, name: str, may_be_empty: bool) -> Matrix:
    matrix = _matrix(X, name, may_be_empty)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    if not np.isfinite(values).all():
        if isinstance(matrix, np.ndarray):
            row, column = (int(i[0]) for i in np.nonzero(~np.isfinite(matrix)))
            raise InputError(f"{name}[{row}, {column}] is {matrix[row, column]}; expected a number")
        raise InputError(f"{name} holds {values[~np.isfinite(values)][0]}; expected numbers")
    return matrix


def _label_matrix(Y: Any, name: str) -> Matrix:
    matrix = _matrix(Y, name)
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    wrong = values[(values != 0) & (values != 1)]
    if wrong.size:
        raise InputError(f"{name} holds {wrong.flat[0]}; relevant labels are 1, others 0")
    return matrix.astype(np.uint8) if matrix.dtype != np.uint8 else matrix


def _matrix(value: Any, name: str, may_be_empty: bool = False) -> Matrix:
    """A dense matrix or a sparse one in canonical form, of numbers; with columns, if it must."""
    matrix: Matrix
    if hasattr(value, "tocsr"):
        from scipy.sparse import csr_array

        matrix = csr_array(value)
        if not matrix.has_canonical_format or not matrix.data.all():
            matrix = matrix.copy()  # the caller's matrix stays as it was
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
    elif np.ma.is_masked(value):
        raise InputError(f"{name} has masked values; expected a number in every place")
    else:
        matrix = np.asarray(value)
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold numbers, got an array of {matrix.dtype}")
    if matrix.ndim != 2 or not matrix.shape[0] or not (matrix.shape[1] or may_be_empty):
        raise InputError(
            f"{name} must be a matrix with a row per context, got shape {matrix.shape}"
        )
    return matrix


def _check_alike(train: Matrix, test: Matrix, letter: str, what: str) -> None:
    if train.shape[1] != test.shape[1]:
        raise InputError(
            f"{letter}_train has {train.shape[1]} {what}, {letter}_test has {test.shape[1]}"
        )
    if type(train) is not type(test):
        raise InputError(f"{letter}_train and {letter}_test must both be dense or both sparse")


def _arrays(matrix: Matrix) -> list[Any]:
    if isinstance(matrix, np.ndarray):
        return [matrix]
    return [matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)]


def _empty_rows(matrix: Matrix) -> int:
    if isinstance(matrix, np.ndarray):
        return int((~matrix.any(axis=1)).sum())
    return int((np.diff(matrix.indptr) == 0).sum())
