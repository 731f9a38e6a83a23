# mypy: ignore-errors
"""Full matrices seen at many contexts at once: compiled functions.

They take arrays, change arrays and check nothing. `XT` are contexts by feature, in chunks (see
`simd`). Of a dense matrix only the lower half is read, unless all its products A⁻¹x are wanted.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from semibandit._util.jit import FAST
from semibandit._util.numba import mark_loaded
from semibandit.models.compiled_steps import copy, dot
from semibandit.models.compiled_types import Contexts, Looks, Products, Rows
from semibandit.models.simd import ROWS, VECTOR, B, chunk, forms, products

__all__ = ["chunked", "look_at_many", "look_at_window", "padded", "prepare"]

FEW = 3  # contexts up to which `look_at_many` takes them one by one


@njit(**FAST)
def padded(d):
    """d rounded up to a multiple of ROWS."""
    return (d + ROWS - 1) // ROWS * ROWS


@njit(**FAST)
def fill(X, C, XT):
    """Write the contexts X into XT (flat, all zeros) in chunks of C."""
    n, d = X.shape
    D = padded(d)
    for b in range(n):
        first = b // C * C * D + b % C
        for c in range(d):
            XT[first + c * C] = X[b, c]


@njit(**FAST)
def chunked_size(n, C, d):
    """How long that XT is: n is rounded up to whole chunks."""
    return (n + C - 1) // C * C * padded(d)


def chunked(X):
    """A window's contexts X (B×d) by feature, in chunks of two registers."""
    C = 2 * VECTOR // X.itemsize
    XT = np.zeros(chunked_size(B, C, X.shape[1]), X.dtype)
    fill(X, C, XT)
    return XT


@njit(**FAST)
def offsets_of(first, end, d, into):
    """Where rows first, first + 1, ... of a flat table lie; the last stands for those after it."""
    for k in range(ROWS):
        into[k] = min(first + k, end - 1) * d


