"""Slates for many contexts at once: the sums of `order` and `cut`, a matrix at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semibandit._arrays import Floats, Ints
from semibandit.theory.cost import Costs, constant, decreasing
from semibandit.theory.slate import EQUAL, GRID, cut

__all__ = ["pick_together"]


def pick_together(
    score: Floats,
    prob: Floats,
    tie: Floats,
    slots: Sequence[int | None],
    a: float,
    costs: Costs,
) -> list[Ints]:
    """For each row of scores (B×K) the labels to show, best first, as `Learner._pick` gives."""
    B, K = score.shape
    limits = [K if s is None else min(s, K) for s in slots]
    S = max(limits, default=0)
    keys = (np.broadcast_to(tie, (B, K)), -np.rint(score * GRID))
    best = np.lexsort(keys, axis=-1)[:, :S]
    sizes = _cuts(np.take_along_axis(prob, best, axis=1), limits, a, costs)
    return [row[:size] for row, size in zip(best, sizes, strict=True)]


def _cuts(prob: Floats, limits: list[int], a: float, costs: Costs) -> list[int]:
    """How many labels of each row to show: the last argmin of J up to its limit."""
    if costs.cost is not decreasing and costs.cost is not constant:
        return [cut(row[:limit], a, costs) for row, limit in zip(prob, limits, strict=True)]
    sums = np.cumsum(1.0 - prob, axis=1)
    if costs.cost is decreasing:
        sums = np.cumsum(sums, axis=1) / np.arange(1, prob.shape[1] + 1)
    J = np.zeros((len(prob), prob.shape[1] + 1))
    J[:, 1:] = (1.0 - a) * sums - a * np.cumsum(prob, axis=1)
    J[np.arange(J.shape[1]) > np.array(limits)[:, None]] = np.inf
    good = J.min(axis=1, keepdims=True) + EQUAL >= J
    return [J.shape[1] - 1 - int(back) for back in np.argmax(good[:, ::-1], axis=1)]
