# mypy: ignore-errors
"""The functions of `twins.py` in Triton: one pass over the half-precision copy, few exact rows.

Sums over the matrices of few rows are in float64, so that a score is as exact as the float32
numbers of the state; only the scan over all rows sums in float32, and adds what that may lose.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from semibandit.models.gpu.packed import triangle
from semibandit.models.gpu.tensors import TILE
from semibandit.models.gpu.twins import GIVEN, LOGISTIC, PER_TILE

__all__ = ["look_rows", "look_tiles", "prepare", "scan", "update_rows"]

# places in the line of numbers (numbers.py), as the compiler takes them
R_, SPREAD_, NOW_, RATE_, XX_, C_L2_, USED_, CAP_ = (tl.constexpr(k) for k in range(8))
HEAD_, EACH_ = tl.constexpr(8), tl.constexpr(5)
GIVEN_, LOGISTIC_ = tl.constexpr(GIVEN), tl.constexpr(LOGISTIC)
UNIT_ = tl.constexpr(2.0**-24)
HALF_ = tl.constexpr(2.0**-11)
ABOVE_ = tl.constexpr(1.0 + 2.0**-20)
MOST = 2048  # entries of a matrix that a program holds at a time


def prepare(line, d, q, q32):
    """`twins.prepare`."""
    rows, columns, weight = triangle(d, line.device)
    size = q.shape[0]
    _prepare[(triton.cdiv(size, 512),)](line, rows, columns, weight, q, q32, size, BLOCK=512)


def scan(t, line, q32, bounds, *, fades, rows=16, columns=256, warps=4):
    """`twins.scan`; rows and columns of a tile, and warps, are for those who tune it."""
    size = t.A16.shape[1]
    _scan[(t.capacity // rows,)](
        t.A16, t.w, t.E, t.F, t.since, t.used, line, q32, bounds,
        D=t.d, DP=size, BD=_power(t.d), BM=rows, BK=columns,
        SUMS=triton.cdiv(size, columns) + 64, FADES=fades, num_warps=warps,
    )  # fmt: skip


def look_rows(t, line, q, rows, out, *, fades, norms=True):
    """`twins.look_rows`."""
    if len(rows):
        _look_rows[(len(rows),)](
            t.A, t.w, t.since, line, q, rows, out, out.stride(0),
            D=t.d, DP=t.A.shape[1], BD=_power(t.d), BK=512, FADES=fades, NORMS=norms,
        )  # fmt: skip


def look_tiles(t, line, q, bounds, tiles, least, found, *, fades):
    """`twins.look_tiles`."""
    _look_tiles[(len(tiles), PER_TILE)](
        t.A, t.w, t.since, t.label_of, line, q, bounds, tiles, least, found, found.stride(0),
        D=t.d, DP=t.A.shape[1], BD=_power(t.d), BK=512, FADES=fades, ROWS=TILE, PER=PER_TILE,
    )  # fmt: skip


def update_rows(t, line, labels, mode, *, fades):
    """`twins.update_rows`."""
    width = _power(t.d)
    scratch = torch.empty((labels, width), dtype=torch.float64, device=t.device)
    _update_rows[(labels,)](
        t.A, t.A16, t.F, t.E, t.w, t.count, t.label_of, t.since, t.row_of, t.used, line, scratch,
        D=t.d, DP=t.A.shape[1], BD=width, BR=max(1, min(width, MOST // width)),
        MODE=mode, FADES=fades, num_warps=8,
    )  # fmt: skip


def _power(d):
    return max(16, triton.next_power_of_2(d))


@triton.jit
def _prepare(line, rows, columns, weight, q, q32, size, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = k < size
    r = tl.load(rows + k, mask=inside, other=0)
    c = tl.load(columns + k, mask=inside, other=0)
    found = tl.load(line + r) * tl.load(line + c) * tl.load(weight + k, mask=inside, other=0.0)
    tl.store(q + k, found, mask=inside)
    tl.store(q32 + k, found.to(tl.float32), mask=inside)


@triton.jit
def _factor(since, line, D: tl.constexpr):
    """c of rows that were last folded at these clocks."""
    now, rate = tl.load(line + D + NOW_), tl.load(line + D + RATE_)
    return tl.exp2(rate * tl.where(since < 0, 0.0, now - since.to(tl.float64)))


@triton.jit
def _scan(
    A16, w, E, F, since, used, line, q32, bounds,
    D: tl.constexpr, DP: tl.constexpr, BD: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr,
    SUMS: tl.constexpr, FADES: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.load(used)
    there = rows < n
    if tl.program_id(0) * BM >= n:
        tl.store(bounds + rows, tl.full((BM,), float("-inf"), tl.float32))
    else:
        lines = A16 + rows.to(tl.int64)[:, None] * DP
        k = tl.arange(0, BK)
        sums = tl.zeros((BM, BK), dtype=tl.float32)
        for first in range(0, DP, BK):
            inside = first + k < DP
            a = tl.load(lines + (first + k)[None, :], mask=inside[None, :], other=0.0)
            q = tl.load(q32 + first + k, mask=inside, other=0.0)
            sums += a.to(tl.float32) * q[None, :]
        c = tl.arange(0, BD)
        x = tl.load(line + c, mask=c < D, other=0.0).to(tl.float32)
        at = rows.to(tl.int64)[:, None] * D + c[None, :]
        product = tl.load(w + at, mask=(c < D)[None, :], other=0.0) * x[None, :]
        margin = tl.sum(product, 1) + (D + 4) * UNIT_ * tl.sum(tl.abs(product), 1)
        R = tl.load(line + D + R_).to(tl.float32)
        spread = tl.load(line + D + SPREAD_).to(tl.float32)
        xx = tl.load(line + D + XX_).to(tl.float32)
        size = tl.load(F + rows)
        norm = tl.sum(sums, 1) + (tl.load(E + rows) - HALF_ * size + SUMS * UNIT_ * size) * xx
        if FADES:
            norm *= _factor(tl.load(since + rows), line, D).to(tl.float32)
            norm = tl.minimum(norm, xx) * (1 + 4 * UNIT_)
        width = spread * tl.sqrt(tl.maximum(norm, 0.0)) * (1 + 4 * UNIT_)
        width = tl.minimum(width, tl.load(line + D + CAP_).to(tl.float32))
        bound = tl.minimum(tl.maximum(margin, -R), R) + width + 8 * UNIT_ * (R + width)
        tl.store(bounds + rows, tl.where(there, bound, float("-inf")))


@triton.jit
def _margin(w, line, row, there, D: tl.constexpr, BD: tl.constexpr):
    """w·x of a row, in float64."""
    c = tl.arange(0, BD)
    x = tl.load(line + c, mask=c < D, other=0.0)
    weights = tl.load(w + row * D + c, mask=(c < D) & there, other=0.0).to(tl.float64)
    return tl.sum(weights * x, 0)


@triton.jit
def _norm(
    A, since, line, q, row, there,
    D: tl.constexpr, DP: tl.constexpr, BK: tl.constexpr, FADES: tl.constexpr,
):  # fmt: skip
    """x·A⁻¹x of a row, in float64; x·x if there is no such row."""
    xx = tl.load(line + D + XX_)
    k = tl.arange(0, BK)
    sums = tl.zeros((BK,), dtype=tl.float64)
    for first in range(0, DP, BK):
        inside = (first + k < DP) & there
        a = tl.load(A + row * DP + first + k, mask=inside, other=0.0).to(tl.float64)
        sums += a * tl.load(q + first + k, mask=inside, other=0.0)
    norm = tl.sum(sums, 0)
    if FADES:
        then = tl.load(since + row, mask=there, other=-1)
        norm = tl.minimum(norm * _factor(then, line, D), xx)
    return tl.where(there, norm, xx)


@triton.jit
def _look_tiles(
    A, w, since, label_of, line, q, bounds, tiles, least, found, stride,
    D: tl.constexpr, DP: tl.constexpr, BD: tl.constexpr, BK: tl.constexpr, FADES: tl.constexpr,
    ROWS: tl.constexpr, PER: tl.constexpr,
):  # fmt: skip
    i, j = tl.program_id(0), tl.program_id(1)
    tile = tl.load(tiles + i).to(tl.int64)
    place = tl.arange(0, ROWS)
    bound = tl.load(bounds + tile * ROWS + place)
    reach = ((bound >= tl.load(least)) & (bound > float("-inf"))).to(tl.int32)
    count = tl.sum(reach, 0)
    there = j < count
    which = (reach != 0) & (tl.cumsum(reach, 0) == j + 1)
    row = tile * ROWS + tl.sum(tl.where(which, place, 0), 0)
    label = tl.load(label_of + row, mask=there, other=-1)
    at = found + i * PER + j
    tl.store(at, label.to(tl.float64))
    tl.store(at + stride, _margin(w, line, row, there, D, BD))
    tl.store(at + 2 * stride, _norm(A, since, line, q, row, there, D, DP, BK, FADES))
    if j == 0:
        tl.store(found + 3 * stride + i, count.to(tl.float64))


@triton.jit
def _look_rows(
    A, w, since, line, q, rows, out, stride,
    D: tl.constexpr, DP: tl.constexpr, BD: tl.constexpr, BK: tl.constexpr, FADES: tl.constexpr,
    NORMS: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0)
    row = tl.load(rows + i).to(tl.int64)
    there = row >= 0
    row = tl.maximum(row, 0)
    tl.store(out + i, _margin(w, line, row, there, D, BD))
    if NORMS:
        tl.store(out + stride + i, _norm(A, since, line, q, row, there, D, DP, BK, FADES))


@triton.jit
def _block(A, row, r, c, fresh, D: tl.constexpr, DP: tl.constexpr):
    """Rows r of the lower half of a row's matrix, in float64, and which entries it has."""
    r, c = r[:, None], c[None, :]
    low = (c <= r) & (r < D)
    place = row * DP + r * (r + 1) // 2 + c
    a = tl.load(A + place, mask=low & (fresh == 0), other=0.0).to(tl.float64)
    return tl.where((fresh != 0) & (c == r) & low, 1.0, a), low, place


