"""Windows: full matrices seen through the next B contexts, exactly (docs/design.md, section 5).

Kernels take arrays, change arrays and check nothing. `XT` is the window's contexts by feature,
flat: XT[c*B + b] is feature c of context b. `M[b, j]` and `N[b, j]` are the margin and the squared
norm of row j at context b, always as the plain loop would have them in that round.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["B", "apply", "event", "link", "look_rows"]

B = 64  # contexts in a window: a constant, so that the compiler can unroll

FAST = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"contract", "reassoc"}}


@njit(**FAST)
def times(v, XT, out):
    """out[b] = v·x_b for every context of the window."""
    d = len(v)
    out[:] = 0.0
    D = d - d % 8
    for c in range(0, D, 8):
        a0, a1, a2, a3 = v[c], v[c + 1], v[c + 2], v[c + 3]
        a4, a5, a6, a7 = v[c + 4], v[c + 5], v[c + 6], v[c + 7]
        o = c * B
        for b in range(B):
            out[b] += (
                a0 * XT[o + b]
                + a1 * XT[o + B + b]
                + a2 * XT[o + 2 * B + b]
                + a3 * XT[o + 3 * B + b]
                + a4 * XT[o + 4 * B + b]
                + a5 * XT[o + 5 * B + b]
                + a6 * XT[o + 6 * B + b]
                + a7 * XT[o + 7 * B + b]
            )
    for c in range(D, d):
        a0 = v[c]
        for b in range(B):
            out[b] += a0 * XT[c * B + b]


@njit(**FAST)
def quadratic(A, d, XT, acc, out):
    """out[b] = x_b·A x_b for a symmetric A (flat), from its lower half: four rows at a time."""
    out[:] = 0.0
    D = d - d % 4
    for r in range(0, D, 4):
        o0 = r * d
        o1, o2, o3 = o0 + d, o0 + 2 * d, o0 + 3 * d
        a00, a10, a11 = 0.5 * A[o0 + r], A[o1 + r], 0.5 * A[o1 + r + 1]
        a20, a21, a22 = A[o2 + r], A[o2 + r + 1], 0.5 * A[o2 + r + 2]
        a30, a31, a32, a33 = A[o3 + r], A[o3 + r + 1], A[o3 + r + 2], 0.5 * A[o3 + r + 3]
        z = r * B
        for b in range(B):
            x0, x1, x2, x3 = XT[z + b], XT[z + B + b], XT[z + 2 * B + b], XT[z + 3 * B + b]
            acc[b] = a00 * x0
            acc[B + b] = a10 * x0 + a11 * x1
            acc[2 * B + b] = a20 * x0 + a21 * x1 + a22 * x2
            acc[3 * B + b] = a30 * x0 + a31 * x1 + a32 * x2 + a33 * x3
        for c in range(0, r, 4):
            a0, a1, a2, a3 = A[o0 + c], A[o0 + c + 1], A[o0 + c + 2], A[o0 + c + 3]
            e0, e1, e2, e3 = A[o1 + c], A[o1 + c + 1], A[o1 + c + 2], A[o1 + c + 3]
            f0, f1, f2, f3 = A[o2 + c], A[o2 + c + 1], A[o2 + c + 2], A[o2 + c + 3]
            g0, g1, g2, g3 = A[o3 + c], A[o3 + c + 1], A[o3 + c + 2], A[o3 + c + 3]
            z = c * B
            for b in range(B):
                x0, x1, x2, x3 = XT[z + b], XT[z + B + b], XT[z + 2 * B + b], XT[z + 3 * B + b]
                acc[b] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
                acc[B + b] += e0 * x0 + e1 * x1 + e2 * x2 + e3 * x3
                acc[2 * B + b] += f0 * x0 + f1 * x1 + f2 * x2 + f3 * x3
                acc[3 * B + b] += g0 * x0 + g1 * x1 + g2 * x2 + g3 * x3
        z = r * B
        for b in range(B):
            out[b] += 2.0 * (
                XT[z + b] * acc[b]
                + XT[z + B + b] * acc[B + b]
                + XT[z + 2 * B + b] * acc[2 * B + b]
                + XT[z + 3 * B + b] * acc[3 * B + b]
            )
    for r in range(D, d):
        a0 = 0.5 * A[r * d + r]
        for b in range(B):
            acc[b] = a0 * XT[r * B + b]
        for c in range(r):
            a0 = A[r * d + c]
            for b in range(B):
                acc[b] += a0 * XT[c * B + b]
        for b in range(B):
            out[b] += 2.0 * XT[r * B + b] * acc[b]


@njit(**FAST)
def times4(p, q, r, s, XT, acc):
    """acc[k*B + b] = v_k·x_b for four vectors at a time."""
    d = len(p)
    acc[:] = 0.0
    D = d - d % 4
    for c in range(0, D, 4):
        a0, a1, a2, a3 = p[c], p[c + 1], p[c + 2], p[c + 3]
        e0, e1, e2, e3 = q[c], q[c + 1], q[c + 2], q[c + 3]
        f0, f1, f2, f3 = r[c], r[c + 1], r[c + 2], r[c + 3]
        g0, g1, g2, g3 = s[c], s[c + 1], s[c + 2], s[c + 3]
        z = c * B
        for b in range(B):
            x0, x1, x2, x3 = XT[z + b], XT[z + B + b], XT[z + 2 * B + b], XT[z + 3 * B + b]
            acc[b] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
            acc[B + b] += e0 * x0 + e1 * x1 + e2 * x2 + e3 * x3
            acc[2 * B + b] += f0 * x0 + f1 * x1 + f2 * x2 + f3 * x3
            acc[3 * B + b] += g0 * x0 + g1 * x1 + g2 * x2 + g3 * x3
    for c in range(D, d):
        a0, e0, f0, g0 = p[c], q[c], r[c], s[c]
        for b in range(B):
            x0 = XT[c * B + b]
            acc[b] += a0 * x0
            acc[B + b] += e0 * x0
            acc[2 * B + b] += f0 * x0
            acc[3 * B + b] += g0 * x0


@njit(**FAST)
def product(A, d, XT, acc, P, out):
    """P[b] = A x_b and out[b] = x_b·A x_b, for a label that will need its A x_b."""
    out[:] = 0.0
    for r in range(0, d, 4):
        r1, r2, r3 = min(r + 1, d - 1), min(r + 2, d - 1), min(r + 3, d - 1)
        times4(
            A[r * d : r * d + d],
            A[r1 * d : r1 * d + d],
            A[r2 * d : r2 * d + d],
            A[r3 * d : r3 * d + d],
            XT,
            acc,
        )
        for k in range(min(4, d - r)):
            for b in range(B):
                P[b, r + k] = acc[k * B + b]
                out[b] += XT[(r + k) * B + b] * acc[k * B + b]


@njit(**FAST)
def look_rows(first, end, XT, xx, w, block, last, V, before, A, hot, P, M, N):
    """Open the window for rows first..end: their margins and norms at all its contexts."""
    d = w.shape[1]
    line, acc = np.empty(B, w.dtype), np.empty(4 * B, w.dtype)
    for j in range(first, end, 4):
        some = min(4, end - j)
        times4(
            w[j], w[min(j + 1, end - 1)], w[min(j + 2, end - 1)], w[min(j + 3, end - 1)], XT, acc
        )
        for b in range(B):
            for k in range(some):
                M[b, j + k] = acc[k * B + b]
    for j in range(first, end):
        if hot[j] >= 0:
            product(A[block[j]], d, XT, acc, P[hot[j]], line)
        elif block[j] >= 0:
            quadratic(A[block[j]], d, XT, acc, line)
        else:
            for b in range(B):
                line[b] = xx[b]
            v = last[j]
            while v >= 0:
                v1 = before[v]
                v2 = before[v1] if v1 >= 0 else -1
                v3 = before[v2] if v2 >= 0 else -1
                times4(V[v], V[max(v1, 0)], V[max(v2, 0)], V[max(v3, 0)], XT, acc)
                some = 4 if v3 >= 0 else 3 if v2 >= 0 else 2 if v1 >= 0 else 1
                for k in range(some):
                    for b in range(B):
                        line[b] -= acc[k * B + b] * acc[k * B + b]
                v = before[v3] if v3 >= 0 else -1
        for b in range(B):
            N[b, j] = line[b]


@njit(**FAST)
def direction(j, t, X, block, last, V, before, A, hot, P, newest, older, U, C, u):
    """u = A⁻¹x_t of row j as it is in round t: as the window opened, less its updates since."""
    d, x = len(u), X[t]
    if hot[j] >= 0:
        for c in range(d):
            u[c] = P[hot[j], t, c]
    elif block[j] >= 0:
        own = A[block[j]]
        for r in range(d):  # row by row: four at a time were not vectorised, and slower
            y0 = x[0] * 0
            for c in range(d):
                y0 += own[r * d + c] * x[c]
            u[r] = y0
    else:
        u[:] = x
        v = last[j]
        while v >= 0:  # four vectors at a time
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
    e = newest[j]
    while e >= 0:
        y = C[e, t]
        for c in range(d):
            u[c] -= y * U[e, c]
        e = older[e]


@njit(**FAST)
def event(j, t, move, step, shown, X, XT, w, block, last, dense, M, N, log, u, z):
    """Row j in round t: its margin moved by `move` (projection), then, if it was shown, updated.

    Every later margin and norm of the window follows. `log` holds the window's updates: newest and
    older link those of a row, whose is the row, U are their v, C the v·x_b; used[0] counts them.
    """
    newest, older, whose, U, C, used = log
    V, before, A, hot, P = dense
    direction(j, t, X, block, last, V, before, A, hot, P, newest, older, U, C, u)
    times(u, XT, z)
    n = z[t]
    amount = move / n
    if shown:
        amount += step / (1.0 + n)
    for c in range(len(u)):
        w[j, c] += amount * u[c]
    for b in range(t + 1, B):
        M[b, j] += amount * z[b]
    if shown:
        e, scale = used[0], 1.0 / np.sqrt(1.0 + n)
        for c in range(len(u)):
            U[e, c] = scale * u[c]
        for b in range(t + 1, B):
            y = scale * z[b]
            C[e, b] = y
            N[b, j] -= y * y
        older[e] = newest[j]
        newest[j], whose[e] = e, j
        used[0] = e + 1


@njit(**{**FAST, "fastmath": {"contract"}})  # not reassociated: A stays symmetric to the bit
def apply(first, end, d, block, A, sharp, lost, newest, older, U):
    """Close the window for the dense rows among first..end: A⁻¹ -= Σ v vᵀ.

    Rows with a sharp[j] >= 0 have what rounding takes kept in lost[sharp[j]], and given back.
    """
    pick, total = np.empty(4, np.int64), np.empty(d * d, A.dtype)
    for j in range(first, end):
        e = newest[j]
        if e < 0 or block[j] < 0:
            continue
        own = A[block[j]]
        into = own
        if sharp[j] >= 0:
            total[:] = 0.0
            into = total
        while e >= 0:
            k = 0
            while e >= 0 and k < 4:
                pick[k] = e
                e = older[e]
                k += 1
            v0, v1, v2, v3 = U[pick[0]], U[pick[1 % k]], U[pick[2 % k]], U[pick[3 % k]]
            zero = v0[0] * 0  # in place of vectors that are not there
            for r in range(d):
                a0 = v0[r]
                a1 = v1[r] if k > 1 else zero
                a2 = v2[r] if k > 2 else zero
                a3 = v3[r] if k > 3 else zero
                o = r * d
                for c in range(d):
                    into[o + c] -= (a0 * v0[c] + a1 * v1[c]) + (a2 * v2[c] + a3 * v3[c])
        if sharp[j] >= 0:
            rest = lost[sharp[j]]
            for c in range(d * d):
                wanted = rest[c] + total[c]
                new = own[c] + wanted
                rest[c] = wanted - (new - own[c])
                own[c] = new


@njit(**FAST)
def link(first, end, V_row, last, before):
    """Chain pool vectors first..end to the rows they belong to."""
    for v in range(first, end):
        row = V_row[v]
        before[v], last[row] = last[row], v
