# mypy: ignore-errors
"""Steps 2 and 3 of Figure 2 as compiled functions: project, score, rank and cut.

They take arrays, change arrays and check nothing. A `rule` is what decides a slate,
`policies.fast_rule.RuleNumbers`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from semibandit._util.arrays import Floats, Ints
from semibandit._util.jit import BRIEF, FAST, REPRODUCIBLE
from semibandit._util.numba import mark_loaded
from semibandit.models.compiled_steps import copy
from semibandit.policies.compiled_surrogate import clip, prob
from semibandit.policies.fast_rule import PROBE_DEVIATIONS
from semibandit.policies.randomness import GOLDEN
from semibandit.policies.scaling import AVERAGE, CLIP, LARGEST, ROUNDING
from semibandit.theory.slate import SCORE_GRID, TIE_TOLERANCE

__all__ = [
    "Candidates",
    "better",
    "candidates_for",
    "choose",
    "choose_many",
    "judge_many",
    "probe_many",
    "unit_many",
    "standardise_in_turn",
    "standardise_many",
    "toss_many",
]

MINUS_ZERO = np.uint64(1 << 63)  # the bits of -0.0
FEW = 48  # up to this many slots an insertion is faster than a sort


class Candidates(NamedTuple):
    """Labels that may be shown in a round, in any order, and the choice among them."""

    score: Floats
    tie: Floats  # of equal scores the smaller tie comes first
    label: Ints
    best: Ints  # the choice, best first, as numbers of candidates
    prob: Floats  # the probabilities of the choice


@njit(**FAST)
def candidates_for(n, slots):
    """Buffers for up to n candidates and a choice of up to `slots` of them."""
    numbers = np.empty(n), np.empty(n), np.empty(n, np.int64)
    return Candidates(*numbers, np.empty(slots, np.int64), np.empty(slots))


@njit(**FAST)
def better(key, tie, other, other_tie):
    """Whether a label comes before another one."""
    return key > other or (key == other and tie < other_tie)


@njit(**FAST)
def rank(n, score, tie, S, grid, best):
    """The S best of n by (score on the grid, then smaller tie), in best[:S]; how many there are."""
    if S == 0:
        return 0
    key = np.empty(n)
    for j in range(n):
        key[j] = np.rint(score[j] * grid)
    if S > FEW:
        order = np.argsort(-key)
        first = 0
        while first < n:  # equal keys by tie
            end = first + 1
            while end < n and key[order[end]] == key[order[first]]:
                end += 1
            if end > first + 1:
                same = order[first:end].copy()
                copy(same[np.argsort(tie[same])], order[first:end])
            first = end
        have = min(n, S)
        copy(order, best[:have])
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
def choose(have, candidates, S, rule):
    """Choose among `have` candidates the best S; return how many of these to show."""
    best, p = candidates.best, candidates.prob
    found = rank(have, candidates.score, candidates.tie, S, SCORE_GRID, best)
    for k in range(found):
        p[k] = prob(clip(candidates.score[best[k]], rule.R), rule.logistic)
    return max(cut(found, p, rule.a, rule.costs, rule.table), min(rule.at_least, found))


@njit(**REPRODUCIBLE)
def unit_many(X, bias, out):
    """Many contexts with the bias if there is one, scaled to unit norm.

    Returns whether all of them are finite, and none of them is all zeros.
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


@njit(**REPRODUCIBLE)
def standardise_one(x, origin, total, squares, n, z):
    """z = the deviations of x from the mean, clipped, by sums that x is part of; its norm."""
    for c in range(len(x)):  # without branches: several features at a time
        mean, mean2 = total[c] / n[c], squares[c] / n[c]
        variance = mean2 - mean * mean
        there = variance > ROUNDING * mean2
        v = ((x[c] - origin[c]) - mean) / math.sqrt(variance if there else 1.0)
        v = min(max(v, -CLIP), CLIP)
        z[c] = v if there else 0.0
    norm2 = 0.0
    for c in range(len(x)):
        norm2 += z[c] * z[c]
    return math.sqrt(norm2)


@njit(**REPRODUCIBLE)
def finish_one(z, norm, bias, d):
    """Unit length, and the bias with equal weight; whether there is a direction at all."""
    if norm <= AVERAGE:
        if bias:
            z[:d], z[d] = 0.0, 1.0
        return bias
    half = math.sqrt(0.5)
    for c in range(d):
        z[c] /= norm
    if bias:
        for c in range(d):
            z[c] *= half
        z[d] = half
    return True


