"""Contexts: what a user gives, and the unit vector that the maths gets."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import shortened
from semibandit.errors import InputError
from semibandit.models.model import Sparse, Vector, dense

__all__ = ["read_context", "read_contexts"]


def read_context(x: Any, n_features: int, *, bias: bool, normalize: bool, sparse: bool) -> Vector:
    """Check a context, append the bias, and scale it to unit length.

    Parameters
    ----------
    x : sequence of float, array or scipy-sparse row
        The context as the user gives it.
    n_features : int
        How many numbers it must have.
    bias, normalize : bool
        Whether to append a constant 1, and whether to scale to unit L2 norm.
    sparse : bool
        Whether a sparse context may stay `Sparse`; if not, it becomes an array.

    Raises
    ------
    InputError
        If it has another length, holds a number that is not finite, or is all zeros.

    Examples
    --------
    >>> read_context([3, 4], 2, bias=False, normalize=True, sparse=False)
    array([0.6, 0.8])
    """
    vector = _sparse(x) if hasattr(x, "tocsr") else _dense(x)
    size = vector.size if isinstance(vector, Sparse) else len(vector)
    if size != n_features:
        raise InputError(
            f"context has {size} features, this model was built for {n_features}"
            f"{' (the bias is added to them)' if bias else ''}"
        )
    value = vector.value if isinstance(vector, Sparse) else vector
    biggest = float(np.abs(value).max(initial=0.0))
    if not math.isfinite(biggest):
        at = int(np.flatnonzero(~np.isfinite(value))[0])
        place = int(vector.index[at]) if isinstance(vector, Sparse) else at
        raise InputError(f"context[{place}] is {value[at]}; every feature must be a finite number")
    if bias:
        vector, biggest = _with_one(vector), max(biggest, 1.0)
        value = vector.value if isinstance(vector, Sparse) else vector
    if biggest == 0.0:
        raise InputError("context is all zeros: there is nothing to tell labels apart by")
    if normalize:
        value = value / biggest  # first, so that squares neither overflow nor vanish
        value /= np.sqrt(value @ value)
    elif not bias:
        value = value.copy()  # the slate keeps it; the caller may change theirs
    vector = replace(vector, value=value) if isinstance(vector, Sparse) else value
    return vector if sparse else dense(vector)


def read_contexts(
    X: Any, n_features: int, *, bias: bool, normalize: bool, sparse: bool, first: int = 0
) -> Any:
    """`read_context` for every row of a matrix at once.

    An error names the row, counted from `first`. The result is CSR if `sparse` and X is sparse.
    """
    T, size = X.shape
    rows: Any = X.tocsr().astype(np.float64) if hasattr(X, "tocsr") else np.asarray(X)
    values = rows.data if hasattr(X, "tocsr") else rows
    good = values.dtype.kind in "biuf" and size == n_features and bool(np.all(np.isfinite(values)))
    if good:
        biggest = np.abs(rows).max(axis=1)
        biggest = biggest.toarray().ravel() if hasattr(X, "tocsr") else biggest
        if bias:
            biggest = np.maximum(biggest, 1.0)
        good = bool(np.all(biggest > 0))
    if not good:  # find the row, in the words of `read_context`
        for t in range(T):
            try:
                read_context(X[[t]], n_features, bias=bias, normalize=False, sparse=True)
            except InputError as why:
                raise InputError(f"row {first + t} of X: {why}") from None
    if hasattr(X, "tocsr"):
        from scipy.sparse import csr_array, hstack

        rows = csr_array(rows)
        rows.sum_duplicates()
        if bias:
            rows = csr_array(hstack([rows, np.ones((T, 1))], format="csr"))
        if normalize:
            rows = csr_array(rows.multiply(1.0 / biggest[:, None]))
            rows = csr_array(rows.multiply(1.0 / np.sqrt(rows.power(2).sum(axis=1))[:, None]))
        return rows if sparse else rows.toarray()
    rows = rows.astype(np.float64)
    if bias:
        rows = np.concatenate([rows, np.ones((T, 1))], axis=1)
    if normalize:
        rows = rows / biggest[:, None]
        rows /= np.sqrt(np.einsum("tc,tc->t", rows, rows))[:, None]
    return rows


def _dense(x: Any) -> Floats:
    try:
        array = np.asarray(x)
        if array.dtype.kind not in "biuf":
            if array.dtype.kind != "O":
                raise TypeError
            array = np.asarray([float(value) for value in array], dtype=np.float64)
        array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"context must be a list of numbers, got {shortened(x)}") from None
    if array.ndim == 2 and array.shape[0] == 1:
        array = array[0]
    if array.ndim != 1:
        raise InputError(f"context must be one vector, got an array of shape {array.shape}")
    return array


def _sparse(x: Any) -> Sparse:
    row = x if x.ndim == 2 else x.reshape(1, -1)
    row = row.tocsr()
    if row.shape[0] != 1:
        raise InputError(f"context must be one row, got a sparse array of shape {row.shape}")
    if not row.has_canonical_format:
        row = row.copy()
        row.sum_duplicates()
    return Sparse(
        np.asarray(row.indices, dtype=np.intp),
        np.asarray(row.data, dtype=np.float64),
        int(row.shape[1]),
    )


def _with_one(vector: Vector) -> Vector:
    if isinstance(vector, Sparse):
        index, value = np.append(vector.index, vector.size), np.append(vector.value, 1.0)
        return Sparse(index, value, vector.size + 1)
    return np.append(vector, 1.0)
