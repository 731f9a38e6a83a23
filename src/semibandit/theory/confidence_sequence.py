"""Confidence sequences: intervals for a mean that hold at all times at once.

An ordinary 95% interval holds at one moment that was fixed beforehand. Whoever looks again and
again sees it fail about every second time. A confidence sequence holds at all times with the stated
probability, so it may be looked at whenever one likes.

Nothing is assumed about the values y₁, y₂, ... ≥ 0 but that they come in order: their conditional
means µᵢ = E[yᵢ | everything before] may change, as they do while a learner learns. The interval is
one for the running mean (µ₁ + ... + µₙ)/n. For a predictable guess ŷᵢ ≤ 1 and 0 ≤ λ < 1,

    exp(λ Σ(yᵢ - µᵢ) - ψ(λ) Σ(yᵢ - ŷᵢ)²),    ψ(λ) = -log(1 - λ) - λ,

is a supermartingale (Fan, Grama and Liu 2015; Howard, Ramdas, McAuliffe and Sekhon 2021), so a
mixture of them over fixed λ is ever as large as 1/error with probability at most `error` (Ville).
The values need no upper bound, so they may be importance-weighted rewards (Waudby-Smith et al.
2022).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import finite_number, shortened
from semibandit.errors import InputError

__all__ = [
    "ConfidenceSequence",
    "HasInterval",
    "Interval",
    "boundary",
    "difference",
    "ratio",
    "variance_terms",
]

Interval = tuple[float, float]

# The best λ for a variance term V is about sqrt(2 log(1/error)/V): these serve V from 1 to about
# 10⁹. Small V are given more weight, since intervals matter most while they are wide.
BETS: Floats = 0.9 * 2.0 ** (-np.arange(0.0, 14.0, 0.5))
WEIGHTS: Floats = 1.0 / np.arange(4.0, 4.0 + len(BETS))
WEIGHTS = WEIGHTS / WEIGHTS.sum()
PSI: Floats = -np.log1p(-BETS) - BETS
FIRST_GUESS = 0.5  # ŷ before any value; it counts as one value in the guesses after it
STEPS = 60  # Newton's method needs fewer than 10 of them


def boundary(variance: Floats | float, error: float) -> Floats:
    """What Σ(yᵢ - µᵢ) never reaches, at any time, with probability at least 1 - error.

    Parameters
    ----------
    variance
        The variance terms V = Σ(yᵢ - ŷᵢ)², see `variance_terms`.
    error
        The probability, between 0 and 1, with which the bound may fail at any time.

    Returns
    -------
    array
        For each V the s with Σⱼ wⱼ exp(λⱼ s - ψ(λⱼ) V) = 1/error.

    Examples
    --------
    >>> boundary(np.array([100.0, 10_000.0]), 0.025).round(1)
    array([ 37.8, 358.8])
    """
    needed = -math.log(_checked_error(error))
    V = np.asarray(variance, dtype=np.float64)[..., None]
    # Each term alone is less than the mixture, so its root lies to the right of the mixture's. The
    # logarithm of the mixture is convex, so Newton's method comes down from there.
    s = ((needed - np.log(WEIGHTS) + PSI * V) / BETS).min(axis=-1)
    for _ in range(STEPS):
        exponents = np.log(WEIGHTS) + BETS * s[..., None] - PSI * V
        largest = exponents.max(axis=-1)
        terms = np.exp(exponents - largest[..., None])
        total = terms.sum(axis=-1)
        step = (largest + np.log(total) - needed) * total / (terms @ BETS)
        s = s - step
        if np.all(step <= 1e-13 * s):
            break
    return np.asarray(s)


def variance_terms(values: Floats, n: float = 0.0, total: float = 0.0) -> Floats:
    """The squares (yᵢ - ŷᵢ)², with ŷᵢ the mean of the values before yᵢ, at most 1.

    Parameters
    ----------
    values
        Values y ≥ 0 in their order, along the last axis.
    n, total
        How many values came before them, and their sum.

    Returns
    -------
    array
        One square for each value.
    """
    before = total + np.cumsum(values, axis=-1) - values
    count = n + np.arange(values.shape[-1])
    guess = np.minimum((before + FIRST_GUESS) / (count + 1.0), 1.0)
    return np.asarray((values - guess) ** 2)


class ConfidenceSequence:
    """Bounds for the running mean of values y ≥ 0 that hold at all times at once.

    Parameters
    ----------
    scale
        The unit of the values. If they have a largest possible value, it is that; the bounds are
        then two-sided. Values may exceed it, for example importance-weighted ones: then there is
        only a lower bound, and it is tightest if the scale is a little above their mean.

    Raises
    ------
    InputError
        If the scale is not a positive number.

    Examples
    --------
    >>> clicks = ConfidenceSequence()
    >>> clicks.add(np.array([0.0, 1.0, 0.0, 0.0] * 500))
    >>> clicks.n, clicks.mean
    (2000, 0.25)
    >>> [round(bound, 2) for bound in clicks.interval(0.05)]
    [0.21, 0.29]
    """

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = finite_number("scale", scale, least=0.0)
        if self.scale == 0.0:
            raise InputError("scale = 0.0, but it must be a positive number")
        self._n = 0.0
        self._total = 0.0
        self._variance = 0.0
        self._largest = 0.0

    @property
    def n(self) -> int:
        """How many values there were."""
        return int(self._n)

    @property
    def mean(self) -> float:
        """The mean of the values; 0 if there are none."""
        return self.scale * self._total / self._n if self._n else 0.0

    def add(self, values: Floats | Sequence[float]) -> None:
        """Add values in their order; how they are grouped into calls makes no difference.

        Raises
        ------
        InputError
            If a value is negative or not finite.
        """
        y = np.asarray(values, dtype=np.float64)
        if y.ndim != 1 or not np.all(np.isfinite(y) & (y >= 0.0)):
            raise InputError(f"values = {shortened(values)}, but they must be finite numbers >= 0")
        if not len(y):
            return
        y = y / self.scale
        self._variance += float(variance_terms(y, self._n, self._total).sum())
        self._n += len(y)
        self._total += float(y.sum())
        self._largest = max(self._largest, float(y.max()))

    def lower(self, error: float) -> float:
        """The lower bound of the running mean; it ever fails with probability at most `error`."""
        return max(self.mean - self._reach(error), 0.0)

    def upper(self, error: float) -> float:
        """The upper bound of the running mean; it ever fails with probability at most `error`.

        Raises
        ------
        InputError
            If a value was larger than the scale: there is no upper bound without a largest value.
        """
        if self._largest > 1.0:
            raise InputError(
                f"the largest value is {self._largest * self.scale:g}, but an upper bound needs "
                f"values of at most the scale, {self.scale:g}"
            )
        # 1 - y has the variance terms of y, since the first guess is 1/2.
        return min(self.mean + self._reach(error), self.scale)

    def interval(self, error: float) -> Interval:
        """Both bounds; one of them ever fails with probability at most `error`."""
        return self.lower(error / 2), self.upper(error / 2)

    def at(self, factor: float) -> ConfidenceSequence:
        """The sequence as it would be after `factor` times as many values like those until now."""
        n, total, variance, largest, scale = self.state()
        return self.from_state([n * factor, total * factor, variance * factor, largest, scale])

    def state(self) -> list[float]:
        """Everything the sequence keeps, as numbers that `from_state` takes."""
        return [self._n, self._total, self._variance, self._largest, self.scale]

    @classmethod
    def from_state(cls, state: Sequence[float]) -> ConfidenceSequence:
        """The sequence with this state.

        Raises
        ------
        InputError
            If the state is not a list of five finite numbers >= 0.
        """
        if len(state) != 5:
            raise InputError(f"state = {shortened(state)}, but it must be five numbers")
        n, total, variance, largest, scale = (
            finite_number("state", value, least=0.0) for value in state
        )
        made = cls(scale)
        made._n, made._total, made._variance, made._largest = n, total, variance, largest
        return made

    def _reach(self, error: float) -> float:
        """How far the mean may be from the running mean of the conditional means."""
        if not self._n:
            _checked_error(error)
            return self.scale
        return self.scale * float(boundary(self._variance, error)) / self._n


class HasInterval(Protocol):
    """A mean with an interval that holds at all times at once."""

    def interval(self, error: float) -> Interval: ...


def difference(one: HasInterval, other: HasInterval, error: float, others: float = 0.5) -> Interval:
    """The interval for the running mean of `one` minus that of `other`, at all times at once.

    Parameters
    ----------
    one, other
        A `BoundedSequence` or a `ShareSequence` each, or a `ConfidenceSequence` of values that are
        at most its scale. Each may have its own number of values.
    error
        The probability with which the interval may fail at any time.
    others
        The part of the error that the interval of `other` is given. It has to be fixed before there
        are values, and is best above 1/2 if `other` will have fewer of them.

    Returns
    -------
    tuple
        The lower and the upper end.
    """
    low, high = one.interval(error * (1.0 - others))
    other_low, other_high = other.interval(error * others)
    return low - other_high, high - other_low


def ratio(one: HasInterval, other: HasInterval, error: float, others: float = 0.5) -> Interval:
    """The interval for the ratio of the running means minus 1, at all times at once.

    Parameters
    ----------
    one, other, error, others
        As for `difference`.

    Returns
    -------
    tuple
        The lower and the upper end, which is infinite while the other mean may be 0.
    """
    low, high = one.interval(error * (1.0 - others))
    other_low, other_high = other.interval(error * others)
    most = high / other_low - 1.0 if other_low > 0.0 else math.inf
    return low / other_high - 1.0 if other_high > 0.0 else -1.0, most


def _checked_error(error: float) -> float:
    if not 0.0 < finite_number("error", error) < 1.0:
        raise InputError(f"error = {error!r}, but it must be between 0 and 1")
    return float(error)
