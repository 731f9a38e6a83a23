"""A multilabel data set: contexts X, relevant labels Y, names, and the official split."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from semibandit.errors import InputError

__all__ = ["Dataset", "Matrix"]

Matrix: TypeAlias = Any  # a 2-d NumPy array or a scipy csr_array


@dataclass(frozen=True, eq=False)
class Dataset:
    """Contexts and relevant labels, for training and, where there is a split, for testing.

    X_train, X_test  n×d floats, dense or CSR; integers become float64, float32 stays
    Y_train, Y_test  n×K zeros and ones (uint8), dense or CSR; the test part may be absent
    feature_names    d names, or none at all
    label_names      K names, or none at all
    source           where it came from, in words

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

    def __post_init__(self) -> None:
        if (self.X_test is None) != (self.Y_test is None):
            raise InputError("X_test and Y_test come together: one of them is missing")
        for part in ("train", "test"):
            if part == "test" and self.X_test is None:
                continue
            X = _contexts(getattr(self, f"X_{part}"), f"X_{part}")
            Y = _labels(getattr(self, f"Y_{part}"), f"Y_{part}")
            if X.shape[0] != Y.shape[0]:
                raise InputError(
                    f"X_{part} has {X.shape[0]} rows and Y_{part} {Y.shape[0]}: "
                    "each context needs one of both"
                )
            object.__setattr__(self, f"X_{part}", X)
            object.__setattr__(self, f"Y_{part}", Y)
        if self.X_test is not None:
            _same_width(self.X_train, self.X_test, "X", "features")
            _same_width(self.Y_train, self.Y_test, "Y", "labels")
        for field, size in (("feature_names", self.d), ("label_names", self.K)):
            names = tuple(str(name) for name in getattr(self, field))
            if names and len(names) != size:
                raise InputError(f"{field} has {len(names)} names for {size} columns")
            object.__setattr__(self, field, names)
        if len(set(self.label_names)) != len(self.label_names):
            twice = next(n for n in self.label_names if self.label_names.count(n) > 1)
            raise InputError(f"label_names holds {twice!r} twice; labels need names of their own")

    @property
    def n_train(self) -> int:
        """Rows to learn from."""
        return int(self.X_train.shape[0])

    @property
    def n_test(self) -> int:
        """Rows of the official test part; 0 where there is none."""
        return 0 if self.X_test is None else int(self.X_test.shape[0])

    @property
    def n(self) -> int:
        """All rows."""
        return self.n_train + self.n_test

    @property
    def d(self) -> int:
        """Features of a context."""
        return int(self.X_train.shape[1])

    @property
    def K(self) -> int:
        """Labels."""
        return int(self.Y_train.shape[1])

    @property
    def cardinality(self) -> float:
        """Relevant labels of a row, on average over both parts."""
        relevant = int(self.Y_train.sum(dtype=np.int64))
        if self.Y_test is not None:
            relevant += int(self.Y_test.sum(dtype=np.int64))
        return relevant / self.n

    @property
    def density(self) -> float:
        """How likely a label is relevant: cardinality / K."""
        return self.cardinality / self.K

    @property
    def sparse(self) -> bool:
        """Whether X is kept as CSR."""
        return not isinstance(self.X_train, np.ndarray)

    @property
    def rows_without_features(self) -> int:
        """Rows of zeros in X, which a learner takes only with a bias."""
        return sum(_empty_rows(X) for X in (self.X_train, self.X_test) if X is not None)

    @property
    def rows_without_labels(self) -> int:
        """Rows to which no label is relevant."""
        return sum(_empty_rows(Y) for Y in (self.Y_train, self.Y_test) if Y is not None)

    @cached_property
    def checksum(self) -> str:
        """sha256 of what X and Y hold: the same data has the same, whatever file it came in."""
        digest = hashlib.sha256()
        for field in ("X_train", "Y_train", "X_test", "Y_test"):
            matrix = getattr(self, field)
            if matrix is not None:
                digest.update(f"{field} {matrix.shape} {matrix.dtype.name}".encode())
                for array in _arrays(matrix):
                    digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one .npz, whole or not at all; `Dataset.load` gives it back to the bit."""
        from semibandit.data.formats.npz import write_npz

        write_npz(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Dataset:
        """The data set of an .npz file that `save` wrote."""
        from semibandit.data.formats.npz import read_npz

        return read_npz(path)


def _contexts(X: Any, name: str) -> Matrix:
    matrix = _matrix(X, name)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    if not np.isfinite(values).all():
        if isinstance(matrix, np.ndarray):
            row, column = (int(i[0]) for i in np.nonzero(~np.isfinite(matrix)))
            raise InputError(f"{name}[{row}, {column}] is {matrix[row, column]}; expected a number")
        raise InputError(f"{name} holds {values[~np.isfinite(values)][0]}; expected numbers")
    return matrix


def _labels(Y: Any, name: str) -> Matrix:
    matrix = _matrix(Y, name)
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    wrong = values[(values != 0) & (values != 1)]
    if wrong.size:
        raise InputError(f"{name} holds {wrong.flat[0]}; relevant labels are 1, others 0")
    return matrix.astype(np.uint8) if matrix.dtype != np.uint8 else matrix


def _matrix(value: Any, name: str) -> Matrix:
    """A 2-d array, or a CSR one in canonical form, of numbers and with something in it."""
    matrix: Matrix
    if hasattr(value, "tocsr"):
        from scipy.sparse import csr_array

        matrix = csr_array(value)
        if not matrix.has_canonical_format or not matrix.data.all():
            matrix = matrix.copy()  # the caller keeps theirs as it was
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
    else:
        matrix = np.asarray(value)
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold numbers, got an array of {matrix.dtype}")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            f"{name} must have a row per context and a column each, got shape {matrix.shape}"
        )
    return matrix


def _same_width(train: Matrix, test: Matrix, letter: str, what: str) -> None:
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
