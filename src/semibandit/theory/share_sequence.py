"""Bounds for a share, such as that of visits with a click, that hold at all times at once.

For values 0 ≤ yᵢ ≤ 1 with conditional means µᵢ, which may change, and any λ, e^{λy} lies below its
chord 1 + y(e^λ - 1), so that

    Π exp(λyᵢ) / (1 + µᵢ(e^λ - 1))

is a supermartingale, and a martingale if every yᵢ is 0 or 1. The logarithm is concave, so the
product is at least exp(λ Σyᵢ - n log(1 + m(e^λ - 1))) with m = (µ₁ + ... + µₙ)/n. A mixture of
these over fixed λ is ever as large as 1/error with probability at most `error` (Ville), which
bounds m from below by λ > 0, and from above by λ < 0. For the best λ the exponent is n kl(mean, m),
that of Chernoff's bound: unlike the bounds of a `ConfidenceSequence`, these have the right tails
for rare clicks and for few visits.
"""

from __future__ import annotations

import math

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import finite_number
from semibandit.errors import InputError
from semibandit.theory.confidence_sequence import Interval

__all__ = ["ShareSequence"]

# The best λ for a variance term V = nm(1 - m) is about 3.5/sqrt(V). The grid serves V from 3 to
# 4·10⁸; weights are largest for V from 10 to 3,000, where most comparisons are settled.
_PLACES: Floats = np.arange(28.0)
BETS: Floats = 2.0 * 2.0 ** (-_PLACES / 2.0)
WEIGHTS: Floats = 1.0 / (1.0 + ((_PLACES - 6.0) / 4.0) ** 2)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
STEPS = 60  # Newton's method needs fewer than 15 of them


class ShareSequence:
    """Bounds for the running mean of values between 0 and 1; they follow from two totals.

    Parameters
    ----------
    n
        How many values there were.
    total
        Their sum.

    Raises
    ------
    InputError
        If the sum is negative, or more than `n`.

    Examples
    --------
    >>> [round(bound, 3) for bound in ShareSequence(2000, 500).interval(0.05)]
    [0.22, 0.282]
    """

    def __init__(self, n: float, total: float) -> None:
        if not 0.0 <= finite_number("total", total) <= finite_number("n", n):
            raise InputError(f"total = {total!r}, but it must be at least 0 and at most n = {n!r}")
        self._n, self._total = float(n), float(total)

    @property
    def n(self) -> int:
        """How many values there were."""
        return int(self._n)

    @property
    def mean(self) -> float:
        """The mean of the values; 0 if there are none."""
        return self._total / self._n if self._n else 0.0

    def interval(self, error: float) -> Interval:
        """Both bounds; one of them ever fails with probability at most `error`."""
        if not 0.0 < finite_number("error", error) < 1.0:
            raise InputError(f"error = {error!r}, but it must be between 0 and 1")
        if not self._n:
            return 0.0, 1.0
        low, high = self._bound(BETS, error / 2), self._bound(-BETS, error / 2)
        return min(max(low, 0.0), self.mean), max(min(high, 1.0), self.mean)

    def at(self, factor: float) -> ShareSequence:
        """The sequence as it would be after `factor` times as many values like those until now."""
        return ShareSequence(self._n * factor, self._total * factor)

    def _bound(self, bets: Floats, error: float) -> float:
        """The m with Σⱼ wⱼ exp(λⱼ Σyᵢ - n log(1 + m(e^λⱼ - 1))) = 1/error."""
        slopes, n = np.expm1(bets), self._n
        heights = np.log(WEIGHTS) + bets * self._total + math.log(error)
        # Each term alone is less than the mixture, so its root is farther from the mean. The
        # logarithm of the mixture is convex in m, so Newton's method comes in from there.
        roots = np.expm1(heights / n) / slopes
        m = float(roots.max() if bets[0] > 0 else roots.min())
        for _ in range(STEPS):
            inside = 1.0 + m * slopes
            exponents = heights - n * np.log(inside)
            largest = float(exponents.max())
            terms = np.exp(exponents - largest)
            total = float(terms.sum())
            step = (largest + math.log(total)) * total / (n * float(terms @ (slopes / inside)))
            m += step
            if abs(step) <= 1e-13 * abs(m) + 1e-300:
                break
        return m
