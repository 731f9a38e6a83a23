# mypy: ignore-errors
"""One label of full matrices at one context, and its update: compiled functions.

They take arrays, change arrays and check nothing. These are the sums of `FullState.step` for one
row, in an order of their own; a row does not turn dense here.
"""

from __future__ import annotations

import math

from numba import njit

from semibandit._util.jit import EXACT, FAST

__all__ = ["append_row", "copy", "direction", "dot", "move_row", "subtract"]


@njit(**FAST)
def dot(v, x):
    """v·x."""
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


@njit(**FAST)
def times_dense(A, x, u):
    """u = A x for a symmetric A (flat), four rows at a time."""
    d = len(u)
    u[:] = 0.0
    for r in range(0, d - d % 4, 4):
        p, q = A[r * d : r * d + d], A[r * d + d : r * d + 2 * d]
        s, t = A[r * d + 2 * d : r * d + 3 * d], A[r * d + 3 * d : r * d + 4 * d]
        x0, x1, x2, x3 = x[r], x[r + 1], x[r + 2], x[r + 3]
        for c in range(d):
            u[c] += (p[c] * x0 + q[c] * x1) + (s[c] * x2 + t[c] * x3)
    for r in range(d - d % 4, d):
        for c in range(d):
            u[c] += A[r * d + c] * x[r]


@njit(**FAST)
def times_vectors(V, before, newest, x, u):
    """u = x - Σ_v (v·x) v over the chain of vectors that ends with `newest`, one by one."""
    copy(x, u)
    v = newest
    while v >= 0:
        y = dot(V[v], x)
        for c in range(len(u)):
            u[c] -= y * V[v, c]
        v = before[v]


@njit(**FAST)
def direction(j, x, rows, u):
    """u = A⁻¹x of row j; returns u·x."""
    if rows.block_of[j] >= 0:
        times_dense(rows.A_inv[rows.block_of[j]], x, u)
    else:
        times_vectors(rows.V, rows.before, rows.newest_of[j], x, u)
    return dot(u, x)


@njit(**FAST)
def move_row(j, amount, u, w):
    """w += amount·u for row j."""
    for c in range(len(u)):
        w[j, c] += amount * u[c]


@njit(**FAST)
def append_row(j, label, rows, count, error_of):
    """Row j is from now on that of a label that was untouched."""
    rows.label_of[j], rows.row_of[label] = label, j
    rows.w[j], count[j] = 0.0, 0
    rows.block_of[j] = rows.newest_of[j] = error_of[j] = -1


@njit(**EXACT)
def subtract(j, u, norm2, rows, vector_of, used, errors, v):
    """A⁻¹ -= v vᵀ of row j with v = u/sqrt(1 + norm2), which is overwritten.

    A row in low-rank form gets v as its newest vector, the one with number `used`; its row is noted
    in vector_of. Returns how many vectors are used then.
    """
    root = math.sqrt(1.0 + norm2)
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


@njit(**EXACT)
def subtract_outer(A, v):
    """A -= v vᵀ, symmetric to the bit."""
    d = len(v)
    for r in range(d):
        row, y = A[r * d : r * d + d], v[r]
        for c in range(d):
            row[c] -= y * v[c]


@njit(**EXACT)
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
