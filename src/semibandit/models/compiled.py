"""Windows: full matrices seen through the next B contexts, exactly (docs/design.md, section 5).

Kernels take arrays, change arrays and check nothing. `XT` are the window's contexts by feature, in
chunks (`_tile`). `M[j, b]` and `N[j, b]` are the margin and the squared norm of row j at context b,
always as the plain loop would have them in that round. Of a dense matrix only the lower half is
read and kept up, unless its label is hot; `mirror` makes it whole again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from semibandit._util.numba import mark_loaded
from semibandit.models.simd import ROWS, VECTOR, B, chunk, dots, forms, products, together

__all__ = ["B", "apply", "chunked", "event", "link", "look_rows", "mirror", "prepare", "see"]


def keeps():
    """Whether numba can keep what it compiles; not where there is no folder it may write to."""
    try:
        njit(cache=True)(keeps)
    except RuntimeError:
        return False
    return True


FEW = 3  # contexts up to which `see` takes them one by one
FAST = {
    "cache": keeps(),
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc"},
}


@njit(**FAST)
def padded(d):
    """d rounded up to a multiple of ROWS."""
    return (d + ROWS - 1) // ROWS * ROWS


@njit(**FAST)
def fill(X, C, XT):
    """The contexts X as `_tile` wants them, in XT (flat), which is zero: in chunks of C."""
    n, d = X.shape
    D = padded(d)
    for b in range(n):
        first = b // C * C * D + b % C
        for c in range(d):
            XT[first + c * C] = X[b, c]


@njit(**FAST)
def room(n, C, d):
    """How long that XT is: n rounded up to whole chunks."""
    return (n + C - 1) // C * C * padded(d)


def chunked(X):
    """A window's contexts X (B×d) as `_tile` wants them."""
    C = 2 * VECTOR // X.itemsize
    XT = np.zeros(room(B, C, X.shape[1]), X.dtype)
    fill(X, C, XT)
    return XT


@njit(**FAST)
def times(v, XT, first, out):
    """out[b] = v·x_b for the contexts of the window from `first` on, and maybe some before it."""
    step = together(XT)
    for q in range(first - first % step, B, step):
        dots(v, len(v), XT, padded(len(v)), q, out)


@njit(**FAST)
def offsets_of(first, end, d, into):
    """Where rows first, first + 1, ... of a flat table lie; the last stands for those after it."""
    for k in range(ROWS):
        into[k] = min(first + k, end - 1) * d


@njit(**FAST)
def quadratic(A, d, XT, twice, offsets, out):
    """out[b] = x_b·A x_b for a symmetric A (flat), from its lower half."""
    C, D = chunk(XT), padded(d)
    contexts = XT.size // D
    out[:] = 0.0
    for q in range(0, contexts, C):
        for r in range(0, d, ROWS):
            offsets_of(r, d, d, offsets)
            own = min(ROWS, d - r)
            forms(A, offsets, r, twice, q * D, own, XT, q * D + r * C, out, q)


@njit(**FAST)
def product(A, d, XT, offsets, acc, P, out):
    """P[b] = A x_b and out[b] = x_b·A x_b, for a label that will need its A x_b."""
    C, D = chunk(XT), padded(d)
    contexts, features = XT.size // D, XT.reshape(XT.size)
    out[:] = 0.0
    for r in range(0, d, ROWS):
        offsets_of(r, d, d, offsets)
        for q in range(0, contexts, C):
            products(A, offsets, d, XT, q * D, acc)
            for k in range(min(ROWS, d - r)):
                o = q * D + (r + k) * C
                for b in range(C):
                    y = acc[k * C + b]
                    P[q + b, r + k] = y
                    out[q + b] += features[o + b] * y


@njit(**FAST)
def cold_norms(first, end, d, XT, last, block, flat, before, offsets, acc, N):
    """N[j, b] -= Σ_v (v·x_b)² for the cold rows among first..end, their v ROWS at a time."""
    C, D = chunk(XT), padded(d)
    contexts = XT.size // D
    whose = np.empty(ROWS, np.int64)
    j, v, have = first, np.int64(-1), 0
    while True:
        while v < 0 and j < end:  # the next row that has vectors
            if block[j] < 0:
                v = last[j]
            j += 1
        if v >= 0:
            offsets[have], whose[have] = v * d, j - 1
            have += 1
            v = before[v]
        elif have == 0:
            return
        if have == ROWS or (v < 0 and j == end):
            for k in range(have, ROWS):
                offsets[k] = offsets[0]
            for q in range(0, contexts, C):
                products(flat, offsets, d, XT, q * D, acc)
                for k in range(have):
                    line = N[whose[k]]
                    for b in range(C):
                        line[q + b] -= acc[k * C + b] * acc[k * C + b]
            have = 0


