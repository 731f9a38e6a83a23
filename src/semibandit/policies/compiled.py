"""Rounds of Figure 2 in one go: score, rank, cut and learn, for replay.

Compiled functions take arrays, change arrays and check nothing. A `rule` is what decides a slate,
`policies.fast_rule.RuleNumbers`.
An answer is a sorted list of relevant labels: indices[ptr[t]:ptr[t + 1]].
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from semibandit._util.numba import mark_loaded
from semibandit.models.compiled import FAST, event
from semibandit.theory.slate import SCORE_GRID, TIE_TOLERANCE

__all__ = [
    "choose_many",
    "diagonal_rounds",
    "judge_many",
    "read_many",
    "shared_rounds",
    "window_rounds",
]

BRIEF = {**FAST, "nogil": False}  # done sooner than the interpreter would be had back
FEW = 48  # up to this many slots an insertion is faster than a sort


@njit(**FAST)
def clip(m, R):
    return min(max(m, -R), R)


@njit(**FAST)
def slope(m, logistic):
    return 1.0 / (1.0 + math.exp(m)) if logistic else 1.0 - m


@njit(**FAST)
def prob(m, logistic):
    return 1.0 / (1.0 + math.exp(-m)) if logistic else 0.5 * (1.0 + m)


@njit(**FAST)
def better(key, tie, other, other_tie):
    return key > other or (key == other and tie < other_tie)


@njit(**FAST)
def rank(n, score, tie, S, best):
    """The S best of n by (score on the grid, then smaller tie), in best[:S]; how many there are."""
    if S == 0:
        return 0
    key = np.empty(n)
    for j in range(n):
        key[j] = np.rint(score[j] * SCORE_GRID)
    if S > FEW:
        order = np.argsort(-key)
        first = 0
        while first < n:  # equal keys by tie
            end = first + 1
            while end < n and key[order[end]] == key[order[first]]:
                end += 1
            if end > first + 1:
                same = order[first:end].copy()
                order[first:end] = same[np.argsort(tie[same])]
            first = end
        have = min(n, S)
        best[:have] = order[:have]
        return have
    have, low, low_tie = 0, -np.inf, np.inf
    for j in range(n):
        k = key[j]
        if have == S:
            if k < low or not better(k, tie[j], low, low_tie):
                continue
            at = S - 1
        else:
            at = have
            have += 1
        while at > 0 and better(k, tie[j], key[best[at - 1]], tie[best[at - 1]]):
            best[at] = best[at - 1]
            at -= 1
        best[at] = j
        low, low_tie = key[best[have - 1]], tie[best[have - 1]]
    return have


@njit(**FAST)
def cut(have, p, a, costs, table):
    """Lemma 1: how many to show of the `have` labels whose probabilities are p, best first."""
    size, low = 0, 0.0
    for last in (False, True):  # first the least J, then the last s that has it
        gain, missed, twice = 0.0, 0.0, 0.0
        for s in range(1, have + 1):
            gain += p[s - 1]
            missed += 1.0 - p[s - 1]
            twice += missed
            if costs == 0:
                wrong = twice / s
            elif costs == 1:
                wrong = missed
            else:
                wrong = 0.0
                for i in range(s):
                    wrong += table[s - 1, i] * (1.0 - p[i])
            J = (1.0 - a) * wrong - a * gain
            if last:
                if low + TIE_TOLERANCE >= J:
                    size = s
            elif low > J:
                low = J
    return size


@njit(**FAST)
def choose(n, score, tie, S, best, p, rule):
    """The best of n labels in best[:S], their probabilities in p; how many of them to show."""
    have = rank(n, score, tie, S, best)
    for k in range(have):
        p[k] = prob(clip(score[best[k]], rule.R), rule.logistic)
    return cut(have, p, rule.a, rule.costs, rule.table)


@njit(**BRIEF)
def read_many(X, bias, out):
    """`read_context` for many contexts, with the bias if there is one, scaled to unit norm.

    Whether all were numbers, and none of them zeros alone.
    """
    d = X.shape[1]
    for b in range(len(X)):
        biggest = 1.0 if bias else 0.0
        for c in range(d):
            if not abs(X[b, c]) < math.inf:
                return False
            biggest = max(biggest, abs(X[b, c]))
        if biggest == 0.0:
            return False
        total = 0.0
        for c in range(d + bias):
            out[b, c] = (X[b, c] if c < d else 1.0) / biggest  # so that squares do not overflow
            total += out[b, c] * out[b, c]
        norm = math.sqrt(total)
        for c in range(d + bias):
            out[b, c] /= norm
    return True


@njit(**BRIEF)
def judge_many(eps, R, logistic, norm2, margin, width, estimate, score, p):
    """Steps 2 and 3 of Figure 2 for every label of many contexts; margin is projected in place.

    Whether all were numbers.
    """
    good = True
    for b in range(len(margin)):
        for i in range(margin.shape[1]):
            good = good and not (math.isnan(margin[b, i]) or math.isnan(norm2[b, i]))
            m = clip(margin[b, i], R)
            margin[b, i], estimate[b, i] = m, prob(m, logistic)
            width[b, i] = min(eps * math.sqrt(max(norm2[b, i], 0.0)), 2.0 * R)
            score[b, i] = m + width[b, i]
            p[b, i] = prob(clip(score[b, i], R), logistic)
    return good


@njit(**BRIEF)
def choose_many(score, prob, tie, slots, a, costs, best, sizes):
    """`choose` for many contexts whose labels have been judged."""
    n, table = score.shape[1], np.zeros((1, 1))
    p = np.empty(best.shape[1])
    for b in range(len(score)):
        have = rank(n, score[b], tie, min(slots[b], n), best[b])
        for k in range(have):
            p[k] = prob[b, best[b, k]]
        sizes[b] = cut(have, p, a, costs, table)


@njit(**FAST)
def relevant(label, indices, first, end):
    """Whether the label is among the sorted indices[first:end]."""
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
def window_rounds(
    rounds, spread, rule, slots, mask, ptr, indices, X, XT, xx, rows, dense, M, N, log, queue,
    tie, slates, hits, sizes,
):  # fmt: skip
    """The rounds of one window with full matrices; how many rows are touched after them."""
    R, logistic, c2 = rule.R, rule.logistic, rule.c_L2
    owner, w, block, last, home, n = rows
    fresh, head = queue
    d = w.shape[1]
    u, z = np.empty(d, w.dtype), np.empty(len(xx), w.dtype)
    most = len(owner)
    score, ties, label = np.empty(most), np.empty(most), np.empty(most, np.int64)
    best, p = np.empty(slates.shape[1], np.int64), np.empty(slates.shape[1])
    row = np.empty(most, np.int64)
    shown = np.zeros(most, np.bool_)
    for t in range(rounds):
        S, eps, have = slots[t], spread[t], 0
        for j in range(n):  # steps 2 and 3: the touched labels
            i = owner[j]
            if len(mask) and not mask[t, i]:
                continue
            m = clip(float(M[j, t]), R)
            score[have] = m + min(eps * math.sqrt(max(float(N[j, t]), 0.0)), 2.0 * R)
            ties[have], label[have], row[have] = tie[i], i, j
            have += 1
        while head[0] < len(fresh) and home[fresh[head[0]]] >= 0:
            head[0] += 1
        q, left = head[0], S
        same = min(eps * math.sqrt(float(xx[t])), 2.0 * R)
        while q < len(fresh) and left > 0:  # untouched labels are equal: the first by tie will do
            i = fresh[q]
            q += 1
            if home[i] >= 0 or (len(mask) and not mask[t, i]):
                continue
            score[have], ties[have], label[have], row[have] = same, tie[i], i, -1
            have += 1
            left -= 1
        size = choose(have, score, ties, min(S, have), best, p, rule)
        sizes[t] = size
        before_round = n
        for k in range(size):  # step 5: what was shown
            i, j = label[best[k]], row[best[k]]
            hit = relevant(i, indices, ptr[t], ptr[t + 1])
            slates[t, k], hits[t, k] = i, hit
            if j < 0:
                j = n
                n += 1
                owner[j], home[i], block[j], last[j] = i, j, -1, -1
                dense[3][j] = -1
                w[j] = 0.0
                log[0][j] = -1
                for b in range(len(xx)):
                    M[j, b], N[j, b] = 0.0, xx[b]
            shown[j] = True
            m = float(M[j, t])
            inside = clip(m, R)
            sign = 1.0 if hit else -1.0
            step = sign * slope(sign * inside, logistic) / c2
            event(j, t, inside - m, step, True, X, XT, w, block, last, dense, M, N, log, u, z)
        for j in range(before_round):  # step 2: labels that were not shown are projected, too
            m = float(M[j, t])
            if not shown[j] and (m > R or m < -R):
                move = clip(m, R) - m
                event(j, t, move, 0.0, False, X, XT, w, block, last, dense, M, N, log, u, z)
        for k in range(size):
            shown[home[label[best[k]]]] = False
    return n


@njit(**FAST)
def diagonal_rounds(
    rounds, spread, rule, slots, mask, ptr, indices, x_ptr, x_index, x_value, rows, w, A, A_inv,
    tie, slates, hits, sizes,
):  # fmt: skip
    """Rounds with diagonal matrices (feature by label) and contexts by their nonzero entries."""
    R, logistic, c2 = rule.R, rule.logistic, rule.c_L2
    K = w.shape[1]
    margin, norm2 = np.empty(K), np.empty(K)
    score, ties, label = np.empty(K), np.empty(K), np.empty(K, np.int64)
    best, p = np.empty(slates.shape[1], np.int64), np.empty(slates.shape[1])
    shown = np.zeros(K, np.bool_)
    for t in range(rounds):
        margin[:] = 0.0
        norm2[:] = 0.0
        for e in range(x_ptr[t], x_ptr[t + 1]):
            r, x = x_index[e], x_value[e]
            xx = x * x
            for i in range(K):
                margin[i] += x * w[r, i]
                norm2[i] += xx * A_inv[r, i]
        have = 0
        for i in rows:
            if len(mask) and not mask[t, i]:
                continue
            m = clip(margin[i], R)
            score[have] = m + min(spread[t] * math.sqrt(norm2[i]), 2.0 * R)
            ties[have], label[have] = tie[i], i
            have += 1
        size = choose(have, score, ties, min(slots[t], have), best, p, rule)
        sizes[t] = size
        for k in range(size):
            shown[label[best[k]]] = True
        for i in rows:
            m = margin[i]
            inside = clip(m, R)
            if m != inside:
                move = (inside - m) / norm2[i]
                for e in range(x_ptr[t], x_ptr[t + 1]):
                    r = x_index[e]
                    w[r, i] += move * x_value[e] * A_inv[r, i]
        for k in range(size):
            i = label[best[k]]
            hit = relevant(i, indices, ptr[t], ptr[t + 1])
            slates[t, k], hits[t, k], shown[i] = i, hit, False
            sign = 1.0 if hit else -1.0
            step = sign * slope(sign * clip(margin[i], R), logistic) / c2
            for e in range(x_ptr[t], x_ptr[t + 1]):
                r, x = x_index[e], x_value[e]
                grown = A[r, i] + x * x
                A[r, i], A_inv[r, i] = grown, 1.0 / grown
                w[r, i] += step * x / grown


@njit(**FAST)
def shared_rounds(rounds, rule, slots, mask, ptr, indices, X, rows, w, A, tie, slates, hits, sizes):
    """Rounds of full information: one matrix (d×d), every label told its answer."""
    R, logistic, c2 = rule.R, rule.logistic, rule.c_L2
    K, d = w.shape
    margin, u = np.empty(K), np.empty(d)
    score, ties, label = np.empty(K), np.empty(K), np.empty(K, np.int64)
    best, p = np.empty(slates.shape[1], np.int64), np.empty(slates.shape[1])
    yes = np.zeros(K, np.bool_)
    for t in range(rounds):
        x = X[t]
        have, n = 0, 0.0
        for i in range(K):
            m = 0.0
            for c in range(d):
                m += w[i, c] * x[c]
            margin[i] = m
        for i in rows:
            if len(mask) and not mask[t, i]:
                continue
            score[have], ties[have], label[have] = clip(margin[i], R), tie[i], i
            have += 1
        size = choose(have, score, ties, min(slots[t], have), best, p, rule)
        sizes[t] = size
        for e in range(ptr[t], ptr[t + 1]):
            yes[indices[e]] = True
        for k in range(size):
            slates[t, k], hits[t, k] = label[best[k]], yes[label[best[k]]]
        u[:] = 0.0
        for r in range(d):
            for c in range(d):
                u[c] += x[r] * A[r, c]
        for c in range(d):
            n += u[c] * x[c]
        for i in rows:
            m = margin[i]
            inside = clip(m, R)
            sign = 1.0 if yes[i] else -1.0
            step = sign * slope(sign * inside, logistic) / c2
            amount = (inside - m) / n + step / (1.0 + n)
            for c in range(d):
                w[i, c] += amount * u[c]
        for c in range(d):
            u[c] /= math.sqrt(1.0 + n)
        for r in range(d):
            for c in range(d):
                A[r, c] -= u[r] * u[c]
        for e in range(ptr[t], ptr[t + 1]):
            yes[indices[e]] = False


mark_loaded("policies")
