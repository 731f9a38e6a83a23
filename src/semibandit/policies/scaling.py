"""How contexts are scaled: contexts as people have them in, vectors of unit length out.

Euros, years and shares go to one model: a feature in the thousands would drown the others. So each
feature is measured by its own running mean and deviation. Nothing of that depends on what was
shown: the vectors of a whole data set can be computed ahead, and are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.checks import nearest, shortened
from semibandit._util.numba import has_numba
from semibandit._util.reproducible import dot
from semibandit.errors import InputError
from semibandit.models.model import Arrays, Sparse, Vector, dense, take

__all__ = ["AVERAGE", "LARGEST", "SCALES", "Scaling", "ScalingSums"]

SCALES = ("standard", "unit", "none")
SUMS = ("unknown", "origin", "sum", "sum2")  # what is kept of each feature
CLIP = 5.0  # deviations from the mean beyond which a feature is no further away
ROUNDING = 1e-13  # a variance below this share of the mean square is rounding, not variance
AVERAGE = 1e-9  # deviations shorter than this are rounding: they have no direction
LONGEST2 = 1.0 + 1e-9  # squared lengths up to this are 1, up to rounding
LARGEST = 1e100  # of features: the sums of their squares must stay finite
ALL_ZEROS = "context is all zeros: there is nothing to tell labels apart by"


class ScalingSums(NamedTuple):
    """What a scaling keeps of each feature, for compiled functions, which change it in place."""

    n: Ints  # one number: contexts so far
    unknown: Floats
    origin: Floats
    sum: Floats
    sum2: Floats


class Scaling:
    """Scales contexts, and for "standard" keeps the running mean and deviation of every feature.

    Parameters
    ----------
    kind : {"standard", "unit", "none"}
        "standard": by each feature's mean and deviation in the contexts learned so far and this
        one, clipped to 5 deviations, then to unit length, then the bias with equal weight. A
        sparse context is divided by the root mean square alone, so that zeros stay zeros. A
        feature that is unknown (nan) counts as average. "unit": the bias is appended, then all
        of it scaled to unit length, as the paper assumes. "none": as it is.
    size : int
        How many features there are.
    bias : bool
        Whether a constant feature is appended.

    Examples
    --------
    >>> scaling = Scaling("standard", size=2, bias=True)
    >>> scaling.add(np.array([2001.0, 0.1]))
    >>> scaling.scaled(np.array([2003.0, 0.3]))  # one deviation above the mean, both of them
    array([0.5       , 0.5       , 0.70710678])
    """

    on_longer: Callable[[], None] | None = None  # called if "none" leaves a context longer than 1

    def __init__(self, kind: str, size: int, bias: bool) -> None:
        if kind not in SCALES:
            hint = nearest(kind, SCALES) if isinstance(kind, str) else ""
            raise InputError(
                f"scale = {shortened(kind)}, but it must be 'standard', 'unit' or 'none'{hint}"
            )
        self.kind, self.size, self.bias = kind, size, bias
        self.n = 0  # contexts so far
        tracked = size if kind == "standard" else 0
        self.unknown = np.zeros(tracked)  # in how many of them each feature was unknown
        self.origin = np.zeros(tracked)  # its first value: sums are of differences from it
        self.sum, self.sum2 = np.zeros(tracked), np.zeros(tracked)

    @property
    def learns(self) -> bool:
        """Whether the same context may be scaled otherwise once others were added."""
        return self.kind == "standard"

    @property
    def seen_all(self) -> bool:
        """Whether every feature has been known at least once."""
        return self.n > 0 and not (self.unknown == self.n).any()

    # -- one context ---------------------------------------------------------------------------

    def scaled(self, raw: Vector) -> Vector:
        """The context as the model sees it, as if it had been added; nothing changes."""
        if not self.learns:
            return self._plain(raw)
        if isinstance(raw, Sparse):
            index, value = raw.index, raw.value
            v = value - self.origin[index]
            n = self.n + 1 - self.unknown[index]
            z = self._uncentred(index, value, self.sum[index] + v, self.sum2[index] + v * v, n)
        else:
            z = self._deviations(raw)
        return self._finished(raw, z)

    def add(self, raw: Vector) -> None:
        """Count a context: the next one is measured by this one, too."""
        if not self.learns:
            return
        if isinstance(raw, Sparse):
            self._add_sparse(raw.index, raw.value)
            return
        known = ~np.isnan(raw)
        first = known & (self.n == self.unknown)
        self.origin = np.where(first, raw, self.origin)
        v = np.where(known, raw - self.origin, 0.0)
        self.sum, self.sum2 = self.sum + v, self.sum2 + v * v
        self.unknown = self.unknown + ~known
        self.n += 1

    def copy(self) -> Scaling:
        """Another one that has counted the same."""
        twin = Scaling(self.kind, self.size, self.bias)
        twin.set_sums(self.sums())
        return twin

    # -- many contexts -------------------------------------------------------------------------

    def scaled_in_turn(self, X: Any, first: int = 0) -> Any:
        """Rows of a matrix (dense or CSR), each as if those before it had been added.

        Nothing changes; the rows are those that `scaled` and `add` would give by turns. An error
        names the row, counted from `first`.
        """
        if not self.learns:
            return self._plain_rows(X, first)
        if hasattr(X, "tocsr"):
            return self._sparse_in_turn(X)
        return self._dense_in_turn(X, first)

    def add_rows(self, X: Any) -> None:
        """`add` every row of a matrix (dense or CSR), in its order."""
        if not self.learns or not X.shape[0]:
            return
        if hasattr(X, "tocsr"):
            for t in range(X.shape[0]):
                part = slice(X.indptr[t], X.indptr[t + 1])
                self._add_sparse(X.indices[part], X.data[part])
        elif not self.seen_all or np.isnan(X).any():
            for row in X:
                self.add(row)
        else:
            V = X - self.origin
            self.sum = np.cumsum(np.concatenate([self.sum[None, :], V]), axis=0)[-1]
            self.sum2 = np.cumsum(np.concatenate([self.sum2[None, :], V * V]), axis=0)[-1]
            self.n += len(X)

    def sums(self) -> ScalingSums:
        """Copies of the sums; arrays are empty if the scale counts nothing."""
        n, columns = np.array([self.n]), (getattr(self, name).copy() for name in SUMS)
        return ScalingSums(n, *columns)

    def set_sums(self, sums: ScalingSums) -> None:
        """Take over sums to which contexts were added."""
        self.n = int(sums.n[0])
        self.unknown, self.origin, self.sum, self.sum2 = sums[1:]

    # -- files ---------------------------------------------------------------------------------

    def arrays(self) -> Arrays:
        """What was counted, as named arrays."""
        if not self.learns:
            return {}
        sums = {name: getattr(self, name) for name in SUMS}
        return {"n": np.array([self.n], dtype=np.int64), **sums}

    def restore(self, arrays: Arrays) -> None:
        """Take over what `arrays` gave; `FileError` if it is damaged."""
        if not self.learns:
            return
        count = int(take(arrays, "n", (1,), np.int64)[0])
        sums = {name: take(arrays, name, (self.size,)) for name in SUMS}
        self.n = count
        vars(self).update(sums)

    # -- the arithmetic ------------------------------------------------------------------------

    def _deviations(self, raw: Floats) -> Floats:
        """z of a dense context: 0 if a feature is unknown, or was the same in all contexts."""
        origin = self.origin if self.n else raw
        if (self.unknown == self.n).any():
            origin = np.where(self.unknown == self.n, raw, origin)
        v = raw - origin
        known = ~np.isnan(v)
        if not known.all():
            v = np.where(known, v, 0.0)
        n = self.n + known - self.unknown
        z = _standardised(v, self.sum + v, self.sum2 + v * v, n)
        return z if known.all() else np.where(known, z, 0.0)

    def _uncentred(self, index: Any, value: Any, total: Any, squares: Any, n: Any) -> Floats:
        """z of a sparse context: its entries by their root mean square."""
        origin = self.origin[index]
        mean2 = (squares + 2.0 * origin * total) / n + origin * origin
        z: Floats = np.divide(value, np.sqrt(mean2), out=np.zeros_like(value), where=mean2 > 0)
        return np.clip(z, -CLIP, CLIP)

    def _add_sparse(self, index: Any, value: Any) -> None:
        if self.n and self.origin.any():  # dense contexts came first: the zeros count, too
            full = np.zeros(self.size)
            full[index] = value
            self.add(full)
            return
        self.sum[index] += value
        self.sum2[index] += value * value
        self.n += 1

    def _sparse_in_turn(self, X: Any) -> Any:
        from scipy.sparse import csr_array

        twin, rows = deepcopy(self), []
        for t in range(X.shape[0]):
            part = slice(X.indptr[t], X.indptr[t + 1])
            raw = Sparse(X.indices[part].astype(np.intp), X.data[part], self.size)
            x = twin.scaled(raw)
            assert isinstance(x, Sparse)
            rows.append(x)
            twin._add_sparse(raw.index, raw.value)
        ptr = np.concatenate([[0], np.cumsum([len(x.index) for x in rows])])
        index = np.concatenate([x.index for x in rows]) if rows else np.empty(0, dtype=np.intp)
        value = np.concatenate([x.value for x in rows]) if rows else np.empty(0)
        return csr_array((value, index, ptr), shape=(X.shape[0], self.size + self.bias))

    def _dense_in_turn(self, X: Floats, first: int) -> Floats:
        twin, out, t = deepcopy(self), np.empty((len(X), self.size + self.bias)), 0
        quick = has_numba() and not np.isnan(X).any()
        while t < len(X) and not (quick and twin.seen_all):
            try:
                out[t] = dense(twin.scaled(X[t]))
            except InputError as why:
                raise InputError(f"row {first + t} of X: {why}") from None
            twin.add(X[t])
            t += 1
        while t < len(X):  # compiled code takes over; it stops at a context without a direction
            from semibandit.policies.compiled import standardise_in_turn

            n = twin.n - twin.unknown
            sums = twin.sum.copy(), twin.sum2.copy(), n
            done = standardise_in_turn(X[t:], twin.origin, *sums, self.bias, out[t:])
            t += done
            if t < len(X):
                twin.add_rows(X[t - done : t])
                out[t] = dense(twin.scaled(X[t]))
                twin.add(X[t])
                t += 1
        return out

    def _finished(self, raw: Vector, z: Floats) -> Vector:
        """Unit length, and the bias with equal weight."""
        norm = float(np.sqrt(dot(z, z)))
        if norm > AVERAGE:
            value = z / norm
            if self.bias:
                value = np.append(value, 1.0) * np.sqrt(0.5)
        elif self.bias:
            value = np.append(np.zeros_like(z), 1.0)  # an average context: the bias is all there is
        else:
            return self._plain(raw, "unit")  # it has no direction but its own
        return _like(raw, value, self.bias)

    def _plain(self, raw: Vector, kind: str | None = None) -> Vector:
        """The scales that count nothing."""
        value = raw.value if isinstance(raw, Sparse) else raw
        if np.isnan(value).any():
            value = np.nan_to_num(value, nan=0.0)
        if self.bias:
            value = np.append(value, 1.0)
        biggest = float(np.abs(value).max(initial=0.0))
        if biggest == 0.0:
            raise InputError(ALL_ZEROS)
        if (kind or self.kind) == "unit":
            value = value / biggest  # first, so that squares neither overflow nor vanish
            value /= np.sqrt(dot(value, value))
        elif self.on_longer is not None and value @ value > LONGEST2:
            self.on_longer()
        return _like(raw, value, self.bias)

    def _plain_rows(self, X: Any, first: int) -> Any:
        T = X.shape[0]
        if hasattr(X, "tocsr"):
            from scipy.sparse import csr_array, hstack

            biggest = np.abs(X).max(axis=1).toarray().ravel()
            rows = csr_array(hstack([X, np.ones((T, 1))], format="csr")) if self.bias else X
            biggest = np.maximum(biggest, 1.0) if self.bias else biggest
            _check_rows(biggest, first)
            if self.kind == "unit":
                rows = csr_array(rows.multiply(1.0 / biggest[:, None]))
                rows = csr_array(rows.multiply(1.0 / np.sqrt(rows.power(2).sum(axis=1))[:, None]))
            elif self.on_longer is not None and rows.power(2).sum(axis=1).max() > LONGEST2:
                self.on_longer()
            return rows
        rows = np.nan_to_num(X, nan=0.0) if np.isnan(X).any() else X
        rows = np.concatenate([rows, np.ones((T, 1))], axis=1) if self.bias else rows
        biggest = np.abs(rows).max(axis=1)
        _check_rows(biggest, first)
        if self.kind == "unit":
            rows = rows / biggest[:, None]
            rows /= np.sqrt(dot(rows, rows))[:, None]
        elif self.on_longer is not None and (rows * rows).sum(axis=1).max(initial=0.0) > LONGEST2:
            self.on_longer()
        return rows


def _standardised(v: Floats, total: Floats, squares: Floats, n: Floats) -> Floats:
    """(v - mean) / deviation, clipped; 0 where there is no deviation."""
    n = np.maximum(n, 1.0)
    mean, mean2 = total / n, squares / n
    variance = mean2 - mean * mean
    there = variance > ROUNDING * mean2
    z = np.divide(v - mean, np.sqrt(np.where(there, variance, 1.0)))
    return np.clip(np.where(there, z, 0.0), -CLIP, CLIP)


def _check_rows(biggest: Floats, first: int) -> None:
    zero = np.flatnonzero(biggest == 0)
    if len(zero):
        raise InputError(f"row {first + int(zero[0])} of X: {ALL_ZEROS}")


def _like(raw: Vector, value: Floats, bias: bool) -> Vector:
    """The values as a vector of the kind that `raw` is."""
    if not isinstance(raw, Sparse):
        return value
    if not bias:
        return replace(raw, value=value)
    return Sparse(np.append(raw.index, raw.size), value, raw.size + 1)
