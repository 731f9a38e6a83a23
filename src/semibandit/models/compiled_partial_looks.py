# mypy: ignore-errors
"""Some labels of full matrices seen at some contexts: compiled functions.

They take arrays, change arrays and check nothing. Of a dense matrix only the lower half is read.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from semibandit._util.jit import FAST
from semibandit._util.numba import mark_loaded
from semibandit.models.compiled_looks import quadratic_of_one
from semibandit.models.compiled_steps import dot
from semibandit.models.compiled_types import Rows

__all__ = ["look_at_each", "look_at_same", "prepare"]


@njit(**FAST)
def look_at_row(j, x, xx, rows, acc):
    """Margin and squared norm of row j at x, or those of an untouched label if j is -1."""
    if j < 0:
        return xx * 0, xx
    if rows.block_of[j] >= 0:
        return dot(rows.w[j], x), quadratic_of_one(rows.A_inv[rows.block_of[j]], x, acc)
    norm2, v = xx, rows.newest_of[j]
    while v >= 0:
        y = dot(rows.V[v], x)
        norm2 -= y * y
        v = rows.before[v]
    return dot(rows.w[j], x), norm2


@njit(**FAST)
def look_at_each(X, ptr, labels, rows, margin, norm2):
    """Margins and squared norms of labels[ptr[b]:ptr[b + 1]] at context X[b], for every b."""
    acc = np.empty(X.shape[1], X.dtype)
    for b in range(len(X)):
        xx = dot(X[b], X[b])
        for e in range(ptr[b], ptr[b + 1]):
            margin[e], norm2[e] = look_at_row(rows.row_of[labels[e]], X[b], xx, rows, acc)


@njit(**FAST)
def look_at_same(X, labels, rows, margin, norm2):
    """Margins and squared norms of the same labels at all contexts X (B×d), into arrays (B×n).

    A label's matrix is read from memory once.
    """
    acc, xx = np.empty(X.shape[1], X.dtype), np.empty(len(X), X.dtype)
    for b in range(len(X)):
        xx[b] = dot(X[b], X[b])
    for e in range(len(labels)):
        j = rows.row_of[labels[e]]
        for b in range(len(X)):
            margin[b, e], norm2[b, e] = look_at_row(j, X[b], xx[b], rows, acc)


def prepare(dtype):
    """Compile these functions now, so that nobody waits for them later."""
    index, lines = np.zeros(1, np.intp), np.zeros((1, 4), dtype)
    rows = Rows(index, index, lines, index, np.zeros((1, 16), dtype), index, index - 1, lines)
    found = np.empty((2, 1, 1))
    look_at_each(lines, np.arange(2), index, rows, *found[:, 0])
    look_at_same(lines, index, rows, *found)


mark_loaded("partial looks")
