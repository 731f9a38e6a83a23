# mypy: ignore-errors
"""The rounds of a window in Triton: `rounds_twin.py` says what they do.

One function plays all rounds. Its programs rank each round alike, and each updates some of the
labels shown; a barrier ends the round. What a program reads in a round, no other writes in it: new
entries and places have numbers that are not yet counted, and looks change at later contexts alone.
"""

from __future__ import annotations

import os

import numpy as np
import triton
import triton.language as tl

from semibandit.models.gpu.candidates import EMPTY, ENTRIES, LISTED
from semibandit.models.gpu.contexts import WINDOW, sent
from semibandit.models.gpu.scan_triton import code_of, score_of
from semibandit.models.gpu.update_triton import look_ahead, shadow_rows, update_row
from semibandit.models.gpu.window import (
    DONE,
    ERROR,
    HEAD,
    LAST_ENTRY,
    SHOWN,
    TOUCHED,
    UNDECIDED,
    USED,
)

__all__ = ["begin", "finish", "play_rounds"]

B_, TOUCHED_ = tl.constexpr(WINDOW), tl.constexpr(TOUCHED)
LISTED_, ENTRIES_, EMPTY_ = tl.constexpr(LISTED), tl.constexpr(ENTRIES), tl.constexpr(EMPTY)
TOP_ = tl.constexpr(256)  # candidates of a round that are ranked: the best, if there are more
LAST_ = tl.constexpr(2**31 - 1)
LOW_ = tl.constexpr(2**32 - 1)
LARGEST_ = tl.constexpr(2**63 - 1)
DONE_, ERROR_, HEAD_, LAST_ENTRY_ = (tl.constexpr(k) for k in (DONE, ERROR, HEAD, LAST_ENTRY))
SHOWN_, UNDECIDED_, USED_ = (tl.constexpr(k) for k in (SHOWN, UNDECIDED, USED))
TRIES_ = tl.constexpr(1 << 20)  # how often a program asks whether the others are there
RELEVANT_ = tl.constexpr(32)  # relevant labels that are compared at a time
PROGRAMS = 64  # the most that take part: they must all run at once
BLOCK = 1024
WARPS = 8


def begin(window):
    """`rounds_twin.begin`."""
    t, found = window.tensors, window.candidates
    _begin[(triton.cdiv(ENTRIES + TOUCHED, BLOCK),)](
        found.n_entries, found.entry_row, t.label_of, t.tie_rank, window.entry_of_rank,
        window.place_of, BLOCK=BLOCK,
    )  # fmt: skip


def finish(window):
    """`rounds_twin.finish`."""
    t, found = window.tensors, window.candidates
    _forget[(triton.cdiv(ENTRIES + TOUCHED, BLOCK),)](
        window.meta, found.entry_row, t.label_of, t.tie_rank, window.entry_of_rank, BLOCK=BLOCK
    )
    shadow_rows[(TOUCHED,)](
        window.meta, window.entry_at, found.entry_row, t.A, t.A16, t.F, t.E,
        D=t.d, DP=t.A.shape[1], BLOCK=BLOCK,
    )  # fmt: skip


