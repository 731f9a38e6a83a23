"""Features that stopped changing, or whose values have moved away from those of the first week.

A model that learned with other numbers than it is given now decides badly, and nothing else shows
it. So one decision a second is looked at, which costs next to nothing, and for each number in its
context a few running values are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.store.event import Decision

__all__ = ["FeatureDrift"]

MOST = 200  # features that are watched; contexts with more are not
FEW = 50  # features up to which one that never varied is worth a word: of many, some may be rare
EVERY = 1.0  # seconds between two samples
DAY = 86400.0
BASELINE_DAYS, BASELINE_SAMPLES = 7.0, 1000  # what the present is compared with
RECENT = DAY  # time constant of the present mean
LARGEST = 1e100  # squares of larger numbers would overflow
FAR = 3.0  # standard deviations between the present mean and that of the baseline
MISSED_CHANGES = 20.0  # that would have been expected since the last change

ROWS = ("n", "mean", "squares", "recent", "last", "changes", "same", "sampled")
LAST = ROWS.index("last")


@dataclass(frozen=True)
class _Column:
    """What is known of one feature."""

    n: float  # samples of the baseline
    mean: float
    squares: float  # sum of squared differences to the mean
    recent: float  # exponentially weighted mean
    last: float  # nan after a restart
    changes: float  # between two samples
    same: float  # samples since the last change
    sampled: float  # samples


class FeatureDrift:
    """Running values of the numbers in contexts."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}  # of contexts with names, in the order they came
        self._values = np.zeros((len(ROWS), 0))
        self._first = self._last = -math.inf  # times of samples

    def add(self, decision: Decision) -> None:
        """Take a sample, if the last one was at least a second ago."""
        if 0 <= decision.at - self._last < EVERY:  # a clock that was ahead goes back
            return
        x = self._numbers(decision)
        if x is None:
            return
        if not math.isfinite(self._first):
            self._first = decision.at
        self._add(np.clip(x, -LARGEST, LARGEST), decision.at)
        self._last = decision.at

    def find(self) -> tuple[list[int | str], list[int | str]]:
        """The features that are constant, and those that drift: by name, else by number."""
        constant: list[int | str] = []
        drifting: list[int | str] = []
        if self._last - self._first < DAY:
            return constant, drifting
        old = self._last - self._first > (BASELINE_DAYS + 1) * DAY  # a weekday is not forgotten
        few = self._values.shape[1] <= FEW
        names: list[int | str] = [*self._names] or [*range(self._values.shape[1])]
        for name, values in zip(names, self._values.T.tolist(), strict=True):
            column = _Column(*values)
            if column.changes == 0:
                if old and few and column.sampled >= BASELINE_SAMPLES:
                    constant.append(name)
            elif column.same * column.changes / column.sampled > MISSED_CHANGES:
                constant.append(name)
            elif old and _is_far(column):
                drifting.append(name)
        return constant, drifting

    def dump(self) -> dict[str, Any]:
        """As JSON can hold it; without the last values, which are those of a single visit."""
        times = [None if math.isinf(at) else at for at in (self._first, self._last)]
        values = np.delete(self._values, LAST, axis=0).tolist()
        return {"names": list(self._names), "values": values, "times": times}

    @classmethod
    def restore(cls, dump: dict[str, Any]) -> FeatureDrift:
        """What was dumped."""
        self = cls()
        self._names = {name: i for i, name in enumerate(dump["names"])}
        values = np.array(dump["values"], dtype=np.float64).reshape(len(ROWS) - 1, -1)
        self._values = np.insert(values, LAST, np.nan, axis=0)
        self._first, self._last = (-math.inf if at is None else at for at in dump["times"])
        return self

    def _numbers(self, decision: Decision) -> Floats | None:
        """The numbers of a context, nan for those that are unknown; None if it is not watched."""
        if decision.named is None:
            x = decision.context
            if self._names or not self._values.shape[1] <= len(x) <= MOST:
                return None
            self._grow(len(x))
            return x
        if not self._names and self._values.shape[1]:
            return None
        values = {
            name: float(value)
            for name, value in decision.named.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
        for name in values:
            if name not in self._names and len(self._names) < MOST:
                self._names[name] = len(self._names)
        self._grow(len(self._names))
        return np.array([values.get(name, np.nan) for name in self._names])

    def _grow(self, size: int) -> None:
        more = size - self._values.shape[1]
        if more > 0:
            self._values = np.hstack([self._values, np.zeros((len(ROWS), more))])

    def _add(self, x: Floats, at: float) -> None:
        known = ~np.isnan(x)
        n, mean, squares, recent, last, changes, same, sampled = self._values
        new = known & (sampled == 0)
        changed = known & (x != last) & ~np.isnan(last) & ~new
        if at - self._first <= BASELINE_DAYS * DAY or not n.any() or n.max() < BASELINE_SAMPLES:
            n += known
            step = np.where(known, x - mean, 0.0)
            mean += step / np.maximum(n, 1)
            squares += np.where(known, step * (x - mean), 0.0)
        since = max(0.0, at - max(self._last, self._first))
        weight = 1.0 - math.exp(-since / RECENT)
        recent += np.where(known, np.where(new, x, weight * (x - recent)), 0.0)
        changes += changed
        same[:] = np.where(changed, 0, same + known)
        sampled += known
        last[known] = x[known]


def _is_far(column: _Column) -> bool:
    if column.n < BASELINE_SAMPLES:
        return False
    deviation = math.sqrt(max(column.squares, 0.0) / column.n)
    return abs(column.recent - column.mean) > FAR * deviation > 0