@njit(**FAST)
def look_rows(first, end, XT, twice, xx, w, block, last, V, before, A, hot, P, M, N):
    """Open the window for rows first..end: their margins and norms at all its contexts."""
    d = w.shape[1]
    C, D = chunk(XT), padded(d)
    contexts = XT.size // D
    flat, pool = w.reshape(w.size), V.reshape(V.size)
    offsets, acc = np.empty(ROWS, np.int64), np.empty(ROWS * C, w.dtype)
    for j in range(first, end, ROWS):
        offsets_of(j, end, d, offsets)
        for q in range(0, contexts, C):
            products(flat, offsets, d, XT, q * D, acc)
            for k in range(min(ROWS, end - j)):
                for b in range(C):
                    M[j + k, q + b] = acc[k * C + b]
    for j in range(first, end):
        if hot[j] >= 0:
            product(A[block[j]], d, XT, offsets, acc, P[hot[j]], N[j])
        elif block[j] >= 0:
            quadratic(A[block[j]], d, XT, twice, offsets, N[j])
        else:
            N[j] = xx
    cold_norms(first, end, d, XT, last, block, pool, before, offsets, acc, N)


@njit(**FAST)
def see(X, n, owner, w, block, last, V, before, A, margin, norm2):
    """Every label's margin and squared norm at contexts X, of which n labels are touched, `owner`.

    All in one: a call that leaves the interpreter has to wait for it afterwards.
    """
    register = VECTOR // X.itemsize
    xx = np.empty(len(X), X.dtype)
    for b in range(len(X)):
        xx[b] = dot(X[b], X[b])
        margin[b], norm2[b] = 0.0, xx[b]
    rows = (w, block, last, V, before, A)
    if len(X) <= FEW:
        M, N = np.empty((n, len(X)), w.dtype), np.empty((n, len(X)), w.dtype)
        look_few(n, X, xx, *rows, M, N)
    elif len(X) <= register:
        XT = np.zeros((1, room(len(X), register, X.shape[1])), X.dtype)
        fill(X, register, XT[0])
        M, N = look_through(n, XT, xx, *rows)
    else:
        flat = np.zeros(room(len(X), 2 * register, X.shape[1]), X.dtype)
        fill(X, 2 * register, flat)
        M, N = look_through(n, flat, xx, *rows)
    for b in range(len(X)):
        for j in range(n):
            margin[b, owner[j]], norm2[b, owner[j]] = M[j, b], N[j, b]


@njit(**FAST)
def look_through(n, XT, xx, w, block, last, V, before, A):
    """`look_rows` for any number of contexts, none of the rows hot: M and N."""
    wide = XT.size // padded(w.shape[1])
    own = np.zeros(wide, w.dtype)
    own[: len(xx)] = xx
    M, N = np.empty((n, wide), w.dtype), np.empty((n, wide), w.dtype)
    hot, P = np.full(n, -1), np.empty((0, wide, w.shape[1]), w.dtype)
    look_rows(0, n, XT, 2 * XT, own, w, block, last, V, before, A, hot, P, M, N)
    return M, N


@njit(**FAST)
def look_few(n, X, xx, w, block, last, V, before, A, M, N):
    """`look_rows` for so few contexts that reading the matrices is most of the work."""
    acc = np.empty(w.shape[1], w.dtype)
    for j in range(n):
        for b in range(len(X)):
            x = X[b]
            M[j, b] = dot(w[j], x)
            if block[j] >= 0:
                N[j, b] = form(A[block[j]], x, acc)
                continue
            N[j, b] = xx[b]
            v = last[j]
            while v >= 0:
                y = dot(V[v], x)
                N[j, b] -= y * y
                v = before[v]


@njit(**FAST)
def dot(v, x):
    total = x[0] * 0
    for c in range(len(x)):
        total += v[c] * x[c]
    return total


@njit(**FAST)
def form(A, x, acc):
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