def play_rounds(window, block, contexts, plan, first):
    """`rounds_twin.play_rounds`."""
    t, found, rule = window.tensors, window.candidates, window.rule
    rounds = len(plan.slots)
    host = np.zeros((3, WINDOW), dtype=np.int32)
    host[:, :rounds] = plan.slots, plan.main, plan.probed
    most = block.slates.shape[1]
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    programs = 1 if interpreted else max(1, min(most, PROGRAMS))
    window.barrier.zero_()
    width = max(16, triton.next_power_of_2(t.d - 1 if t.d > 16 else t.d))
    _play[(programs,)](
        sent(host, t.device), rounds, first, t.n, window.head, len(window.queue),
        contexts.block.X[contexts.at], contexts.numbers,
        block.ptr, block.indices, block.slates, block.hits, block.sizes, block.slates.stride(0),
        t.A, t.w, t.count, t.label_of, t.since, t.row_of, t.used,
        window.label_of_rank, window.queue, window.entry_of_rank,
        window.place_of, window.entry_at, window.codes,
        found.entry_row, found.n_entries, found.margin, found.norm2, found.listed,
        found.n_listed, found.codes, found.tau_grid,
        window.meta, window.barrier,
        rule.R, rule.c_L2, rule.a, rule.at_least, rule.grid, rule.tolerance,
        LOGISTIC=rule.logistic, CONSTANT=rule.constant, D=t.d, DP=t.A.shape[1], BD=width,
        **_sizes(width),
        SP=max(16, triton.next_power_of_2(most + 1)), PROGRAMS=programs,
        num_warps=WARPS,
    )  # fmt: skip


