# mypy: ignore-errors
"""Updates of rows within a window, in Triton: `rounds_twin.py` says what they do."""

from __future__ import annotations

import triton
import triton.language as tl

from semibandit.models.gpu.contexts import WINDOW
from semibandit.models.gpu.scan_triton import code_of, score_of
from semibandit.models.gpu.window import SHOWN, TOUCHED

__all__ = ["look_ahead", "shadow_rows", "update_row"]

B_, TOUCHED_, SHOWN_ = tl.constexpr(WINDOW), tl.constexpr(TOUCHED), tl.constexpr(SHOWN)


@triton.jit
def _block(A, row, r, c, new, D: tl.constexpr, DP: tl.constexpr):
    """Lines r of the lower half of a row's matrix; which entries they have, and where."""
    r, c = r[:, None], c[None, :]
    low = (c <= r) & (r < D)
    place = row * DP + r * (r + 1) // 2 + c
    a = tl.load(A + place, mask=low & (new == 0), other=0.0, cache_modifier=".cg")
    return tl.where((new != 0) & (c == r) & low, 1.0, a), low, place


@triton.jit
def update_row(
    A, w, x_at, row, new, margin, sign, R, c_L2,
    LOGISTIC: tl.constexpr, D: tl.constexpr, DP: tl.constexpr, BD: tl.constexpr, BR: tl.constexpr,
):  # fmt: skip
    """Steps 2 and 5 of Figure 2 for one row; its new weights, and the v of A⁻¹ -= v vᵀ.

    If D = BD + 1, as with a bias, the last line is held apart.
    """
    M: tl.constexpr = D if D <= BD else BD
    c = tl.arange(0, BD)
    x = tl.load(x_at + c, mask=c < M, other=0.0)
    at = w + row * D
    old = tl.load(at + c, mask=(c < M) & (new == 0), other=0.0, cache_modifier=".cg")
    first, low0, place0 = _block(A, row, tl.arange(0, BR), c, new, M, DP)
    line, corner, x_last, w_last = 0.0, 0.0, 0.0, 0.0  # the last line of A⁻¹ and its end
    if D > M:
        bottom = A + row * DP + M * (M + 1) // 2
        line = tl.load(bottom + c, mask=new == 0, other=0.0, cache_modifier=".cg").to(tl.float64)
        corner = tl.load(bottom + M, mask=new == 0, other=1.0, cache_modifier=".cg").to(tl.float64)
        x_last = tl.load(x_at + M)
        w_last = tl.load(at + M, mask=new == 0, other=0.0, cache_modifier=".cg").to(tl.float64)
    u = tl.zeros((BD,), dtype=tl.float64)  # A⁻¹x
    for r0 in tl.static_range(0, M, BR):
        r = r0 + tl.arange(0, BR)
        xr = tl.load(x_at + r, mask=r < M, other=0.0)
        if r0 == 0:
            a = first
        else:
            a, low, place = _block(A, row, r, c, new, M, DP)
        a = a.to(tl.float64)
        across = tl.sum(a * x[None, :], 1)
        above = tl.where(c[None, :] < r[:, None], a * xr[:, None], 0.0)
        u += tl.sum(tl.where(c[None, :] == r[:, None], across[:, None], above), 0)
    u_last = x_last
    if D > M:
        u_last = tl.sum(line * x, 0) + corner * x_last
        u += line * x_last
    norm2 = tl.sum(u * x, 0) + u_last * x_last
    inside = tl.minimum(tl.maximum(margin, -R), R)
    slope = 1.0 - sign * inside
    if LOGISTIC:
        slope = 1.0 / (1.0 + tl.exp(sign * inside))
    amount = sign * slope / c_L2 / (1.0 + norm2)
    amount += tl.where(inside != margin, (inside - margin) / norm2, 0.0)
    weights = (old.to(tl.float64) + amount * u).to(tl.float32)
    tl.store(at + c, weights, mask=c < M)
    root = tl.sqrt(1.0 + norm2)
    v, v_last = u / root, u_last / root
    for r0 in tl.static_range(0, M, BR):
        r = r0 + tl.arange(0, BR)
        vr = tl.sum(tl.where(c[None, :] == r[:, None], v[None, :], 0.0), 1)
        if r0 == 0:
            a, low, place = first, low0, place0
        else:
            a, low, place = _block(A, row, r, c, new, M, DP)
        after = a.to(tl.float64) - vr[:, None] * v[None, :]
        tl.store(A + place, after.to(tl.float32), mask=low)
    if D > M:
        w_last = (w_last + amount * u_last).to(tl.float32).to(tl.float64)
        tl.store(at + M, w_last.to(tl.float32))
        tl.store(bottom + c, (line - v_last * v).to(tl.float32))
        tl.store(bottom + M, (corner - v_last * v_last).to(tl.float32))
    return weights, v, w_last, v_last


