# mypy: ignore-errors
"""Updates of full matrices within a window, and writing them back: compiled functions.

They take arrays, change arrays and check nothing. docs/design.md, section 5, has the derivation.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from semibandit._util.jit import EXACT, FAST, INLINED
from semibandit.models import fading
from semibandit.models.compiled_looks import padded
from semibandit.models.compiled_steps import copy
from semibandit.models.simd import ROWS, B, contexts_at_once, dots

__all__ = ["gains", "link_vectors", "mirror", "seen_norm2", "start_row", "update", "write_back"]

gains = njit(**INLINED)(fading.gains)


@njit(**FAST)
def times(v, XT, first, out):
    """out[b] = v·x_b for the contexts of the window from `first` on, and maybe some before it."""
    step = contexts_at_once(XT)
    for q in range(first - first % step, B, step):
        dots(v, len(v), XT, padded(len(v)), q, out)


@njit(**FAST)
def times_lower(A, x, u):
    """u = A x for a symmetric A (flat), from its lower half."""
    d = len(u)
    for r in range(d):  # an entry left of the diagonal stands for two
        y0, y1 = x[0] * 0, x[r]
        for c in range(r):
            y0 += A[r * d + c] * x[c]
            u[c] += A[r * d + c] * y1
        u[r] = y0 + A[r * d + r] * y1


@njit(**FAST)
def times_low_rank(V, before, newest, x, u):
    """u = x - Σ_v (v·x) v over the chain of vectors that ends with `newest`, four at a time."""
    d = len(u)
    copy(x, u)
    v = newest
    while v >= 0:
        v1 = before[v]
        v2 = before[v1] if v1 >= 0 else -1
        v3 = before[v2] if v2 >= 0 else -1
        p, q, r, s = V[v], V[max(v1, 0)], V[max(v2, 0)], V[max(v3, 0)]
        y0 = y1 = y2 = y3 = x[0] * 0
        for c in range(d):
            y0 += p[c] * x[c]
            y1 += q[c] * x[c]
            y2 += r[c] * x[c]
            y3 += s[c] * x[c]
        if v1 < 0:
            y1 = x[0] * 0
        if v2 < 0:
            y2 = x[0] * 0
        if v3 < 0:
            y3 = x[0] * 0
        for c in range(d):
            u[c] -= y0 * p[c] + y1 * q[c] + y2 * r[c] + y3 * s[c]
        v = before[v3] if v3 >= 0 else -1


@njit(**INLINED)
def direction(j, t, contexts, rows, kept, log, u):
    """u = A⁻¹x_t of row j in round t: that of the window's start, less its updates since."""
    x, d = contexts.X[t], len(u)
    if kept.product_of[j] >= 0:
        for c in range(d):
            u[c] = kept.P[kept.product_of[j], t, c]
    elif rows.block_of[j] >= 0:
        times_lower(rows.A_inv[rows.block_of[j]], x, u)
    else:
        times_low_rank(rows.V, rows.before, rows.newest_of[j], x, u)
    e = log.newest[j]
    while e >= 0:
        y = log.VX[e, t]
        for c in range(d):
            u[c] -= y * log.V[e, c]
        e = log.before[e]


@njit(**INLINED)
def seen_norm2(j, t, window):
    """x_t·A⁻¹x_t of row j as it counts in round t: if it fades, c times as much, up to x_t·x_t."""
    norm2, fading = float(window.looks.norm2[j, t]), window.fading
    if len(fading.grow) == 0:
        return norm2
    return min(fading.factor[j] * fading.grow[t] * norm2, float(window.contexts.xx[t]))


@njit(**FAST)
def start_row(j, label, t, window):
    """Row j is from round t on that of a label that was untouched."""
    rows, looks, xx = window.rows, window.looks, window.contexts.xx
    rows.label_of[j], rows.row_of[label], rows.w[j] = label, j, 0.0
    rows.block_of[j] = rows.newest_of[j] = -1
    window.products.product_of[j] = window.log.newest[j] = -1
    for b in range(len(xx)):
        looks.margin[j, b], looks.norm2[j, b] = 0.0, xx[b]
    fading = window.fading
    if len(fading.grow):
        fading.since[j], fading.factor[j] = fading.now + t, 1.0 / fading.grow[t]