def _sizes(width):
    """How many lines of a matrix, and how many contexts, a program holds at a time."""
    lines = max(1, min(width, 4096 // width))
    return {"BR": lines, "BB": max(1, min(WINDOW, 4096 // width))}


@triton.jit
def _begin(
    n_entries, entry_row, label_of, tie_rank, entry_of_rank, place_of, BLOCK: tl.constexpr
):  # fmt: skip
    entry = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(place_of + entry, -1, mask=entry < ENTRIES_ + TOUCHED_)
    there = entry < tl.minimum(tl.load(n_entries), ENTRIES_)
    row = tl.load(entry_row + entry, mask=there, other=0)
    label = tl.load(label_of + row, mask=there, other=0)
    tl.store(entry_of_rank + tl.load(tie_rank + label, mask=there, other=0), entry, mask=there)


@triton.jit
def _forget(meta, entry_row, label_of, tie_rank, entry_of_rank, BLOCK: tl.constexpr):
    """No label has an entry any more."""
    entry = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = entry < tl.load(meta + LAST_ENTRY_)
    row = tl.load(entry_row + entry, mask=there, other=0)
    label = tl.load(label_of + row, mask=there, other=0)
    tl.store(entry_of_rank + tl.load(tie_rank + label, mask=there, other=0), -1, mask=there)


@triton.jit
def _listed(b, shown, listed, listed_codes, place_of):
    """The codes of the best candidates of context b, best first, and EMPTY for those shown."""
    i = b * LISTED_ + tl.arange(0, TOP_)
    code = tl.load(listed_codes + i)
    there = code != EMPTY_
    entry = tl.load(listed + i, mask=there, other=0)
    place = tl.load(place_of + entry, mask=there, other=-1, cache_modifier=".cg")
    return tl.where((place >= 0) & (place < shown), EMPTY_, code)


@triton.jit
def _touched(b, shown, codes):
    """The codes of the labels shown in this window, at context b."""
    i = tl.arange(0, TOUCHED_)
    return tl.load(codes + b * TOUCHED_ + i, mask=i < shown, other=EMPTY_, cache_modifier=".cg")


@triton.jit
def _first(codes, SP: tl.constexpr):
    """The first SP codes that are not EMPTY."""
    there = codes != EMPTY_
    place = tl.cumsum(there.to(tl.int32), 0) - 1
    s = tl.arange(0, SP)
    at = there[:, None] & (place[:, None] == s[None, :])
    return tl.max(tl.where(at, codes[:, None], EMPTY_), axis=0)


@triton.jit
def _merged(found, untouched, SP: tl.constexpr):
    """The SP largest of two sorted lists of SP codes, sorted; no code is in both but EMPTY."""
    s = tl.arange(0, SP)
    before = tl.sum((untouched[None, :] > found[:, None]).to(tl.int32), axis=1)
    place = s + before  # of those found
    before = tl.sum((found[None, :] >= untouched[:, None]).to(tl.int32), axis=1)
    other = s + before
    first = tl.max(tl.where(place[None, :] == s[:, None], found[None, :], EMPTY_), axis=1)
    second = tl.max(tl.where(other[None, :] == s[:, None], untouched[None, :], EMPTY_), axis=1)
    return tl.maximum(first, second)


@triton.jit
def _cut(
    score, S, R, a, tolerance, LOGISTIC: tl.constexpr, CONSTANT: tl.constexpr, SP: tl.constexpr
):
    """Lemma 1: how many of the first S labels to show."""
    s = tl.arange(0, SP)
    inside = s < S
    m = tl.minimum(tl.maximum(score, -R), R)
    p = 1.0 / (1.0 + tl.exp(-m)) if LOGISTIC else 0.5 * (1.0 + m)
    p = tl.where(inside, p, 0.0)
    missed = tl.cumsum(tl.where(inside, 1.0 - p, 0.0), 0)
    wrong = missed
    if not CONSTANT:
        wrong = tl.cumsum(missed, 0) / (s + 1).to(tl.float64)
    J = (1.0 - a) * wrong - a * tl.cumsum(p, 0)
    low = tl.minimum(tl.min(tl.where(inside, J, 0.0), 0), 0.0)
    return tl.max(tl.where(inside & (low + tolerance >= J), s + 1, 0), 0)


@triton.jit
def _one(values, s, at):
    """values[at] of a vector whose places are s."""
    return tl.sum(tl.where(s == at, values, 0), 0)


@triton.jit
def _wait(barrier, t, PROGRAMS: tl.constexpr):
    """Wait until all programs have played t rounds, but not for ever; whether they have."""
    there = t * PROGRAMS
    if PROGRAMS > 1:
        tl.debug_barrier()
        tl.atomic_add(barrier, 1, sem="acq_rel", scope="gpu")
        there = tl.atomic_add(barrier, 0, sem="acquire", scope="gpu")
        tries = 0
        while (there < t * PROGRAMS) & (tries < TRIES_):
            there = tl.atomic_add(barrier, 0, sem="acquire", scope="gpu")
            tries += 1
        tl.debug_barrier()
    return there >= t * PROGRAMS


@triton.jit(do_not_specialize=["rounds", "first", "n", "head", "queued", "most", "at_least"])
def _play(
    plan, rounds, first, n, head, queued,
    X, numbers,
    ptr, indices, slates, hits, sizes, most,
    A, w, count, label_of, since, row_of, used,
    label_of_rank, queue, entry_of_rank, place_of, entry_at, codes,
    entry_row, n_entries, margins, norms, listed, n_listed, listed_codes, tau_grid,
    meta, barrier,
    R, c_L2, a, at_least, grid, tolerance,
    LOGISTIC: tl.constexpr, CONSTANT: tl.constexpr,
    D: tl.constexpr, DP: tl.constexpr, BD: tl.constexpr, BR: tl.constexpr, BB: tl.constexpr,
    SP: tl.constexpr, PROGRAMS: tl.constexpr,
):  # fmt: skip
    """All rounds; loads that do not depend on each other stand together, since each takes long."""
    pid = tl.program_id(0)
    s = tl.arange(0, SP)
    relevant = tl.arange(0, RELEVANT_)
    t, shown, undecided, failed = 0, 0, 0, 0
    entries = tl.load(n_entries)
    going = entries <= ENTRIES_
    entries = tl.minimum(entries, ENTRIES_)
    while (t < rounds) & going:
        S, b, probed = tl.load(plan + t), tl.load(plan + B_ + t), tl.load(plan + 2 * B_ + t)
        told, end = tl.load(ptr + first + t), tl.load(ptr + first + t + 1)
        cold = (head + s < queued) & (s <= S)
        waiting = tl.load(queue + head + s, mask=cold, other=0)
        # rank: the S + 1 best
        best = _first(_listed(b, shown, listed, listed_codes, place_of), SP)
        keys = _touched(b, shown, codes)
        x2, spread, cap = (
            tl.load(numbers + b),
            tl.load(numbers + B_ + b),
            tl.load(numbers + 2 * B_ + b),
        )
        tau, many = tl.load(tau_grid + b), tl.load(n_listed + b)
        ranked = tl.load(listed_codes + b * LISTED_ + TOP_ - 1)  # those listed after it are worse
        some = tl.load(indices + told + relevant, mask=told + relevant < end, other=-2)
        others = tl.full((SP,), EMPTY_, tl.int64)  # labels shown before that are among the best
        least = tl.min(tl.where(s <= S, best, LARGEST_), 0)
        top, k = tl.max(keys, 0), 0
        while (top > least) & (k <= S):
            others = tl.where(s == k, top, others)
            keys = tl.where(keys == top, EMPTY_, keys)
            top = tl.max(keys, 0)
            k += 1
        if k > 0:
            best = _merged(best, others, SP)
        if head < queued:
            width = tl.minimum(spread * tl.sqrt(x2), cap)
            best = _merged(best, tl.where(cold, code_of(width, waiting, grid), EMPTY_), SP)
        best = tl.where(s <= S, best, EMPTY_)
        # look: who they are, and the margins and norms of the S best
        there = (s < S) & (best != EMPTY_)
        rank = (-(best & LOW_) + LAST_).to(tl.int32)
        entry = tl.load(entry_of_rank + rank, mask=there, other=-1, cache_modifier=".cg")
        label = tl.load(label_of_rank + rank, mask=there, other=-1)
        known = there & (entry >= 0) & (entry < entries)
        entry = tl.where(known, entry, 0)
        margin = tl.load(margins + entry * B_ + b, mask=known, other=0.0, cache_modifier=".cg")
        norm2 = tl.load(norms + entry * B_ + b, mask=known, other=0.0, cache_modifier=".cg")
        row = tl.load(entry_row + entry, mask=known, other=0, cache_modifier=".cg")
        place = tl.load(place_of + entry, mask=known, other=-1, cache_modifier=".cg")
        last = tl.min(tl.where(s < S, best, LARGEST_), 0)
        going = (S == 0) | ((last != EMPTY_) & ((last >> 32) > tau) & (last >= ranked))
        going = going & (many <= LISTED_)
        score = score_of(margin, tl.where(known, norm2, x2), R, spread, cap)
        size = _cut(score, S, R, a, tolerance, LOGISTIC, CONSTANT, SP)
        size = tl.maximum(size, tl.minimum(at_least, S))
        level = best >> 32
        both = (best != EMPTY_)[:, None] & (best != EMPTY_)[None, :]
        close = both & (level[:, None] - level[None, :] == 1)
        close = tl.max(tl.max(close.to(tl.int32), 1), 0)
        if going & (probed >= 0) & (size < S):
            keys = _touched(probed, shown, codes)
            found = _listed(probed, shown, listed, listed_codes, place_of)
            for i in range(size):
                picked = _one(best, s, i) & LOW_
                keys = tl.where((keys & LOW_) == picked, EMPTY_, keys)
                found = tl.where((found & LOW_) == picked, EMPTY_, found)
            top = tl.maximum(tl.max(keys, 0), tl.max(found, 0))
            ranked = tl.load(listed_codes + probed * LISTED_ + TOP_ - 1)
            tau = tl.load(tau_grid + probed)
            cold_at = head + tl.sum((there & (s < size) & (known == 0)).to(tl.int32), 0)
            if cold_at < queued:
                spread = tl.load(numbers + B_ + probed)
                width = tl.minimum(spread * tl.sqrt(x2), tl.load(numbers + 2 * B_ + probed))
                top = tl.maximum(top, code_of(width, tl.load(queue + cold_at), grid))
            going = (top != EMPTY_) & ((top >> 32) > tau) & (top >= ranked)
            going = going & (tl.load(n_listed + probed) <= LISTED_)
            best = tl.where(s == size, top, best)
            rank = (-(best & LOW_) + LAST_).to(tl.int32)
            size += 1
            there = (s < size) & (best != EMPTY_)
            entry = tl.load(entry_of_rank + rank, mask=there, other=-1, cache_modifier=".cg")
            label = tl.load(label_of_rank + rank, mask=there, other=-1)
            known = there & (entry >= 0) & (entry < entries)
            entry = tl.where(known, entry, 0)
            margin = tl.load(margins + entry * B_ + b, mask=known, other=0.0, cache_modifier=".cg")
            row = tl.load(entry_row + entry, mask=known, other=0, cache_modifier=".cg")
            place = tl.load(place_of + entry, mask=known, other=-1, cache_modifier=".cg")
        if going:
            # rows and places of the labels shown
            is_shown = s < size
            is_new = is_shown & (known == 0)
            more = tl.cumsum(is_new.to(tl.int32), 0) - 1
            row = tl.where(is_new, n + more, row)
            entry = tl.where(is_new, entries + more, entry)
            fresh = is_shown & (is_new | (place < 0) | (place >= shown))
            place = tl.where(fresh, shown + tl.cumsum(fresh.to(tl.int32), 0) - 1, place)
            # the answer
            hit = tl.max((label[:, None] == some[None, :]).to(tl.int32), axis=1) > 0
            for at in range(told + RELEVANT_, end, RELEVANT_):
                more_of = tl.load(indices + at + relevant, mask=at + relevant < end, other=-2)
                hit = hit | (tl.max((label[:, None] == more_of[None, :]).to(tl.int32), axis=1) > 0)
            if pid == 0:
                out = (first + t) * most + s
                tl.store(slates + out, label, mask=is_shown)
                tl.store(hits + out, hit.to(tl.int8), mask=is_shown)
                tl.store(sizes + first + t, size)
            for i in range(pid, size, PROGRAMS):
                j, e = _one(row, s, i).to(tl.int64), _one(entry, s, i)
                new, q = _one(is_new.to(tl.int32), s, i), _one(place, s, i)
                sign = tl.where(_one(hit.to(tl.int32), s, i) > 0, 1.0, -1.0)
                weights, v, w_last, v_last = update_row(
                    A, w, X + b * D, j, new, _one(margin, s, i), sign, R, c_L2,
                    LOGISTIC, D, DP, BD, BR,
                )  # fmt: skip
                own = _one(rank, s, i)
                look_ahead(
                    X, numbers, weights, v, w_last, v_last, margins, norms, codes, e, q, new, own,
                    tl.maximum(b, probed), R, grid, D, BD, BB,
                )  # fmt: skip
                tl.store(place_of + e, q)
                tl.store(entry_at + q, e)
                before = tl.load(count + j, mask=new == 0, other=0, cache_modifier=".cg")
                tl.store(count + j, before + 1)
                if new != 0:
                    name = _one(label, s, i)
                    tl.store(entry_row + e, j.to(tl.int32))
                    tl.store(entry_of_rank + own, e)
                    tl.store(label_of + j, name)
                    tl.store(row_of + name, j.to(tl.int32))
                    tl.store(since + j, -1)
            added = tl.sum(is_new.to(tl.int32), 0)
            n += added
            head += added
            entries += added
            shown += tl.sum(fresh.to(tl.int32), 0)
            undecided += close
            t += 1
            if not _wait(barrier, t, PROGRAMS):
                failed = 1
                going = False
    if pid == 0:
        tl.store(used, n)
        tl.store(meta + DONE_, t)
        tl.store(meta + USED_, n)
        tl.store(meta + SHOWN_, shown)
        tl.store(meta + HEAD_, head)
        tl.store(meta + LAST_ENTRY_, entries)
        tl.store(meta + UNDECIDED_, undecided)
        tl.store(meta + ERROR_, failed)
