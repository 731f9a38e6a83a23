# mypy: ignore-errors
"""Rounds of Figure 2 in one go, for replay: compiled loops that score, rank, cut and learn.

They take arrays, change arrays and check nothing. The plain twin of every loop is `rank` and
`learn`, round by round. A `rule` is what decides a slate, `policies.fast_rule.RuleNumbers`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from semibandit._util.jit import FAST
from semibandit.models.compiled_steps import copy
from semibandit.models.compiled_updates import gains, seen_norm2, start_row, update
from semibandit.policies.compiled import better, candidates_for, choose
from semibandit.policies.compiled_surrogate import clip, step_size
from semibandit.policies.fast_rule import PROBE_DEVIATIONS
from semibandit.theory.slate import SCORE_GRID

__all__ = ["diagonal_rounds", "shared_rounds", "window_rounds"]

FEW = 8  # candidates are looked at alone if there are at least so many times as many labels


@njit(**FAST)
def is_relevant(label, t, inputs):
    """Whether the label is among the relevant ones of round t, by bisection."""
    indices, first, end = inputs.indices, inputs.ptr[t], inputs.ptr[t + 1]
    while first < end:
        middle = (first + end) // 2
        if indices[middle] < label:
            first = middle + 1
        elif indices[middle] > label:
            end = middle
        else:
            return True
    return False


@njit(**FAST)
def capped(eps, norm2, R):
    """The width ε = eps·sqrt(x·A⁻¹x), capped at 2R."""
    return min(eps * math.sqrt(max(norm2, 0.0)), 2.0 * R)


@njit(**FAST)
def collect(t, inputs, score, rule, candidates):
    """Make candidates of all labels that may be shown; return how many they are."""
    mask, have = inputs.mask, 0
    for i in inputs.labels:
        if len(mask) and not mask[t, i]:
            continue
        candidates.score[have], candidates.tie[have] = score[i], rule.tie[i]
        candidates.label[have] = i
        have += 1
    return have


@njit(**FAST)
def collect_touched(before, n, t, inputs, window, rule, candidates):
    """`collect` for the touched labels of a window: those that it was opened for, and those from
    number `before` to n that were touched since."""
    mask, eps, R = inputs.mask, inputs.spread[t], rule.R
    label_of, margin, opened = window.rows.label_of, window.looks.margin, window.opened
    score, tie, label, have = candidates.score, candidates.tie, candidates.label, 0
    for k in range(len(opened) + n - before):
        j = opened[k] if k < len(opened) else before + k - len(opened)
        i = label_of[j]
        if len(mask) and not mask[t, i]:
            continue
        score[have] = clip(float(margin[j, t]), R) + capped(eps, seen_norm2(j, t, window), R)
        tie[have], label[have] = rule.tie[i], i
        have += 1
    return have


@njit(**FAST)
def collect_untouched(have, t, inputs, window, untouched, rule, candidates):
    """Add untouched labels to the candidates: all have the same score, so as many as there are
    slots will do, by the order among equal labels. Returns how many candidates there are."""
    mask, labels, row_of = inputs.mask, untouched.labels, window.rows.row_of
    first = untouched.first[0]
    while first < len(labels) and row_of[labels[first]] >= 0:
        first += 1
    untouched.first[0] = first
    same, left = capped(inputs.spread[t], float(window.contexts.xx[t]), rule.R), inputs.slots[t]
    while first < len(labels) and left > 0:
        i = labels[first]
        first += 1
        if row_of[i] >= 0 or (len(mask) and not mask[t, i]):
            continue
        candidates.score[have], candidates.tie[have] = same, rule.tie[i]
        candidates.label[have] = i
        have += 1
        left -= 1
    return have


@njit(**FAST)
def probe_key(margin, norm2, rule):
    """What labels to be probed are ordered by: the margin and some deviations, on the grid."""
    deviation = math.sqrt(max(norm2, 0.0) / rule.c_L2)
    return np.rint((clip(margin, rule.R) + PROBE_DEVIATIONS * deviation) * SCORE_GRID)


@njit(**FAST)
def best_probe(have, size, key, candidates):
    """The candidate to show besides the `size` that were chosen: by key, then by tie."""
    for s in range(size):
        key[candidates.best[s]] = -np.inf
    best = -1
    for k in range(have):
        if key[k] > -np.inf and (
            best < 0 or better(key[k], candidates.tie[k], key[best], candidates.tie[best])
        ):
            best = k
    return best


@njit(**FAST)
def probe_in_window(have, size, t, window, rule, candidates):
    """The candidate to be probed in round t.

    Untouched labels have the same key, and more of them are candidates than were chosen.
    """
    key = np.empty(have)
    for k in range(have):
        j = window.rows.row_of[candidates.label[k]]
        if j >= 0:
            margin, norm2 = float(window.looks.margin[j, t]), seen_norm2(j, t, window)
        else:
            margin, norm2 = 0.0, float(window.contexts.xx[t])
        key[k] = probe_key(margin, norm2, rule)
    return best_probe(have, size, key, candidates)


@njit(**FAST)
def is_probed(t, size, have, inputs):
    """Whether one more label is to be shown in round t, besides `size` of `have` candidates."""
    return len(inputs.probe) > 0 and inputs.probe[t] and size < min(inputs.slots[t], have)


@njit(**FAST)
def window_rounds(rule, inputs, window, n, untouched, outcome):
    """Play the rounds of one window on full matrices, with n labels touched before them.

    Returns how many labels are touched after them.
    """
    rows, margin, R, most = window.rows, window.looks.margin, rule.R, len(window.rows.label_of)
    dtype, before = rows.w.dtype, n
    u, z = np.empty(rows.w.shape[1], dtype), np.empty(len(window.contexts.xx), dtype)
    candidates = candidates_for(most, outcome.slates.shape[1])
    shown = np.zeros(most, np.bool_)
    row, move, step = np.empty(most, np.int64), np.empty(most), np.empty(most)  # what changes
    for t in range(len(inputs.slots)):
        have = collect_touched(before, n, t, inputs, window, rule, candidates)  # steps 2 and 3
        have = collect_untouched(have, t, inputs, window, untouched, rule, candidates)
        size = choose(have, candidates, min(inputs.slots[t], have), rule)
        if is_probed(t, size, have, inputs):
            candidates.best[size] = probe_in_window(have, size, t, window, rule, candidates)
            size += 1
        outcome.sizes[t] = size
        before_round = n if rule.project_all else 0
        for k in range(size):  # step 5: the labels that were shown
            i = candidates.label[candidates.best[k]]
            hit = is_relevant(i, t, inputs)
            outcome.slates[t, k], outcome.hits[t, k] = i, hit
            j = rows.row_of[i]
            if j < 0:
                j = n
                n += 1
                start_row(j, i, t, window)
            m = float(margin[j, t])
            inside = clip(m, R)
            row[k], move[k], step[k] = j, inside - m, step_size(hit, inside, rule)
            shown[j] = True
        changes = size
        for j in range(before_round):  # step 2: labels that were not shown are projected, too
            m = float(margin[j, t])
            if (m > R or m < -R) and not shown[j]:
                row[changes], move[changes], step[changes] = j, clip(m, R) - m, 0.0
                changes += 1
        for k in range(changes):
            update(row[k], t, move[k], step[k], k < size, window, u, z)
            shown[row[k]] = False
    return n


@njit(**FAST)
def project_cells(i, m, norm2, R, first, end, contexts, state, c):
    """Project the weights of label i, whose margin is m, at the context with these entries."""
    inside = clip(m, R)
    if m != inside:
        move = (inside - m) / norm2
        if len(state.fading.grow) > 0:
            move_faded(i, move, first, end, contexts, state, c)
            return
        for e in range(first, end):
            r = contexts.feature[e]
            state.w[r, i] += move * contexts.value[e] * state.A_inv[r, i]


@njit(**FAST)
def probe_label(have, size, margin, norm2, rule, candidates):
    """The candidate to be probed, for margins and norms by label."""
    key = np.empty(have)
    for k in range(have):
        i = candidates.label[k]
        key[k] = probe_key(margin[i], norm2[i], rule)
    return best_probe(have, size, key, candidates)


@njit(**FAST)
def diagonal_rounds(rule, inputs, contexts, state, outcome):
    """Play rounds on diagonal matrices."""
    R, K, w, A, A_inv = rule.R, state.w.shape[1], state.w, state.A, state.A_inv
    feature, value, fading = contexts.feature, contexts.value, state.fading
    margin, norm2, score = np.empty(K), np.empty(K), np.empty(K)
    fades, c = len(fading.grow) > 0, np.ones(K)
    candidates = candidates_for(K, outcome.slates.shape[1])
    for t in range(len(inputs.slots)):
        first, end = contexts.ptr[t], contexts.ptr[t + 1]
        if fades:
            copy(fading.factor * fading.grow[t], c)
        margin[:] = 0.0
        norm2[:] = 0.0
        if not rule.project_all and has_few_candidates(t, inputs):
            look_at_candidates(first, end, contexts, state, c, t, inputs, margin, norm2)
        elif fades:
            look_faded(first, end, contexts, state, c, margin, norm2)
        else:
            for e in range(first, end):
                r, x = feature[e], value[e]
                xx = x * x
                for i in range(K):
                    margin[i] += x * w[r, i]
                    norm2[i] += xx * A_inv[r, i]
        for i in range(K):
            score[i] = clip(margin[i], R) + capped(inputs.spread[t], norm2[i], R)
        have = collect(t, inputs, score, rule, candidates)
        size = choose(have, candidates, min(inputs.slots[t], have), rule)
        if is_probed(t, size, have, inputs):
            candidates.best[size] = probe_label(have, size, margin, norm2, rule, candidates)
            size += 1
        outcome.sizes[t] = size
        if rule.project_all:
            for i in inputs.labels:  # step 2
                project_cells(i, margin[i], norm2[i], R, first, end, contexts, state, c)
        for k in range(size):  # step 5
            i = candidates.label[candidates.best[k]]
            hit = is_relevant(i, t, inputs)
            outcome.slates[t, k], outcome.hits[t, k] = i, hit
            if not rule.project_all:
                project_cells(i, margin[i], norm2[i], R, first, end, contexts, state, c)
            step = step_size(hit, clip(margin[i], R), rule)
            if fades:
                update_faded(i, t, step, first, end, contexts, state, c)
                continue
            for e in range(first, end):
                r, x = feature[e], value[e]
                grown = A[r, i] + x * x
                A[r, i], A_inv[r, i] = grown, 1.0 / grown
                w[r, i] += step * x / grown


@njit(**FAST)
def has_few_candidates(t, inputs):
    """Whether so few labels may be shown in round t that it pays to look at them alone."""
    mask = inputs.mask
    return len(mask) > 0 and np.sum(mask[t]) * FEW < mask.shape[1]


@njit(**FAST)
def look_at_candidates(first, end, contexts, state, c, t, inputs, margin, norm2):
    """Add up margins and norms of the candidates of round t; c is 1 if nothing fades."""
    for i in inputs.labels:
        if inputs.mask[t, i]:
            for e in range(first, end):
                r, x = contexts.feature[e], contexts.value[e]
                margin[i] += x * state.w[r, i]
                norm2[i] += x * x * min(c[i] * state.A_inv[r, i], 1.0)


@njit(**FAST)
def look_faded(first, end, contexts, state, c, margin, norm2):
    """Add up margins and norms of all labels at a context, if A⁻¹ counts as min(c·A⁻¹, 1)."""
    for e in range(first, end):
        r, x = contexts.feature[e], contexts.value[e]
        w, A_inv, xx = state.w[r], state.A_inv[r], x * x
        for i in range(len(c)):
            margin[i] += x * w[i]
            norm2[i] += xx * min(c[i] * A_inv[i], 1.0)


@njit(**FAST)
def move_faded(i, move, first, end, contexts, state, c):
    """Step 2 for label i, along A⁻¹x, with the same A⁻¹."""
    for e in range(first, end):
        r = contexts.feature[e]
        state.w[r, i] += move * contexts.value[e] * min(c[i] * state.A_inv[r, i], 1.0)


@njit(**FAST)
def update_faded(i, t, step, first, end, contexts, state, c):
    """Step 5 for label i in round t; one of which nothing was known begins to fade."""
    fading = state.fading
    if fading.since[i] < 0:
        fading.since[i], fading.factor[i], c[i] = fading.now + t, 1.0 / fading.grow[t], 1.0
    for e in range(first, end):
        r, x = contexts.feature[e], contexts.value[e]
        if x == 0.0:
            continue
        grown = max(state.A[r, i], c[i]) + c[i] * x * x
        state.A[r, i], state.A_inv[r, i] = grown, 1.0 / grown
        state.w[r, i] += c[i] * step * x / grown


@njit(**FAST)
def shared_rounds(rule, inputs, X, w, A_inv, fading, outcome):
    """Play rounds with full information: one matrix (d×d), every label told its answer."""
    R, (K, d) = rule.R, w.shape
    margin, score, u = np.empty(K), np.empty(K), np.empty(d)
    candidates = candidates_for(K, outcome.slates.shape[1])
    relevant = np.zeros(K, np.bool_)
    for t in range(len(inputs.slots)):
        x, n = X[t], 0.0
        for i in range(K):
            m = 0.0
            for c in range(d):
                m += w[i, c] * x[c]
            margin[i], score[i] = m, clip(m, R)
        have = collect(t, inputs, score, rule, candidates)
        size = choose(have, candidates, min(inputs.slots[t], have), rule)
        outcome.sizes[t] = size
        for e in range(inputs.ptr[t], inputs.ptr[t + 1]):
            relevant[inputs.indices[e]] = True
        for k in range(size):
            i = candidates.label[candidates.best[k]]
            outcome.slates[t, k], outcome.hits[t, k] = i, relevant[i]
        u[:] = 0.0
        for r in range(d):
            for c in range(d):
                u[c] += x[r] * A_inv[r, c]
        for c in range(d):
            n += u[c] * x[c]
        divisor, root = 1.0 + n, math.sqrt(1.0 + n)
        if len(fading.grow):
            along, shrink = gains(n, fading.factor[0] * fading.grow[t], np.sum(x * x))
            divisor, root = 1.0 / along, 1.0 / math.sqrt(shrink)
        for i in inputs.labels:  # steps 2 and 5
            step = step_size(relevant[i], score[i], rule)
            amount = (score[i] - margin[i]) / n + step / divisor
            for c in range(d):
                w[i, c] += amount * u[c]
        for c in range(d):
            u[c] /= root
        for r in range(d):
            for c in range(d):
                A_inv[r, c] -= u[r] * u[c]
        for e in range(inputs.ptr[t], inputs.ptr[t + 1]):
            relevant[inputs.indices[e]] = False
