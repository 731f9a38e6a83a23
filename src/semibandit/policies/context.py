"""Contexts as users give them: checked, not yet scaled (`scaling.py`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import shortened
from semibandit.errors import InputError
from semibandit.models.model import Sparse, Vector
from semibandit.policies.features.encoded import NewValues
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.features.hashed import Hashed

__all__ = ["check_numbers", "read_context", "read_contexts", "read_new", "read_seen", "unmasked"]


def read_context(
    x: Any, n_features: int, most: float = math.inf, features: NamedFeatures | None = None
) -> Vector:
    """Check a context, and copy it.

    Parameters
    ----------
    x : sequence of float, array or scipy-sparse row
        The context as the user gives it.
    n_features : int
        How many numbers it must have.
    most : float
        The size that no feature may exceed.
    features : Features or Hashed, optional
        What the numbers are the encoded values of: then nan is allowed, and means unknown.

    Raises
    ------
    InputError
        If it has another length, or holds a number that is not finite, or too large.

    Examples
    --------
    >>> read_context([3, 4], 2)
    array([3., 4.])
    """
    vector = _sparse(x) if hasattr(x, "tocsr") else _dense(unmasked(x, features))
    size = vector.size if isinstance(vector, Sparse) else len(vector)
    if size != n_features and features is None:
        raise InputError(f"context has {size} features, this model was built for {n_features}")
    if size != n_features:
        raise InputError(
            f"context has {size} numbers, but this model's features have names: "
            f"give {{name: value}}, or the {n_features} numbers that this is encoded as"
        )
    check_numbers(vector, most, features)
    if isinstance(features, Hashed) and not isinstance(vector, Sparse):
        index = np.flatnonzero(vector)
        return Sparse(index, vector[index], size)  # as `Hashed` encodes it, so never centred
    return vector


def check_numbers(vector: Vector, most: float, features: NamedFeatures | None = None) -> None:
    """Raise `InputError` if a number is not finite, or larger than `most` in size.

    With named features nan is allowed, and the text names the feature.
    """
    value = vector.value if isinstance(vector, Sparse) else vector
    biggest = _biggest(value, features)
    if not math.isfinite(biggest) or biggest > most:
        bad = ~(np.abs(value) <= most) | ~np.isfinite(value)
        at = int(np.flatnonzero(bad if features is None else bad & ~np.isnan(value))[0])
        place = int(vector.index[at]) if isinstance(vector, Sparse) else at
        wanted = "a finite number" if most == math.inf else f"a number of at most {most:g} in size"
        if features is not None:
            name = features.columns[place]
            raise InputError(f"feature {name!r} is {value[at]}, but it must be {wanted}")
        raise InputError(f"context[{place}] is {value[at]}; every feature must be {wanted}")


def read_contexts(
    X: Any, n_features: int, most: float = math.inf, first: int = 0,
    features: NamedFeatures | None = None,
) -> Any:  # fmt: skip
    """`read_context` for every row of a matrix at once; CSR if X is sparse, or for `Hashed`.

    An error names the row, counted from `first`.
    """
    T, size = X.shape
    if features is not None:
        X = unmasked(X, features)
    rows: Any = X.tocsr().astype(np.float64) if hasattr(X, "tocsr") else np.asarray(X)
    values = rows.data if hasattr(X, "tocsr") else rows
    good = values.dtype.kind in "biuf" and size == n_features and not np.ma.is_masked(X)
    if good and values.size:
        biggest = _biggest(values, features)
        good = math.isfinite(biggest) and biggest <= most
    if not good:
        for t in range(T):  # find the row, in the words of `read_context`
            try:
                read_context(X[[t]], n_features, most, features)
            except InputError as why:
                raise InputError(f"row {first + t} of X: {why}") from None
    if hasattr(X, "tocsr") or isinstance(features, Hashed):
        from scipy.sparse import csr_array

        rows = csr_array(rows)
        rows.sum_duplicates()
        return rows
    return rows.astype(np.float64, copy=False)


def unmasked(x: Any, features: NamedFeatures | None = None) -> Any:
    """Numbers without a mask: what is masked becomes nan, unknown, as named features may be.

    Raises
    ------
    InputError
        If a value is masked and the features have no names, so that none may be unknown.

    Examples
    --------
    >>> unmasked(np.ma.array([3, 4], mask=[False, True]))
    Traceback (most recent call last):
        ...
    semibandit.errors.InputError: context has masked values: [3 --]; every feature must be a number
    """
    if not isinstance(x, np.ma.MaskedArray):
        return x
    if features is None and np.ma.is_masked(x):
        raise InputError(f"context has masked values: {x}; every feature must be a number")
    return np.ma.filled(x.astype(np.float64), np.nan) if x.dtype.kind in "biuf" else x.tolist()


def _biggest(values: Floats, features: NamedFeatures | None) -> float:
    """The size of the largest number; nan if there is one and none is allowed."""
    sizes = np.abs(values)
    largest = (
        sizes.max(initial=0.0)
        if features is None
        else np.fmax.reduce(sizes, axis=None, initial=0.0)
    )
    return float(largest)


def _dense(x: Any) -> Floats:
    try:
        array = np.asarray(x)
        if array.dtype.kind not in "biuf":
            if array.dtype.kind != "O":
                raise TypeError
            array = np.asarray([float(value) for value in array], dtype=np.float64)
        array = array.astype(np.float64)  # a copy: the slate keeps it, the caller may change theirs
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
        np.array(row.data, dtype=np.float64),
        int(row.shape[1]),
    )


def read_seen(seen: Floats, n_inputs: int) -> Floats:
    """What the model saw of a context, as a log has it; an `InputError` if it is of another size.

    Every number must be finite.
    """
    vector = np.asarray(seen, dtype=np.float64)
    if vector.shape != (n_inputs,) or not np.all(np.isfinite(vector)):
        raise InputError(
            f"seen = {shortened(seen)}, but the model of this learner sees {n_inputs} "
            "finite numbers"
        )
    return vector


def read_new(new: NewValues, known: Mapping[str, Sequence[str]]) -> NewValues:
    """New values of open categories and sets, which must be among the features of `known`."""
    for name, values in new.items():
        if name not in known or not all(isinstance(value, str) for value in values):
            raise InputError(
                f"new = {shortened(new)}, but it must have the new values of open categories "
                "and sets, by feature"
            )
    return new
