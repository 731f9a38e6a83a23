# mypy: ignore-errors
"""The best labels of one context, found without looking at all: compiled functions.

They take arrays, change arrays and check nothing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from semibandit._util.arrays import Floats, Ints
from semibandit._util.jit import FAST
from semibandit._util.numba import mark_loaded
from semibandit.models.compiled_partial_looks import look_at_row
from semibandit.models.compiled_steps import dot
from semibandit.models.compiled_types import Rows
from semibandit.models.norm_bounds import empty_table

__all__ = ["Scan", "find_best", "prepare"]


class Scan(NamedTuple):
    """What the rows of a state are searched for, see `Aim`, and by which bounds."""

    n: int  # how many rows there are
    most: int  # how many labels are wanted
    R: float
    spread: float
    widest: float
    grid: float
    level: float  # rint(score·grid) of untouched labels
    untouched: int  # how many of these there are, up to `most`
    slack: float  # see `NormBounds`
    drift: float
    budget: float  # multiplications, from which a look at all rows is as good
    count: Ints  # row -> how often it was updated
    factor: Floats  # row -> the factor c of a matrix that fades; empty if none does
    out: Ints  # rows that may not be shown


@njit(**FAST)
def score_of(margin, norm2, scan):
    """The score of a label, before it is put on the grid."""
    clipped = min(max(margin, -scan.R), scan.R)
    return clipped + min(scan.spread * math.sqrt(max(norm2, 0.0)), scan.widest)


@njit(**FAST)
def as_it_counts(j, norm2, xx, scan):
    """The norm of row j if its matrix fades: c times as much, up to x·x."""
    return norm2 if len(scan.factor) == 0 else min(scan.factor[j] * norm2, xx)


@njit(**FAST)
def upper_score(j, xx, known, table, scan, margin):
    """The upper bound of row j's score, if the squared products with its vectors sum to `known`."""
    b = table.bound_of[j]
    late = max(scan.count[j] - table.updates[b], 0)
    norm2 = (table.largest[b] * (1.0 + scan.slack) + scan.drift * late) * xx - known
    return score_of(margin[j], as_it_counts(j, norm2, xx, scan), scan)


@njit(**FAST)
def bound_all(x, xx, rows, table, scan, margin, upper):
    """Margins of all rows, and bounds of their scores by λ alone; whether all are finite."""
    total = 0.0
    for j in range(scan.n):
        margin[j] = dot(rows.w[j], x)
        upper[j] = upper_score(j, xx, 0.0, table, scan, margin)
        total += upper[j]
    return math.isfinite(total)


@njit(**FAST)
def products(j, x32, table):
    """Σ_k (g_k·x)² over the vectors of row j's bound."""
    known, vectors = 0.0, table.vectors[table.bound_of[j]]
    for k in range(len(vectors)):
        y = float(dot(vectors[k], x32))
        known += y * y
    return known


@njit(**FAST)
def sink(heap, i, size, key):
    """Put heap[i] where it belongs, in a heap whose first element has the largest key."""
    one = heap[i]
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and key[heap[child + 1]] > key[heap[child]]:
            child += 1
        if key[heap[child]] <= key[one]:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = one


@njit(**FAST)
def insert(best, score):
    """Put a score into the sorted best ones, the smallest first, and drop the smallest."""
    i = 0
    while i + 1 < len(best) and best[i + 1] < score:
        best[i] = best[i + 1]
        i += 1
    best[i] = score


@njit(**FAST)
def find_best(x, x32, rows, table, scan, margin, upper, found, norm2, score):
    """Look at rows in the order of their bounds, until no other row can be among the best.

    A row that comes first by its λ alone is put back with its vectors, and looked at when it comes
    first again: for most rows λ is enough. Writes the margins of all rows, and the rows that were
    looked at with their norms and scores.

    Returns
    -------
    looked, last
        How many rows were looked at, and the rint(score·grid) of the last of the best labels.
        looked = -1 if a score is not finite, or looks have taken more than the budget.
    """
    n, d = scan.n, len(x)
    own = dot(x, x)
    xx = float(own)
    if not bound_all(x, xx, rows, table, scan, margin, upper):
        return -1, 0.0
    upper[scan.out] = -np.inf
    heap = np.arange(n)
    for i in range(n // 2 - 1, -1, -1):
        sink(heap, i, n, upper)
    best = np.full(scan.most, -np.inf)
    best[scan.most - scan.untouched :] = scan.level
    rough = table.bound_of[:n] > 0
    acc = np.empty(d, x.dtype)
    left, looked, spent = n, 0, 0
    while left > 0:
        j = heap[0]
        # one step of the grid: rint moves a score by half of one, and sums round
        if upper[j] == -np.inf or upper[j] * scan.grid + 1.0 < best[0]:
            break
        if spent > scan.budget:
            return -1, 0.0
        if rough[j]:
            rough[j] = False
            upper[j] = upper_score(j, xx, products(j, x32, table), table, scan, margin)
            sink(heap, 0, left, upper)
            continue
        left -= 1
        heap[0] = heap[left]
        sink(heap, 0, left, upper)
        exact = as_it_counts(j, float(look_at_row(j, x, own, rows, acc)[1]), xx, scan)
        level = np.rint(score_of(margin[j], exact, scan) * scan.grid)
        found[looked], norm2[looked], score[looked] = j, exact, level
        looked += 1
        spent += d * d if rows.block_of[j] >= 0 else d * scan.count[j]
        if level > best[0]:
            insert(best, level)
    return looked, best[0]


def prepare(dtype):
    """Compile the search now, so that nobody waits for it later."""
    index, lines, x = np.zeros(1, np.intp), np.zeros((1, 4), dtype), np.zeros(4, dtype)
    rows = Rows(index, index, lines, index, np.zeros((1, 16), dtype), index, index - 1, lines)
    level = 0.0, 0, 1e-9, 1e-9, 1.0
    scan = Scan(1, 1, 1.0, 1.0, 2.0, 1e9, *level, index, np.empty(0), index[:0])
    found = np.empty(1), np.empty(1), index.copy(), np.empty(1), np.empty(1)
    find_best(x, x.astype(np.float32), rows, empty_table(1, 1, 4), scan, *found)


mark_loaded("best")