@triton.jit
def _update_rows(
    A, A16, F, E, w, count, label_of, since, row_of, used, line, scratch,
    D: tl.constexpr, DP: tl.constexpr, BD: tl.constexpr, BR: tl.constexpr,
    MODE: tl.constexpr, FADES: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0)
    at = line + D + HEAD_ + EACH_ * i
    row, label = tl.load(at).to(tl.int64), tl.load(at + 1).to(tl.int64)
    if row < 0:  # a line of numbers may be for more labels than there are
        return
    flags = tl.load(at + 2).to(tl.int32)
    fresh, learns = flags & 1, flags & 2
    c = tl.arange(0, BD)
    inside = c < D
    x = tl.load(line + c, mask=inside, other=0.0)
    u_at = scratch + i * BD
    above = tl.zeros((BD,), dtype=tl.float64)  # what the upper half adds to u = A⁻¹x
    for first in range(0, D, BR):
        r = first + tl.arange(0, BR)
        xr = tl.load(line + r, mask=r < D, other=0.0)
        a, low, place = _block(A, row, r, c, fresh, D, DP)
        tl.store(u_at + r, tl.sum(a * x[None, :], 1), mask=r < D)
        above += tl.sum(tl.where(c[None, :] < r[:, None], a * xr[:, None], 0.0), 0)
    tl.debug_barrier()
    u = tl.load(u_at + c, mask=inside, other=0.0) + above
    tl.debug_barrier()
    tl.store(u_at + c, u, mask=inside)
    tl.debug_barrier()
    norm = tl.sum(u * x, 0)
    weights = tl.load(w + row * D + c, mask=inside & (fresh == 0), other=0.0).to(tl.float64)
    change, step = tl.load(at + 3), tl.load(at + 4)
    if MODE != GIVEN_:
        sign, R = tl.load(at + 3), tl.load(line + D + R_)
        margin = tl.sum(weights * x, 0)
        clipped = tl.minimum(tl.maximum(margin, -R), R)
        slope = 1.0 - sign * clipped
        if MODE == LOGISTIC_:
            slope = 1.0 / (1.0 + tl.exp(sign * clipped))
        change = clipped - margin
        step = sign * slope / tl.load(line + D + C_L2_)
    along = 1.0 / (1.0 + norm)
    shrink = along
    if FADES:
        xx = tl.load(line + D + XX_)
        then = tl.where(fresh != 0, -1, tl.load(since + row))
        factor = _factor(then, line, D)
        e = factor * norm
        small = e <= xx
        along = tl.where(small, factor / (1.0 + e), xx / (norm * (1.0 + xx)))
        shrink = tl.where(small, along, (1.0 - xx / ((1.0 + xx) * e)) / norm)
        now = tl.load(line + D + NOW_).to(tl.int32)
        tl.store(since + row, tl.where((learns != 0) & (then < 0), now, then))
    elif fresh != 0:
        tl.store(since + row, -1)
    amount = tl.where(learns != 0, step * along, 0.0)
    amount += tl.where(change != 0.0, change / norm, 0.0)  # a tiny x may have norm 0
    tl.store(w + row * D + c, (weights + amount * u).to(tl.float32), mask=inside)
    shrink = tl.where(learns != 0, shrink, 0.0)
    before = tl.where(fresh != 0, 0, tl.load(count + row))
    tl.store(count + row, before + tl.where(learns != 0, 1, 0))
    if fresh != 0:
        tl.store(label_of + row, label.to(tl.int32))
        tl.store(row_of + label, row.to(tl.int32))
    if i == 0:
        tl.store(used, tl.load(line + D + USED_).to(tl.int32))
    if flags != 0:  # a projection alone leaves the matrix as it is
        lost2 = tl.zeros((BR,), dtype=tl.float64)
        size2 = tl.zeros((BR,), dtype=tl.float64)
        for first in range(0, D, BR):
            r = first + tl.arange(0, BR)
            a, low, place = _block(A, row, r, c, fresh, D, DP)
            ur = tl.load(u_at + r, mask=r < D, other=0.0)
            new = (a - shrink * ur[:, None] * u[None, :]).to(tl.float32)
            half = new.to(tl.float16)
            tl.store(A + place, new, mask=low)
            tl.store(A16 + place, half, mask=low)
            weight = tl.where(low, tl.where(c[None, :] == r[:, None], 1.0, 2.0), 0.0)
            lost = new.to(tl.float64) - half.to(tl.float64)
            lost2 += tl.sum(weight * lost * lost, 1)
            size2 += tl.sum(weight * new.to(tl.float64) * new.to(tl.float64), 1)
        size = tl.sqrt(tl.sum(size2, 0)) * ABOVE_
        error = tl.sqrt(tl.sum(lost2, 0)) * ABOVE_ + HALF_ * size
        tl.store(F + row, (size * ABOVE_).to(tl.float32))
        tl.store(E + row, (error * ABOVE_).to(tl.float32))