@njit(**REPRODUCIBLE)
def standardise_many(X, sums, bias, out):
    """Many contexts, each as if it alone had been added to the sums.

    Returns whether all of them are finite and have a direction.
    """
    origin, total, squares, n = sums
    d = X.shape[1]
    total_1, squares_1 = np.empty(d), np.empty(d)
    for b in range(len(X)):
        for c in range(d):
            v = X[b, c] - origin[c]
            if not abs(X[b, c]) <= LARGEST:
                return False
            total_1[c], squares_1[c] = total[c] + v, squares[c] + v * v
        norm = standardise_one(X[b], origin, total_1, squares_1, n, out[b])
        if not finish_one(out[b], norm, bias, d):
            return False
    return True


@njit(**REPRODUCIBLE)
def standardise_in_turn(X, origin, total, squares, n, bias, out):
    """Contexts one after the other, each added to the sums before it is scaled.

    Returns the first that has no direction, or how many there are.
    """
    d = X.shape[1]
    for b in range(len(X)):
        for c in range(d):
            v = X[b, c] - origin[c]
            total[c] += v
            squares[c] += v * v
            n[c] += 1.0
        norm = standardise_one(X[b], origin, total, squares, n, out[b])
        if not finish_one(out[b], norm, bias, d):
            return b
    return len(X)


@njit(**BRIEF)
def judge_many(eps, R, logistic, norm2, view):
    """Steps 2 and 3 of Figure 2 for labels of any contexts, into the arrays of a `View`.

    Its margins are given, and projected in place. Returns whether no margin or norm is nan.
    """
    margin, width, estimate, score, p = view
    good = True
    for i in range(len(margin)):
        good = good and not (math.isnan(margin[i]) or math.isnan(norm2[i]))
        m = clip(margin[i], R)
        margin[i], estimate[i] = m, prob(m, logistic)
        width[i] = min(eps * math.sqrt(max(norm2[i], 0.0)), 2.0 * R)
        score[i] = m + width[i]
        p[i] = prob(clip(score[i], R), logistic)
    return good


@njit(**BRIEF)
def choose_many(score, prob, tie, ptr, tie_at, slots, how, best, sizes):
    """`choose` for many contexts whose labels have been judged; `how` is a, at_least, costs, grid.

    The labels of context b are at ptr[b] to ptr[b + 1], their ties begin at tie_at[b].
    """
    a, at_least, costs, grid = how
    table, p = np.zeros((1, 1)), np.empty(best.shape[1])
    for b in range(len(slots)):
        first, n = ptr[b], ptr[b + 1] - ptr[b]
        have = rank(n, score[first:], tie[tie_at[b] :], min(slots[b], n), grid, best[b])
        for k in range(have):
            p[k] = prob[first + best[b, k]]
        sizes[b] = max(cut(have, p, a, costs, table), min(at_least, have))


@njit(**BRIEF)
def probe_many(margin, norm2, tie, c_L2, grid, ptr, tie_at, which, picked, sizes, out):
    """For contexts `which` the place with the largest margin + deviations, of those not picked.

    Labels and ties lie as for `choose_many`.
    """
    most = 0
    for b in which:
        most = max(most, ptr[b + 1] - ptr[b])
    taken = np.zeros(most, np.bool_)
    for j in range(len(which)):
        first, end, ties = ptr[which[j]], ptr[which[j] + 1], tie[tie_at[which[j]] :]
        for k in range(sizes[j]):
            taken[picked[j, k]] = True
        best, best_tie = -np.inf, np.inf
        for i in range(end - first):
            deviation = math.sqrt(max(norm2[first + i], 0.0) / c_L2)
            key = np.rint((margin[first + i] + PROBE_DEVIATIONS * deviation) * grid)
            if not taken[i] and better(key, ties[i], best, best_tie):
                best, best_tie, out[j] = key, ties[i], i
        for k in range(sizes[j]):
            taken[picked[j, k]] = False


@njit(**BRIEF)
def mixed(number):
    """`randomness._mixed` of one number."""
    z = (number + np.uint64(1)) * np.uint64(GOLDEN)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)


@njit(**BRIEF)
def toss_many(words, multipliers, start, t, out):
    """`randomness.coin` for many contexts, whose numbers are given as words of 64 bits.

    `start` and `out` have a line for each seed.
    """
    for b in range(len(words)):
        total = np.uint64(0)
        for c in range(words.shape[1]):
            word = words[b, c]
            if word != MINUS_ZERO:  # it counts as 0, which adds nothing
                z = word * multipliers[c]
                total += (z ^ (z >> np.uint64(32))) * multipliers[c]
        for s in range(len(start)):
            z = mixed(mixed(total ^ start[s, b]) + t)
            out[s, b] = float(z >> np.uint64(11)) * 2.0**-53


mark_loaded("policies")
