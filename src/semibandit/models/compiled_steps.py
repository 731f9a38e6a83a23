# mypy: ignore-errors
"""One label of full matrices at one context, and its update: compiled functions.

They take arrays, change arrays and check nothing. Those that learn are `FullState.step` for one
row, to the bit (see `_util/reproducible.py`), except that a row does not turn dense here.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from semibandit._util.jit import FAST, REPRODUCIBLE
from semibandit._util.numba import mark_loaded

__all__ = [
    "append_row",
    "copy",
    "direction",
    "dot",
    "dot_in_order",
    "move_row",
    "subtract",
    "subtract_outer",
]


@njit(**FAST)
def dot(v, x):
    """v·x, in any order."""
    total = x[0] * 0
    for c in range(len(x)):
        total += v[c] * x[c]
    return total


@njit(**FAST)
def copy(source, into):
    """into = source, entry by entry.

    `into[:] = source` would make numba compile the text of an error about shapes as well, which
    takes it longer than the rest of a function.
    """
    for c in range(len(into)):
        into[c] = source[c]


@njit(**REPRODUCIBLE)
def dot_in_order(v, x):
    """v·x, feature by feature."""
    total = v[0] * x[0]
    for c in range(1, len(x)):
        total += v[c] * x[c]
    return total


@njit(**REPRODUCIBLE)
def times_dense(A, x, u):
    """u = A x for a symmetric A (flat): one row is added after the other, four in a pass over u."""
    d = len(u)
    for c in range(d):
        u[c] = A[c] * x[0]
    for r in range(1, d - 3, 4):
        p, q = A[r * d : r * d + d], A[r * d + d : r * d + 2 * d]
        s, t = A[r * d + 2 * d : r * d + 3 * d], A[r * d + 3 * d : r * d + 4 * d]
        x0, x1, x2, x3 = x[r], x[r + 1], x[r + 2], x[r + 3]
        for c in range(d):
            u[c] = (((u[c] + p[c] * x0) + q[c] * x1) + s[c] * x2) + t[c] * x3
    for r in range(d - (d - 1) % 4, d):
        for c in range(d):
            u[c] += A[r * d + c] * x[r]


@njit(**REPRODUCIBLE)
def times_vectors(V, before, newest, x, u):
    """u = x - Σ_v (v·x) v over the chain of vectors that ends with `newest`, four in a pass."""
    d = len(u)
    copy(x, u)
    v = newest
    while v >= 0:
        v1 = before[v]
        v2 = before[v1] if v1 >= 0 else -1
        v3 = before[v2] if v2 >= 0 else -1
        if v3 < 0:
            y = dot_in_order(V[v], x)
            for c in range(d):
                u[c] -= y * V[v, c]
            v = v1
            continue
        p, q, r, s = V[v], V[v1], V[v2], V[v3]
        y0, y1, y2, y3 = p[0] * x[0], q[0] * x[0], r[0] * x[0], s[0] * x[0]
        for c in range(1, d):
            y0 += p[c] * x[c]
            y1 += q[c] * x[c]
            y2 += r[c] * x[c]
            y3 += s[c] * x[c]
        for c in range(d):
            u[c] = (((u[c] - y0 * p[c]) - y1 * q[c]) - y2 * r[c]) - y3 * s[c]
        v = before[v3]


@njit(**REPRODUCIBLE)
def direction(j, x, rows, u):
    """u = A⁻¹x of row j; returns u·x."""
    if rows.block_of[j] >= 0:
        times_dense(rows.A_inv[rows.block_of[j]], x, u)
    else:
        times_vectors(rows.V, rows.before, rows.newest_of[j], x, u)
    return dot_in_order(u, x)


@njit(**REPRODUCIBLE)
def move_row(j, amount, u, w):
    """w += amount·u for row j."""
    step = np.empty_like(u[:1])  # the amount as a number of their type
    step[0] = amount
    for c in range(len(u)):
        w[j, c] += step[0] * u[c]


@njit(**REPRODUCIBLE)
def append_row(j, label, rows, count, error_of):
    """Row j is from now on that of a label that was untouched."""
    rows.label_of[j], rows.row_of[label] = label, j
    rows.w[j], count[j] = 0.0, 0
    rows.block_of[j] = rows.newest_of[j] = error_of[j] = -1


@njit(**REPRODUCIBLE)
def subtract(j, u, norm2, rows, vector_of, used, errors, v):
    """A⁻¹ -= v vᵀ of row j with v = u/sqrt(1 + norm2), which is overwritten.

    A row in low-rank form gets v as its newest vector, the one with number `used`; its row is noted
    in vector_of. Returns how many vectors are used then.
    """
    v[0] = math.sqrt(1.0 + norm2)
    root = v[0]  # a number of their type
    for c in range(len(u)):
        v[c] = u[c] / root
    if rows.block_of[j] < 0:
        copy(v, rows.V[used])
        rows.before[used], vector_of[used] = rows.newest_of[j], j
        rows.newest_of[j] = used
        return used + 1
    A = rows.A_inv[rows.block_of[j]]
    if errors.error_of[j] < 0:
        subtract_outer(A, v)
    else:
        subtract_compensated(A, errors.error[errors.error_of[j]], v)
    return used


@njit(**REPRODUCIBLE)
def subtract_outer(A, v):
    """A -= v vᵀ, symmetric to the bit."""
    d = len(v)
    for r in range(d):
        row, y = A[r * d : r * d + d], v[r]
        for c in range(d):
            row[c] -= y * v[c]


@njit(**REPRODUCIBLE)
def subtract_compensated(A, error, v):
    """The same by Kahan's summation: the rounding error before is added, the new one kept."""
    d = len(v)
    for r in range(d):
        row, lost, y = A[r * d : r * d + d], error[r * d : r * d + d], v[r]
        for c in range(d):
            change = lost[c] - y * v[c]
            new = row[c] + change
            lost[c] = change - (new - row[c])
            row[c] = new


mark_loaded("steps")