@triton.jit
def look_ahead(
    X, numbers, weights, v, w_last, v_last, margins, norms, codes, entry, place, new, rank, last,
    R, grid, D: tl.constexpr, BD: tl.constexpr, BB: tl.constexpr,
):  # fmt: skip
    """Margins, norms and codes of a label at later contexts, after an update."""
    M: tl.constexpr = D if D <= BD else BD
    c = tl.arange(0, BD)
    for begin in range((last + 1) // BB * BB, B_, BB):
        b = begin + tl.arange(0, BB)
        later = b > last
        at = entry * B_ + b
        before = tl.load(norms + at, mask=later & (new == 0), other=0.0, cache_modifier=".cg")
        before = tl.where(new != 0, tl.load(numbers + b), before)
        spread, cap = tl.load(numbers + B_ + b), tl.load(numbers + 2 * B_ + b)
        inside = (c < M)[None, :] & later[:, None]
        Xs = tl.load(X + b[:, None] * D + c[None, :], mask=inside, other=0.0)
        margin = tl.sum(Xs * weights.to(tl.float64)[None, :], 1)
        y = tl.sum(Xs * v[None, :], 1)
        if D > M:
            x_last = tl.load(X + b * D + M)
            margin += x_last * w_last
            y += x_last * v_last
        norm2 = before - y * y
        tl.store(margins + at, margin, mask=later)
        tl.store(norms + at, norm2, mask=later)
        score = score_of(margin, norm2, R, spread, cap)
        tl.store(codes + b * TOUCHED_ + place, code_of(score, rank, grid), mask=later)


@triton.jit
def shadow_rows(
    meta, entry_at, entry_row, A, A16, F, E,
    D: tl.constexpr, DP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """A16, F and E of a row that was shown: `tensors.shadow`."""
    place = tl.program_id(0)
    if place < tl.load(meta + SHOWN_):
        row = tl.load(entry_row + tl.load(entry_at + place)).to(tl.int64)
        k = tl.arange(0, BLOCK)
        size2 = tl.zeros((BLOCK,), dtype=tl.float64)
        lost2 = tl.zeros((BLOCK,), dtype=tl.float64)
        diagonal2 = tl.zeros((BLOCK,), dtype=tl.float64)
        missed2 = tl.zeros((BLOCK,), dtype=tl.float64)
        for first in range(0, DP, BLOCK):
            inside = first + k < DP
            a = tl.load(A + row * DP + first + k, mask=inside, other=0.0)
            half = a.to(tl.float16)
            tl.store(A16 + row * DP + first + k, half, mask=inside)
            lost = a.to(tl.float64) - half.to(tl.float64)
            size2 += a.to(tl.float64) * a.to(tl.float64)
            lost2 += lost * lost
        for first in range(0, D, BLOCK):  # entries on the diagonal count once, others twice
            r = (first + k).to(tl.int64)
            a = tl.load(A + row * DP + r * (r + 3) // 2, mask=r < D, other=0.0)
            lost = a.to(tl.float64) - a.to(tl.float16).to(tl.float64)
            diagonal2 += a.to(tl.float64) * a.to(tl.float64)
            missed2 += lost * lost
        above = 1.0 + 1.0 / 1048576
        size = tl.sqrt(tl.sum(2.0 * size2 - diagonal2, 0)) * above
        lost = tl.sqrt(tl.maximum(tl.sum(2.0 * lost2 - missed2, 0), 0.0)) * above
        tl.store(F + row, (size * above).to(tl.float32))
        tl.store(E + row, ((lost + size / 2048) * above).to(tl.float32))
