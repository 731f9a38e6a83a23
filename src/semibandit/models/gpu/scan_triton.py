# mypy: ignore-errors
"""Finding candidates in Triton: `scan_twin.py` says what each function does."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from semibandit.models.gpu.candidates import (
    ALL_BELOW,
    EMPTY,
    ENTRIES,
    EVERY,
    HALVINGS,
    LISTED,
    ROUNDING,
    UNIT,
)
from semibandit.models.gpu.contexts import SCALE, WINDOW
from semibandit.models.gpu.tensors import TILE

__all__ = ["code_of", "make_codes", "refine", "sample", "scan", "score_of", "set_tau"]

TILE_, B_ = tl.constexpr(TILE), tl.constexpr(WINDOW)
LISTED_, ENTRIES_, EMPTY_ = tl.constexpr(LISTED), tl.constexpr(ENTRIES), tl.constexpr(EMPTY)
UNSCALE_, ROUNDING_ = tl.constexpr(1.0 / SCALE), tl.constexpr(ROUNDING)
UNIT_ = tl.constexpr(UNIT)
LAST_, ALL_BELOW_ = tl.constexpr(2**31 - 1), tl.constexpr(ALL_BELOW)
HALVINGS_ = tl.constexpr(HALVINGS)
TO_WHOLE_ = tl.constexpr(1.5 * 2.0**52)  # x + this - this = rint(x), in float64
SCAN = {"STAGES": 1, "num_warps": 8, "num_stages": 6}
REFINE = {"num_warps": 4, "num_stages": 4}
REFINED = 64  # entries that a program of `refine` looks at
CODED = 16  # candidates that a program of `make_codes` looks at


def sample(tensors, contexts, R, stride, group):
    """`scan_twin.sample`."""
    tiles = triton.cdiv(triton.cdiv(tensors.n, TILE), stride)
    best = torch.empty((WINDOW, tiles * (TILE // group)), device=tensors.device)
    _launch_scan(tiles, tensors, contexts, R, best, (contexts.at,) * 5, stride, group)
    return best


def set_tau(best, place, contexts, R, grid, into):
    """`scan_twin.set_tau`."""
    groups = best.shape[1] if place else 1
    _set_tau[(WINDOW,)](
        into.tau if best is None else best, groups, place, contexts.many, contexts.least, R, grid,
        into.tau, into.tau_grid, into.n_entries, into.n_listed,
        BLOCK=triton.next_power_of_2(groups), num_warps=8,
    )  # fmt: skip


def scan(tensors, contexts, R, into):
    """`scan_twin.scan`."""
    tiles = triton.cdiv(tensors.n, TILE)
    lists = into.entry_row, into.n_entries, into.listed, into.n_listed, into.tau
    if tiles:
        _launch_scan(tiles, tensors, contexts, R, into.tau, lists, 1, 0)


def _launch_scan(tiles, tensors, contexts, R, best, lists, stride, group):
    size = tensors.A16.shape[1]
    _scan[(tiles,)](
        tensors.A16, tensors.E, tensors.w, tensors.n, contexts.Q16, contexts.block.X32,
        contexts.at, contexts.numbers, R, best, *lists, stride,
        D=tensors.d, DP=size, WIDEN=1.0 + size * EVERY, GROUP=group, **SCAN,
    )  # fmt: skip


def refine(tensors, contexts, into):
    """`scan_twin.refine`."""
    most = min(ENTRIES, tensors.n)
    if most:
        _refine[(triton.cdiv(most, REFINED),)](
            tensors.A, tensors.w, contexts.block.Q32, contexts.block.X32, contexts.at,
            into.entry_row, into.n_entries, into.margin, into.norm2,
            D=tensors.d, DP=tensors.A.shape[1], BM=REFINED, **REFINE,
        )  # fmt: skip


def make_codes(tensors, contexts, R, grid, into):
    """`scan_twin.make_codes`."""
    _make_codes[(contexts.many, triton.cdiv(LISTED, CODED))](
        tensors.A, tensors.w, contexts.block.Q, contexts.block.X, contexts.at,
        into.listed, into.n_listed, into.entry_row, tensors.label_of, tensors.tie_rank,
        into.margin, into.norm2, contexts.spread, contexts.cap, into.codes, R, grid,
        D=tensors.d, DP=tensors.A.shape[1], BM=CODED, num_warps=4,
    )  # fmt: skip


@triton.jit
def _margins(w, X, rows, at, D: tl.constexpr, BM: tl.constexpr, STAGES: tl.constexpr):
    """Margins of BM rows at the contexts `at` of a block, and ‖w‖² of the rows."""
    j = tl.arange(0, 32)
    margin = tl.zeros((BM, B_), dtype=tl.float32)
    ww = tl.zeros((BM,), dtype=tl.float32)
    weights = w + rows.to(tl.int64)[:, None] * D
    for first in tl.range(0, D // 32 * 32, 32, num_stages=STAGES):
        wc = tl.load(weights + (first + j)[None, :])
        xc = tl.load(X + at[None, :] * D + (first + j)[:, None])
        ww += tl.sum(wc * wc, 1)
        margin = tl.dot(wc, xc, margin, input_precision="tf32x3")
    if D % 32 == 1:  # often: a bias
        last = tl.load(w + rows.to(tl.int64) * D + D - 1)
        margin += last[:, None] * tl.load(X + at * D + D - 1)[None, :]
        ww += last * last
    elif D % 32:
        c = D // 32 * 32 + j
        wc = tl.load(weights + c[None, :], mask=(c < D)[None, :], other=0.0)
        xc = tl.load(X + at[None, :] * D + c[:, None], mask=(c < D)[:, None], other=0.0)
        ww += tl.sum(wc * wc, 1)
        margin = tl.dot(wc, xc, margin, input_precision="tf32x3")
    return margin, ww


@triton.jit(do_not_specialize=["n", "stride"])
def _scan(
    A16, E, w, n, Q16, X32, places, numbers, R, best,
    entry_row, n_entries, listed, n_listed, tau, stride,
    D: tl.constexpr, DP: tl.constexpr, WIDEN: tl.constexpr, GROUP: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """Bounds of one tile of rows, which are listed; with GROUP > 0 the best scores of groups."""
    tile = tl.program_id(0)
    rows = tile * stride * TILE_ + tl.arange(0, TILE_)
    b, k = tl.arange(0, B_), tl.arange(0, 64)
    at = tl.load(places + b)
    # first, so that fewer numbers are held at a time
    margin, ww = _margins(w, X32, rows, at, D, TILE_, STAGES)
    length = tl.sqrt(tl.load(numbers + b))
    if GROUP == 0:
        margin += tl.sqrt(ww)[:, None] * (length * UNIT_ * (D + 16)).to(tl.float32)[None, :]
    margin = tl.minimum(tl.maximum(margin, -R), R)
    lines = A16 + rows.to(tl.int64)[:, None] * DP
    norm2 = tl.zeros((TILE_, B_), dtype=tl.float32)
    for first in range(0, DP // 64 * 64, 64):
        a = tl.load(lines + (first + k)[None, :])
        q = tl.load(Q16 + (first + k)[:, None] * B_ + b[None, :])
        norm2 = tl.dot(a, q, norm2)
    if DP % 64:
        j = DP - 32 + tl.arange(0, 32)
        a = tl.load(lines + j[None, :])
        q = tl.load(Q16 + j[:, None] * B_ + b[None, :])
        norm2 = tl.dot(a, q, norm2)
    norm2 = tl.maximum(norm2 * UNSCALE_, 0.0)
    if GROUP == 0:
        norm2 += (tl.load(E + rows) * WIDEN)[:, None]
    eps = (tl.load(numbers + B_ + b) * length).to(tl.float32)
    cap = tl.load(numbers + 2 * B_ + b).to(tl.float32)
    width = tl.minimum(eps[None, :] * tl.sqrt(norm2), cap[None, :])
    bound = margin + width
    if GROUP == 0:
        bound += (width + R) * ROUNDING_
    there = (rows < n)[:, None]
    if GROUP > 0:
        bound = tl.where(there, bound, float("-inf"))
        bound = tl.max(tl.reshape(bound, (TILE_ // GROUP, GROUP, B_)), axis=1)
        groups: tl.constexpr = TILE_ // GROUP
        g = tile * groups + tl.arange(0, groups)
        tl.store(best + b[None, :] * (tl.num_programs(0) * groups) + g[:, None], bound)
    else:
        reach = there & (bound >= tl.load(tau + b)[None, :])
        some = tl.max(reach.to(tl.int32), axis=1)
        many = tl.sum(some, axis=0)
        if many > 0:
            entry = tl.atomic_add(n_entries, many, sem="relaxed") + tl.cumsum(some, 0) - 1
            fits = entry < ENTRIES_
            tl.store(entry_row + entry, rows, mask=(some > 0) & fits)
            counts = n_listed + tl.broadcast_to(b[None, :], (TILE_, B_))
            place = tl.atomic_add(counts, 1, mask=reach, sem="relaxed")
            fits = reach & fits[:, None] & (place < LISTED_)
            entry = tl.broadcast_to(entry[:, None], (TILE_, B_))
            tl.store(listed + b[None, :] * LISTED_ + place, entry, mask=fits)


@triton.jit(do_not_specialize=["groups", "place", "many"])
def _set_tau(
    best, groups, place, many, least, R, grid, tau, tau_grid, n_entries, n_listed,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """tau of one context, by bisection."""
    b = tl.program_id(0)
    tl.store(n_listed + b, 0)
    if b == 0:
        tl.store(n_entries, 0)
    if place > 0:
        g = tl.arange(0, BLOCK)
        scores = tl.load(best + b * groups + g, mask=g < groups, other=float("-inf"))
        low, high = -R - 1.0, tl.max(scores, 0)
        for _ in range(HALVINGS_):
            middle = 0.5 * (low + high)
            enough = tl.sum((scores >= middle).to(tl.int32), 0) >= place
            low, high = tl.where(enough, middle, low), tl.where(enough, high, middle)
        low = tl.maximum(low, (tl.load(least + b) - 2.0 / grid).to(tl.float32))
        tl.store(tau + b, tl.where(b < many, low, float("inf")))
        whole = (low.to(tl.float64) * grid + TO_WHOLE_) - TO_WHOLE_
        tl.store(tau_grid + b, whole.to(tl.int64))
    else:
        tl.store(tau + b, tl.where(b < many, float("-inf"), float("inf")))
        tl.store(tau_grid + b, ALL_BELOW_)


@triton.jit
def _refine(
    A, w, Q32, X32, places, entry_row, n_entries, margins, norms,
    D: tl.constexpr, DP: tl.constexpr, BM: tl.constexpr,
):  # fmt: skip
    """Margins and norms of BM entries at all contexts."""
    entry = tl.program_id(0) * BM + tl.arange(0, BM)
    many = tl.minimum(tl.load(n_entries), ENTRIES_)
    if tl.program_id(0) * BM < many:
        there = entry < many
        rows = tl.load(entry_row + entry, mask=there, other=0).to(tl.int64)
        b, k = tl.arange(0, B_), tl.arange(0, 32)
        place = tl.load(places + b)
        margin, _ww = _margins(w, X32, rows, place, D, BM, 1)
        norm2 = tl.zeros((BM, B_), dtype=tl.float32)
        for first in range(0, DP, 32):
            a = tl.load(A + rows[:, None] * DP + (first + k)[None, :])
            q = tl.load(Q32 + place[None, :] * DP + (first + k)[:, None])
            norm2 = tl.dot(a, q, norm2, input_precision="tf32x3")
        at = entry[:, None] * B_ + b[None, :]
        tl.store(margins + at, margin, mask=there[:, None])
        tl.store(norms + at, norm2, mask=there[:, None])


@triton.jit
def score_of(margin, norm2, R, spread, cap):
    """clip(margin, -R, R) + min(spread·sqrt(norm2), cap) of float64."""
    width = spread * tl.sqrt(tl.maximum(norm2, 0.0))
    return tl.minimum(tl.maximum(margin, -R), R) + tl.minimum(width, cap)


@triton.jit
def code_of(score, rank, grid):
    """`candidates.codes_of`."""
    whole = (score * grid + TO_WHOLE_) - TO_WHOLE_
    return whole.to(tl.int64) * 4294967296 + (-rank + LAST_).to(tl.int64)


@triton.jit
def _make_codes(
    A, w, Q, X, places,
    listed, n_listed, entry_row, label_of, tie_rank, margins, norms, spreads, caps, codes, R, grid,
    D: tl.constexpr, DP: tl.constexpr, BM: tl.constexpr,
):  # fmt: skip
    """Look at BM candidates of one context, and make their codes."""
    b = tl.program_id(0)
    place = tl.program_id(1) * BM + tl.arange(0, BM)
    many = tl.minimum(tl.load(n_listed + b), LISTED_)
    if tl.program_id(1) * BM < many:
        at = tl.load(places + b)
        there = place < many
        entry = tl.load(listed + b * LISTED_ + place, mask=there, other=0)
        there = there & (entry >= 0) & (entry < ENTRIES_)
        row = tl.load(entry_row + entry, mask=there, other=0)
        label = tl.load(label_of + row, mask=there, other=0)
        rank = tl.load(tie_rank + label, mask=there, other=0)
        k = tl.arange(0, 128)
        lines = A + row.to(tl.int64)[:, None] * DP
        sums = tl.zeros((BM, 128), dtype=tl.float64)
        for first in range(0, DP, 128):
            inside = (first + k < DP)[None, :]
            a = tl.load(lines + (first + k)[None, :], mask=inside & there[:, None], other=0.0)
            q = tl.load(Q + at * DP + first + k, mask=first + k < DP, other=0.0)
            sums += a.to(tl.float64) * q[None, :]
        norm2 = tl.sum(sums, 1)
        sums = tl.zeros((BM, 128), dtype=tl.float64)
        for first in range(0, D, 128):
            inside = (first + k < D)[None, :] & there[:, None]
            own = row.to(tl.int64)[:, None] * D + (first + k)[None, :]
            x = tl.load(X + at * D + first + k, mask=first + k < D, other=0.0)
            sums += tl.load(w + own, mask=inside, other=0.0).to(tl.float64) * x[None, :]
        margin = tl.sum(sums, 1)
        tl.store(margins + entry * B_ + b, margin, mask=there)
        tl.store(norms + entry * B_ + b, norm2, mask=there)
        score = score_of(margin, norm2, R, tl.load(spreads + b), tl.load(caps + b))
        code = tl.where(there, code_of(score, rank, grid), EMPTY_)
        tl.store(codes + b * LISTED_ + place, code, mask=place < LISTED_)
    else:
        tl.store(codes + b * LISTED_ + place, EMPTY_, mask=place < LISTED_)
