"""Position costs c(i, s): what a wrong label in position i of a slate of s labels costs.

The paper asks for 1 >= c(1,s) >= c(2,s) >= ... >= c(s,s) >= 0 for every s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from semibandit._util.arrays import Floats
from semibandit.errors import InputError

__all__ = ["Cost", "Costs", "check_a", "constant", "decreasing"]

Cost: TypeAlias = (
    "Callable[..., float | Floats] | Sequence[Sequence[float]] | NDArray[np.float64] | Costs"
)

CHECKED_AT_ONCE = 64  # sizes whose costs are checked when they are given, larger ones when used
KEPT = 2048  # sizes whose costs are kept


def decreasing(i: float | Floats, s: int) -> float | Floats:
    """c(i,s) = (s-i+1)/s: a mistake at the top is dearest.

    >>> [round(decreasing(i, 3), 2) for i in (1, 2, 3)]
    [1.0, 0.67, 0.33]
    """
    return (s - i + 1) / s


def constant(i: float | Floats, s: int) -> float | Floats:
    """c(i,s) = 1: every mistake costs the same, and ℓ_{a,c} is a weighted Hamming loss.

    >>> constant(2, 3)
    1.0
    """
    return i * 0.0 + 1.0


class Costs:
    """Checked costs: `row(s)` is c(1..s, s), from a function c(i, s) or from a table of rows.

    A table's row s - 1 holds c(1,s) ... c(s,s); it limits slates to as many labels as it has rows.

    >>> Costs([[1.0], [0.8, 0.2]]).row(2)
    array([0.8, 0.2])
    >>> Costs(lambda i, s: i / s)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    semibandit.errors.InputError: cost c(2,2) = 1 is more than c(1,2) = 0.5: costs must not ...
    """

    def __init__(self, cost: Cost) -> None:
        self.cost: Callable[..., float | Floats] | list[Floats]
        self.limit: int | None
        self._rows: dict[int, Floats]
        if isinstance(cost, Costs):
            self.cost, self.limit, self._rows = cost.cost, cost.limit, cost._rows
            return
        self.cost = cost if callable(cost) else _table(cost)
        self.limit = None if callable(self.cost) else len(self.cost)
        self._rows = {}
        if self.cost is not decreasing and self.cost is not constant:
            for s in range(1, 1 + (self.limit or CHECKED_AT_ONCE)):
                self.row(s)

    def row(self, s: int) -> Floats:
        """c(1,s), ..., c(s,s)."""
        row = self._rows.get(s)
        if row is None:
            row = _checked(self._raw(s), s)
            if s <= KEPT:
                self._rows[s] = row
        return row

    def sums(self, miss: Floats) -> Floats:
        """Σ_{j<=s} c(j,s)·miss_j for s = 1..S: O(S) for the shipped costs, O(S²) for others."""
        if self.cost is decreasing:
            return np.cumsum(np.cumsum(miss)) / np.arange(1, len(miss) + 1)
        if self.cost is constant:
            return np.cumsum(miss)
        return np.array([self.row(s) @ miss[:s] for s in range(1, len(miss) + 1)])

    def _raw(self, s: int) -> Floats:
        if not callable(self.cost):
            if s > len(self.cost):
                raise InputError(
                    f"the cost table covers slates of up to {len(self.cost)} labels, not {s}; "
                    "rank with fewer slots or give more rows"
                )
            return self.cost[s - 1]
        positions = np.arange(1, s + 1)
        try:
            row = np.asarray(self.cost(positions, s), dtype=np.float64)
        except (TypeError, ValueError):
            row = np.empty(0)
        if row.shape == (s,):
            return row
        return np.array([float(self.cost(int(i), s)) for i in positions])


def check_a(a: float) -> float:
    """a as a float, or an error: the weight of missed labels lies in [0, 1]."""
    if isinstance(a, bool) or not isinstance(a, int | float | np.number) or not 0 <= a <= 1:
        raise InputError(f"a = {a!r}, but the weight of missed labels must lie in [0, 1]")
    return float(a)


def _table(rows: Sequence[Sequence[float]] | NDArray[np.float64]) -> list[Floats]:
    try:
        table = [np.asarray(row, dtype=np.float64) for row in rows]
    except (TypeError, ValueError):
        raise InputError(
            f"cost must be a function c(i, s) or a table of rows, got {rows!r}"
        ) from None
    if not table:
        raise InputError("the cost table is empty; row s - 1 must hold c(1,s), ..., c(s,s)")
    for s, row in enumerate(table, 1):
        if row.ndim != 1 or len(row) < s:
            raise InputError(f"row {s - 1} of the cost table needs {s} costs, got {row.tolist()!r}")
    return [row[:s].copy() for s, row in enumerate(table, 1)]


def _checked(row: Floats, s: int) -> Floats:
    if not np.all(np.isfinite(row)):
        i = int(np.flatnonzero(~np.isfinite(row))[0]) + 1
        raise InputError(f"cost c({i},{s}) = {row[i - 1]}, but costs must lie in [0, 1]")
    if row[0] > 1 or row[-1] < 0:
        i = 1 if row[0] > 1 else s
        raise InputError(f"cost c({i},{s}) = {row[i - 1]:g}, but costs must lie in [0, 1]")
    up = np.flatnonzero(np.diff(row) > 0)
    if len(up):
        i = int(up[0]) + 2
        raise InputError(
            f"cost c({i},{s}) = {row[i - 1]:g} is more than c({i - 1},{s}) = {row[i - 2]:g}: "
            "costs must not increase with the position"
        )
    return row