@njit(**FAST)
def quadratic(A, d, contexts, offsets, out):
    """out[b] = x_b·A x_b for a symmetric A (flat), from its lower half."""
    XT, twice = contexts.XT, contexts.twice
    C, D = chunk(XT), padded(d)
    out[:] = 0.0
    for q in range(0, XT.size // D, C):
        for r in range(0, d, ROWS):
            offsets_of(r, d, d, offsets)
            own = min(ROWS, d - r)
            forms(A, offsets, r, twice, q * D, own, XT, q * D + r * C, out, q)


@njit(**FAST)
def product(A, d, XT, offsets, acc, P, out):
    """P[b] = A x_b and out[b] = x_b·A x_b, for a row whose A x_b will be needed."""
    C, D = chunk(XT), padded(d)
    features = XT.reshape(XT.size)
    out[:] = 0.0
    for r in range(0, d, ROWS):
        offsets_of(r, d, d, offsets)
        for q in range(0, XT.size // D, C):
            products(A, offsets, d, XT, q * D, acc)
            for k in range(min(ROWS, d - r)):
                o = q * D + (r + k) * C
                for b in range(C):
                    y = acc[k * C + b]
                    P[q + b, r + k] = y
                    out[q + b] += features[o + b] * y


@njit(**FAST)
def lower_norms(which, rows, XT, offsets, acc, norm2):
    """norm2[j, b] -= Σ_v (v·x_b)² for the low-rank rows j in `which`, their v ROWS at a time."""
    V, before, d = rows.V, rows.before, rows.w.shape[1]
    flat, C, D = V.reshape(V.size), chunk(XT), padded(d)
    row_of = np.empty(ROWS, np.int64)
    p, end, v, have = 0, len(which), np.int64(-1), 0
    while True:
        while v < 0 and p < end:  # the next row that has vectors
            if rows.block_of[which[p]] < 0:
                v = rows.newest_of[which[p]]
            p += 1
        if v >= 0:
            offsets[have], row_of[have] = v * d, which[p - 1]
            have += 1
            v = before[v]
        elif have == 0:
            return
        if have == ROWS or (v < 0 and p == end):
            for k in range(have, ROWS):
                offsets[k] = offsets[0]
            for q in range(0, XT.size // D, C):
                products(flat, offsets, d, XT, q * D, acc)
                for k in range(have):
                    line = norm2[row_of[k]]
                    for b in range(C):
                        line[q + b] -= acc[k * C + b] * acc[k * C + b]
            have = 0


@njit(**FAST)
def look_at_window(which, rows, contexts, kept, looks):
    """The margins and norms of rows `which` at all contexts, and the products to be kept."""
    w, A, block_of, XT = rows.w, rows.A_inv, rows.block_of, contexts.XT
    margin, norm2, product_of = looks.margin, looks.norm2, kept.product_of
    d = w.shape[1]
    flat, C, D = w.reshape(w.size), chunk(XT), padded(d)
    offsets, acc = np.empty(ROWS, np.int64), np.empty(ROWS * C, w.dtype)
    for p in range(0, len(which), ROWS):
        for k in range(ROWS):  # the last row stands for those after it
            offsets[k] = which[min(p + k, len(which) - 1)] * d
        for q in range(0, XT.size // D, C):
            products(flat, offsets, d, XT, q * D, acc)
            for k in range(min(ROWS, len(which) - p)):
                line = margin[which[p + k]]
                for b in range(C):
                    line[q + b] = acc[k * C + b]
    for j in which:
        if product_of[j] >= 0:
            product(A[block_of[j]], d, XT, offsets, acc, kept.P[product_of[j]], norm2[j])
        elif block_of[j] >= 0:
            quadratic(A[block_of[j]], d, contexts, offsets, norm2[j])
        else:
            copy(contexts.xx, norm2[j])
    lower_norms(which, rows, XT, offsets, acc, norm2)


@njit(**FAST)
def look_at_many(X, n, rows, margin, norm2):
    """Every label's margin and squared norm at contexts X (B×d), into arrays (B×K); n labels are
    touched.

    All of it is one function: a call that releases the interpreter lock has to wait for it again.
    """
    register = VECTOR // X.itemsize
    xx = np.empty(len(X), X.dtype)
    for b in range(len(X)):
        xx[b] = dot(X[b], X[b])
        margin[b], norm2[b] = 0.0, xx[b]
    if len(X) <= FEW:
        looks = look_at_few(n, rows, X, xx)
    elif len(X) <= register:
        XT = np.zeros((1, chunked_size(len(X), register, X.shape[1])), X.dtype)
        fill(X, register, XT[0])
        looks = look_at_chunks(n, rows, X, XT, xx)
    else:
        flat = np.zeros(chunked_size(len(X), 2 * register, X.shape[1]), X.dtype)
        fill(X, 2 * register, flat)
        looks = look_at_chunks(n, rows, X, flat, xx)
    for b in range(len(X)):
        for j in range(n):
            i = rows.label_of[j]
            margin[b, i], norm2[b, i] = looks.margin[j, b], looks.norm2[j, b]


@njit(**FAST)
def look_at_chunks(n, rows, X, XT, xx):
    """`look_at_window` for any number of contexts, which XT has in chunks; no products are kept."""
    d = rows.w.shape[1]
    dtype = rows.w.dtype
    wide = XT.size // padded(d)
    padded_xx = np.zeros(wide, dtype)
    copy(xx, padded_xx[: len(xx)])
    looks = Looks(np.empty((n, wide), dtype), np.empty((n, wide), dtype))
    none = Products(np.full(n, -1), np.empty((0, wide, d), dtype))
    look_at_window(np.arange(n), rows, Contexts(X, XT, 2 * XT, padded_xx), none, looks)
    return looks


@njit(**FAST)
def look_at_few(n, rows, X, xx):
    """The same for so few contexts that reading the matrices is most of the work."""
    w, A, block_of, V, before = rows.w, rows.A_inv, rows.block_of, rows.V, rows.before
    margin, norm2 = np.empty((n, len(X)), w.dtype), np.empty((n, len(X)), w.dtype)
    acc = np.empty(w.shape[1], w.dtype)
    for j in range(n):
        for b in range(len(X)):
            x = X[b]
            margin[j, b] = dot(w[j], x)
            if block_of[j] >= 0:
                norm2[j, b] = quadratic_of_one(A[block_of[j]], x, acc)
                continue
            norm2[j, b] = xx[b]
            v = rows.newest_of[j]
            while v >= 0:
                y = dot(V[v], x)
                norm2[j, b] -= y * y
                v = before[v]
    return Looks(margin, norm2)


@njit(**FAST)
def quadratic_of_one(A, x, acc):
    """x·A x for a symmetric A (flat), from its lower half: acc = Σ_r x[r]·A[r], four rows a time,
    in which entries left of a block on the diagonal stand for two."""
    d = len(x)
    acc[:] = 0.0
    total = x[0] * 0
    for r in range(0, d - d % 4, 4):
        p, q, s, t = A[r * d :], A[r * d + d :], A[r * d + 2 * d :], A[r * d + 3 * d :]
        x0, x1, x2, x3 = x[r], x[r + 1], x[r + 2], x[r + 3]
        for c in range(r):
            acc[c] += (p[c] * x0 + q[c] * x1) + (s[c] * x2 + t[c] * x3)
        for c in range(r, r + 4):
            total += x[c] * ((p[c] * x0 + q[c] * x1) + (s[c] * x2 + t[c] * x3))
    for r in range(d - d % 4, d):
        for c in range(r):
            acc[c] += A[r * d + c] * x[r]
        total += A[r * d + r] * x[r] * x[r]
    return total + 2 * dot(acc, x)


def prepare(dtype):
    """Compile `look_at_many` now, so that nobody waits for it later."""
    index, lines = np.empty(0, np.intp), np.empty((0, 4), dtype)
    rows = Rows(index, index, lines, index, np.empty((0, 16), dtype), index, index, lines)
    look_at_many(np.ones((1, 4), dtype), 0, rows, np.empty((1, 1)), np.empty((1, 1)))


mark_loaded("models")
