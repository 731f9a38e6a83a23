"""Slates for many contexts at once: `read_context`, `_judge`, `order`, `cut` in compiled loops.

A numpy operation on many contexts lets go of the interpreter and has to wait for it again, dozens
of times for a group; a service whose other threads are busy loses more by that than by the sums.
So these loops keep the interpreter, and give others a chance after every PART numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.errors import InputError
from semibandit.models import compiled as models
from semibandit.policies import compiled as kernels
from semibandit.policies.fast_rule import DECREASING
from semibandit.theory.surrogate import Logistic, Square, Surrogate

__all__ = ["choose_together", "judge_together", "prepare", "read_together"]

PART = 1 << 16


def read_together(X: Floats, bias: bool) -> Floats | None:
    """Contexts with the bias if there is one, scaled to unit norm; None where one is wrong."""
    out = np.empty((len(X), X.shape[1] + bias))
    good = all(kernels.read_many(X[b], bias, out[b]) for b in _parts(X))
    return out if good else None


def judge_together(
    spread: float, loss: Surrogate, margin: Floats, norm2: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """The parts of a View for margins and squared norms (B×K), by Square or Logistic."""
    margin, norm2 = np.array(margin, order="C"), np.ascontiguousarray(norm2)
    width, estimate, score, prob = (np.empty_like(margin) for _ in range(4))
    logistic = isinstance(loss, Logistic)
    for b in _parts(margin):
        parts = (part[b] for part in (norm2, margin, width, estimate, score, prob))
        if not kernels.judge_many(spread, loss.R, logistic, *parts):
            raise InputError(
                "a label's margin or width is nan, not finite, at one of these contexts"
            )
    return margin, width, estimate, score, prob


def choose_together(
    score: Floats, prob: Floats, tie: Floats, slots: Sequence[int | None], a: float, cost_kind: int
) -> tuple[Ints, Ints]:
    """For each row of scores (B×K) the best labels (B×S), and how many of them to show.

    As the plain `order` and `cut`, for decreasing or constant costs.
    """
    K = score.shape[1]
    limits = np.array([K if s is None else min(s, K) for s in slots])
    best = np.zeros((len(score), int(limits.max())), dtype=np.intp)
    sizes = np.zeros(len(score), dtype=np.intp)
    for b in _parts(score):
        kernels.choose_many(score[b], prob[b], tie, limits[b], a, cost_kind, best[b], sizes[b])
    return best, sizes


def _parts(numbers: Floats) -> Iterator[slice]:
    """Its lines, some at a time."""
    some = max(1, PART // max(1, numbers.shape[1]))
    return (slice(first, first + some) for first in range(0, len(numbers), some))


def prepare(dtype: str) -> None:
    """Have compiled all that groups of contexts need, so that nobody waits for it later."""
    models.prepare(dtype)  # type: ignore[no-untyped-call]
    read_together(np.ones((1, 2)), bias=False)
    parts = judge_together(1.0, Square(), np.zeros((1, 2)), np.ones((1, 2)))
    choose_together(parts[3], parts[4], np.zeros(2), [1], 0.5, DECREASING)