@njit(**FAST)
def direction(j, t, X, block, last, V, before, A, hot, P, newest, older, U, C, u):
    """u = A⁻¹x_t of row j as it is in round t: as the window opened, less its updates since."""
    d, x = len(u), X[t]
    if hot[j] >= 0:
        for c in range(d):
            u[c] = P[hot[j], t, c]
    elif block[j] >= 0:
        own = A[block[j]]
        for r in range(d):  # an entry left of the diagonal stands for two
            y0, y1 = x[0] * 0, x[r]
            for c in range(r):
                y0 += own[r * d + c] * x[c]
                u[c] += own[r * d + c] * y1
            u[r] = y0 + own[r * d + r] * y1
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
    times(u, XT, t, z)
    n = z[t]
    amount = move / n
    if shown:
        amount += step / (1.0 + n)
    for c in range(len(u)):
        w[j, c] += amount * u[c]
    for b in range(t + 1, B):
        M[j, b] += amount * z[b]
    if shown:
        e, scale = used[0], 1.0 / np.sqrt(1.0 + n)
        for c in range(len(u)):
            U[e, c] = scale * u[c]
        for b in range(t + 1, B):
            y = scale * z[b]
            C[e, b] = y
            N[j, b] -= y * y
        older[e] = newest[j]
        newest[j], whose[e] = e, j
        used[0] = e + 1


@njit(**FAST)
def half(r, d):
    """How many entries of row r `quadratic` reads: to the end of its block on the diagonal."""
    return min(r - r % ROWS + ROWS, d)


EXACT = {**FAST, "fastmath": {"contract"}}  # not reassociated: A stays symmetric to the bit


@njit(**EXACT)
def apply(first, end, d, block, A, hot, sharp, lost, newest, older, U):
    """Close the window for the dense rows among first..end: A⁻¹ -= Σ v vᵀ, of hot ones whole.

    Rows with a sharp[j] >= 0 have what rounding takes kept in lost[sharp[j]], and given back.
    """
    pick, total = np.empty(B, np.int64), np.empty(d, A.dtype)
    for j in range(first, end):
        if newest[j] < 0 or block[j] < 0:
            continue
        e, n = newest[j], 0
        while e >= 0:  # a label is shown once a round: B at most
            pick[n] = e
            e = older[e]
            n += 1
        whole = hot[j] >= 0
        if sharp[j] < 0:
            own = A[block[j]]
            for k in range(0, n, 4):
                v0, v1 = U[pick[k]], U[pick[min(k + 1, n - 1)]]
                v2, v3 = U[pick[min(k + 2, n - 1)]], U[pick[min(k + 3, n - 1)]]
                zero = v0[0] * 0  # in place of vectors that are not there
                for r in range(d):
                    a0 = v0[r]
                    a1 = v1[r] if k + 1 < n else zero
                    a2 = v2[r] if k + 2 < n else zero
                    a3 = v3[r] if k + 3 < n else zero
                    o = r * d
                    for c in range(d if whole else half(r, d)):
                        own[o + c] -= (a0 * v0[c] + a1 * v1[c]) + (a2 * v2[c] + a3 * v3[c])
        else:
            for r in range(d):  # row by row: what is added up stays in cache
                o, reach = r * d, d if whole else half(r, d)
                into = total[:reach]
                into[:] = 0.0
                for k in range(n):
                    v = U[pick[k]]
                    for c in range(reach):
                        into[c] -= v[r] * v[c]
                give_back(A[block[j], o : o + reach], lost[sharp[j], o : o + reach], into)


@njit(**EXACT)
def give_back(row, rest, more):
    """row += more, by Kahan: what rounding took before is added, what it takes now is kept."""
    for c in range(len(row)):
        wanted = rest[c] + more[c]
        new = row[c] + wanted
        rest[c] = wanted - (new - row[c])
        row[c] = new


@njit(**FAST)
def link(first, end, V_row, last, before):
    """Chain pool vectors first..end to the rows they belong to."""
    for v in range(first, end):
        row = V_row[v]
        before[v], last[row] = last[row], v


@njit(**FAST)
def mirror(rows, d, block, A, sharp, lost):
    """The upper halves of these rows' matrices from the lower ones."""
    for j in rows:
        mirror_one(d, A[block[j]])
        if sharp[j] >= 0:
            mirror_one(d, lost[sharp[j]])


@njit(**FAST)
def mirror_one(d, A):
    for r in range(d):
        for c in range(r):
            A[c * d + r] = A[r * d + c]


def prepare(dtype):
    """Have `see` compiled, so that nobody waits for it later."""
    none, some = np.empty(0, np.intp), np.empty((1, 4), dtype)
    rows = (none, some[:0], none, none, some[:0], none, np.empty((0, 16), dtype))
    see(np.ones((1, 4), dtype), 0, *rows, np.empty((1, 1)), np.empty((1, 1)))


mark_loaded("models")