@njit(**INLINED)
def update(j, t, move, step, shown, window, u, z):
    """Row j in round t: its margin moved by `move` (projection), then, if it was shown, updated.

    Every later margin and norm of the window follows. u (d) and z (B) are overwritten.
    """
    contexts, rows, kept, looks, log, fading, _ = window
    w, margin, norm2 = rows.w, looks.margin, looks.norm2
    direction(j, t, contexts, rows, kept, log, u)
    times(u, contexts.XT, t, z)
    n = z[t]
    amount, shrink = move / n, 1.0
    if shown and len(fading.grow):
        c = fading.factor[j] * fading.grow[t]
        along, shrink = gains(float(n), c, float(contexts.xx[t]))
        amount += step * along
    elif shown:
        amount += step / (1.0 + n)
    for c in range(len(u)):
        w[j, c] += amount * u[c]
    for b in range(t + 1, B):
        margin[j, b] += amount * z[b]
    if shown:
        e, scale = log.used[0], 1.0 / np.sqrt(1.0 + n)
        if len(fading.grow):
            scale = np.sqrt(shrink)
        for c in range(len(u)):
            log.V[e, c] = scale * u[c]
        for b in range(t + 1, B):
            y = scale * z[b]
            log.VX[e, b] = y
            norm2[j, b] -= y * y
        log.before[e] = log.newest[j]
        log.newest[j], log.row_of[e] = e, j
        log.used[0] = e + 1


@njit(**FAST)
def reach(r, d, whole):
    """How many entries of row r are kept up: all, or those that `quadratic` reads, up to the end
    of the row's block on the diagonal."""
    return d if whole else min(r - r % ROWS + ROWS, d)


@njit(**EXACT)
def write_back(first, end, d, rows, kept, errors, log):
    """A⁻¹ -= Σ v vᵀ for the dense rows in first..end and the updates that the window logged.

    Of rows whose products were kept the whole matrix is written, of others the lower half.
    """
    pick, total = np.empty(B, np.int64), np.empty(d, rows.A_inv.dtype)
    for j in range(first, end):
        if log.newest[j] < 0 or rows.block_of[j] < 0:
            continue
        e, n = log.newest[j], 0
        while e >= 0:  # a label is shown once a round: B at most
            pick[n] = e
            e = log.before[e]
            n += 1
        whole, A = kept.product_of[j] >= 0, rows.A_inv[rows.block_of[j]]
        if errors.error_of[j] < 0:
            subtract(A, d, whole, log.V, pick[:n])
        else:
            error = errors.error[errors.error_of[j]]
            subtract_compensated(A, error, d, whole, log.V, pick[:n], total)


@njit(**EXACT, forceinline=True)
def subtract(A, d, whole, V, pick):
    """A -= Σ v vᵀ over the picked lines of V, four at a time."""
    n = len(pick)
    for k in range(0, n, 4):
        v0, v1 = V[pick[k]], V[pick[min(k + 1, n - 1)]]
        v2, v3 = V[pick[min(k + 2, n - 1)]], V[pick[min(k + 3, n - 1)]]
        zero = v0[0] * 0  # in place of vectors that are not there
        for r in range(d):
            a0 = v0[r]
            a1 = v1[r] if k + 1 < n else zero
            a2 = v2[r] if k + 2 < n else zero
            a3 = v3[r] if k + 3 < n else zero
            o = r * d
            for c in range(reach(r, d, whole)):
                A[o + c] -= (a0 * v0[c] + a1 * v1[c]) + (a2 * v2[c] + a3 * v3[c])


@njit(**EXACT, forceinline=True)
def subtract_compensated(A, error, d, whole, V, pick, total):
    """The same by Kahan's summation: the rounding error before is added, the new one kept."""
    for r in range(d):  # row by row: what is added up stays in cache
        o, length = r * d, reach(r, d, whole)
        change = total[:length]
        change[:] = 0.0
        for k in range(len(pick)):
            v = V[pick[k]]
            for c in range(length):
                change[c] -= v[r] * v[c]
        for c in range(length):
            wanted = error[o + c] + change[c]
            new = A[o + c] + wanted
            error[o + c] = wanted - (new - A[o + c])
            A[o + c] = new


@njit(**FAST)
def link_vectors(first, end, row_of, newest_of, before):
    """Link the low-rank vectors first..end to the rows they belong to."""
    for v in range(first, end):
        row = row_of[v]
        before[v], newest_of[row] = newest_of[row], v


@njit(**FAST)
def mirror(which, d, rows, errors):
    """Fill in the upper halves of these rows' matrices, and rounding errors, from the lower."""
    for j in which:
        mirror_one(d, rows.A_inv[rows.block_of[j]])
        if errors.error_of[j] >= 0:
            mirror_one(d, errors.error[errors.error_of[j]])


@njit(**FAST)
def mirror_one(d, A):
    """Fill in the upper half of A (flat)."""
    for r in range(d):
        for c in range(r):
            A[c * d + r] = A[r * d + c]
