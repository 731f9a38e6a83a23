"""A point or curve of the paper's figures: what one method did with one S, seed by seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from semibandit._util.arrays import Floats

__all__ = ["Method", "Panel", "Point", "Result"]

Method: TypeAlias = str
Result: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """The results of one setting, one of each seed.

    The order of the rows is the data set's for every seed: a seed orders labels that are equal.

    >>> point = Point([{"ac": 1.0}, {"ac": 1.5}])
    >>> point.mean("ac"), point.text("ac", ".1f")
    (1.25, '1.2 (1.0–1.5)')
    """

    results: Sequence[Result]

    def values(self, key: str) -> Floats:
        """A number or a curve of each seed, a row each."""
        return np.array([result[key] for result in self.results], dtype=np.float64)

    def mean(self, key: str) -> float:
        """The mean of a number over the seeds."""
        return float(self.values(key).mean())

    def text(self, key: str, form: str) -> str:
        """The mean, and the least and the largest value if there are several seeds."""
        values = self.values(key)
        mean = format(float(values.mean()), form)
        if len(values) == 1:
            return mean
        return f"{mean} ({values.min():{form}}–{values.max():{form}})"


Panel: TypeAlias = dict[Method, dict[int | None, Point]]  # method -> S -> its point
