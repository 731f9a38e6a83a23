# mypy: ignore-errors
"""Feedback to many slates, learned one after the other in one compiled call on full matrices.

The functions take arrays, change arrays and check nothing. Whether a log is learned here or by
`Learner.learn`, one by one or a thousand events at a time, the state is the same to the bit (see
`_util/reproducible.py`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit._util.jit import FAST, REPRODUCIBLE
from semibandit.models.compiled_steps import (
    append_row,
    direction,
    dot_in_order,
    move_row,
    subtract,
)
from semibandit.policies.compiled_surrogate import clip, slope, step_size

__all__ = ["LearningNumbers", "Lessons", "learn_in_turn"]


class LearningNumbers(NamedTuple):
    """How to learn: the surrogate, and when a row is left to the plain way."""

    R: float  # margins lie in [-R, R]
    logistic: bool  # the surrogate: logistic or square
    c_L2: float  # c''_L, which divides the steps
    dense_at: int  # the number of updates with which a row turns dense
    compensated_at: int  # that from which the rounding errors of its matrix are kept
    largest: float  # the size that no number of a context may exceed
    unknown: bool  # whether numbers of a context may be nan


class Lessons(NamedTuple):
    """What is learned: contexts, and the labels that were examined, event after event."""

    X: Floats  # what the model sees of each context, a line per event
    given: Floats  # the context as it was given, a line per event
    ptr: Ints  # where the labels of each event begin, and where the last one's end
    label: Ints  # the number of each label in the model
    hit: Bools  # whether it was clicked
    theta: Floats  # how likely its position is looked at; 1 if it is learned in any case
    coin: Floats  # a number in [0, 1) that decides on it


@njit(**FAST)
def is_usable(given, x, numbers):
    """Whether `Learner.learn` would take the numbers of a context."""
    good = True
    for c in range(len(given)):
        good &= abs(given[c]) <= numbers.largest or (numbers.unknown and math.isnan(given[c]))
    for c in range(len(x)):
        good &= abs(x[c]) < math.inf
    return good


@njit(**REPRODUCIBLE)
def is_looked_at(theta, coin, j, x, numbers, w):
    """Whether an unclicked label is learned: as often as it was looked at, at a position with θ."""
    margin = 0.0 if j < 0 else clip(float(dot_in_order(w[j], x)), numbers.R)
    up = slope(-margin, numbers.logistic)
    p = up / (slope(margin, numbers.logistic) + up)
    return coin < theta * (1.0 - p) / (1.0 - theta * p)


@njit(**REPRODUCIBLE)
def is_plain(t, lessons, numbers, rows, count, errors):
    """Whether event t asks for no more than steps and updates of the rows as they are."""
    if not is_usable(lessons.given[t], lessons.X[t], numbers):
        return False
    for e in range(lessons.ptr[t], lessons.ptr[t + 1]):
        j, theta = rows.row_of[lessons.label[e]], lessons.theta[e]
        if theta < 1.0 and not is_looked_at(
            theta, lessons.coin[e], j, lessons.X[t], numbers, rows.w
        ):
            continue
        updates = 1 if j < 0 else count[j] + 1
        if j < 0 or rows.block_of[j] < 0:
            if updates >= numbers.dense_at:
                return False
        elif updates >= numbers.compensated_at and errors.error_of[j] < 0:
            return False
    return True


@njit(**REPRODUCIBLE)
def learn_one(t, lessons, numbers, updated, u, v):
    """Steps 2 and 5 of Figure 2 for the labels of event t; u and v are overwritten."""
    rows, count, errors, vector_of, used = updated
    x = lessons.X[t]
    for e in range(lessons.ptr[t], lessons.ptr[t + 1]):
        j, theta = rows.row_of[lessons.label[e]], lessons.theta[e]
        if theta < 1.0 and not is_looked_at(theta, lessons.coin[e], j, x, numbers, rows.w):
            continue
        if j < 0:
            j = used[0]
            append_row(j, lessons.label[e], rows, count, errors.error_of)
            used[0] = j + 1
        margin = float(dot_in_order(rows.w[j], x))
        inside = clip(margin, numbers.R)
        norm2 = float(direction(j, x, rows, u))
        amount = step_size(lessons.hit[e], inside, numbers) / (1.0 + norm2)
        if inside != margin:  # norm2 may be 0 otherwise
            amount += (inside - margin) / norm2
        move_row(j, amount, u, rows.w)
        used[1] = subtract(j, u, norm2, rows, vector_of, used[1], errors, v)
        count[j] += 1


@njit(**REPRODUCIBLE)
def add_context(x, sums):
    """`Scaling.add`, to the bit."""
    for c in range(len(sums.sum)):
        if math.isnan(x[c]):
            sums.unknown[c] += 1.0
            continue
        if sums.n[0] == sums.unknown[c]:
            sums.origin[c] = x[c]
        y = x[c] - sums.origin[c]
        sums.sum[c] += y
        sums.sum2[c] += y * y
    sums.n[0] += 1


@njit(**REPRODUCIBLE)
def learn_in_turn(lessons, numbers, updated, sums):
    """Learn events up to the first that is not plain; how many that are.

    `updated` are the `UpdatedRows` of the state, `sums` the `ScalingSums`, which are empty if
    contexts are not counted.
    """
    d = lessons.X.shape[1]
    u, v = np.empty(d, lessons.X.dtype), np.empty(d, lessons.X.dtype)
    for t in range(len(lessons.ptr) - 1):
        if not is_plain(t, lessons, numbers, updated.rows, updated.updates, updated.errors):
            return t
        learn_one(t, lessons, numbers, updated, u, v)
        if len(sums.sum):
            add_context(lessons.given[t], sums)
    return len(lessons.ptr) - 1
