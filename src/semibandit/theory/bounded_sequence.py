"""Both bounds of a mean at all times at once, for values whose bounds differ."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.theory.confidence_sequence import ConfidenceSequence, Interval

__all__ = ["BoundedSequence"]


class BoundedSequence:
    """Both bounds for the running mean of values 0 <= yᵢ <= bᵢ, where bᵢ is known before yᵢ.

    The upper bound is that of bᵢ less the lower bound of bᵢ - yᵢ. Unlike those of a
    `ConfidenceSequence`, values may be larger than the scale, and bounds may differ: for example
    clicks on slates of several sizes.

    Parameters
    ----------
    scale
        The unit of the values; the interval is tightest if it is a usual bᵢ.

    Examples
    --------
    >>> clicks = BoundedSequence(scale=3.0)
    >>> clicks.add([0.0, 2.0, 1.0, 0.0] * 500, bounds=[3.0, 5.0, 3.0, 3.0] * 500)
    >>> [round(bound, 2) for bound in clicks.interval(0.05)]
    [0.68, 0.79]
    """

    def __init__(self, scale: float = 1.0) -> None:
        self._values, self._rest = ConfidenceSequence(scale), ConfidenceSequence(scale)

    @property
    def n(self) -> int:
        """How many values there were."""
        return self._values.n

    @property
    def mean(self) -> float:
        """The mean of the values; 0 if there are none."""
        return self._values.mean

    def add(self, values: Floats | Sequence[float], bounds: Floats | Sequence[float]) -> None:
        """Add values in their order, and the largest that each of them could have been.

        Raises
        ------
        InputError
            If a value is negative, not finite, or larger than its bound.
        """
        y = np.asarray(values, dtype=np.float64)
        self._rest.add(np.asarray(bounds, dtype=np.float64) - y)
        self._values.add(y)

    def interval(self, error: float) -> Interval:
        """Both bounds; one of them ever fails with probability at most `error`.

        Without values, the upper bound is infinite.
        """
        low, rest = self._values.lower(error / 2), self._rest.lower(error / 2)
        return low, self.mean + self._rest.mean - rest if self.n else math.inf

    def at(self, factor: float) -> BoundedSequence:
        """The sequence as it would be after `factor` times as many values like those until now."""
        made = BoundedSequence()
        made._values, made._rest = self._values.at(factor), self._rest.at(factor)
        return made

    def state(self) -> list[list[float]]:
        """Everything the sequence keeps, as numbers that `from_state` takes."""
        return [self._values.state(), self._rest.state()]

    @classmethod
    def from_state(cls, state: Sequence[Sequence[float]]) -> BoundedSequence:
        """The sequence with this state."""
        made = cls()
        made._values, made._rest = (ConfidenceSequence.from_state(part) for part in state)
        return made
