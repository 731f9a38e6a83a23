"""Where each label ends up if labels are drawn by Plackett-Luce: a race of exponential clocks.

Draw T_i ~ Exp(λ_i) for every label: the order of the T_i is that of the draws. Label i comes at
position k if k - 1 others were earlier,

    P(i at k) = ∫ λ_i e^(-λ_i t) Pr[exactly k - 1 others before t] dt,

and that count is a sum of independent coins with p_j = 1 - e^(-λ_j t). With t = e^z the integrand
is smooth and falls to 0 at both ends, so that the trapezoid rule is exact to about 1e-11.
"""

from __future__ import annotations

import math

import numpy as np

from semibandit._util.arrays import Floats, Ints

__all__ = ["Race", "log_sum_exp"]

NODES = 128  # at least
STEP = 0.36  # at most, in z: the error is about exp(-π²/step)
FIRST, LAST = 1e-14, 45.0  # the part of the integral before, and λt after which nothing is left
LARGEST = 700.0  # of λt: e^-700 is 0 for our purposes, and inf is avoided


class Race:
    """The race of labels with these log λ, up to position `depth`."""

    def __init__(self, log_rates: Floats, depth: int) -> None:
        self.depth = depth
        below = np.partition(log_rates, len(log_rates) - depth)[: len(log_rates) - depth + 1]
        low = math.log(FIRST) - log_sum_exp(log_rates)
        high = math.log(LAST) - log_sum_exp(below)  # when all but depth - 1 labels have come
        nodes = max(NODES, math.ceil((high - low) / STEP) + 1)
        z = np.linspace(low, high, nodes)
        with np.errstate(over="ignore"):
            passed = np.minimum(np.exp(log_rates[:, None] + z), LARGEST)  # λt, a line per label
        self._late = np.exp(-passed)
        self._early = -np.expm1(-passed)
        self._density = passed * self._late * (z[1] - z[0])

    def marginals(self) -> Floats:
        """How likely each label is at each position, (labels, depth)."""
        n, nodes = self._late.shape
        before, after = (np.empty((n, self.depth, nodes)) for _ in range(2))
        counts = self._none_yet()
        for i in range(n):
            before[i] = counts
            counts = self._with(counts, i)
        counts = self._none_yet()
        for i in reversed(range(n)):
            after[i] = counts
            counts = self._with(counts, i)
        found = np.empty((n, self.depth))
        for k in range(self.depth):
            others = (before[:, : k + 1] * after[:, k::-1]).sum(axis=1)
            found[:, k] = (self._density * others).sum(axis=1)
        return found

    def marginals_at(self, rows: Ints, positions: Ints) -> Floats:
        """How likely each of these labels is at its position, counted from 0.

        The labels that are not asked for are counted once, for all.
        """
        asked = rows.tolist()
        counts = self._none_yet()
        for i in sorted(set(range(len(self._late))).difference(asked)):
            counts = self._with(counts, i)
        found = np.empty(len(asked))
        unique = sorted(set(asked))
        for place, (i, k) in enumerate(zip(asked, positions.tolist(), strict=True)):
            others = counts[: k + 1]
            for j in unique:
                if j != i:
                    others = self._with(others, j)
            found[place] = self._density[i] @ others[k]
        return found

    def _none_yet(self) -> Floats:
        """How likely so many labels came before each node, if none is in the race."""
        counts = np.zeros((self.depth, self._late.shape[1]))
        counts[0] = 1.0
        return counts

    def _with(self, counts: Floats, i: int) -> Floats:
        """The counts with label i in the race, too."""
        more: Floats = counts * self._late[i]
        more[1:] += counts[:-1] * self._early[i]
        return more


def log_sum_exp(values: Floats) -> float:
    """log Σ exp(values), whatever their size; -inf if there are none."""
    if not len(values):
        return -math.inf
    top = float(values.max())
    return top + math.log(float(np.exp(values - top).sum()))
