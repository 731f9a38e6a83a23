"""Position costs c(i, s): what a wrong label in position i of a slate of s labels costs.

The paper (section 2) asks for 1 >= c(1,s) >= c(2,s) >= ... >= c(s,s) >= 0 for every s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from semibandit._util.arrays import Floats
from semibandit._util.checks import is_number, shortened
from semibandit.errors import InputError

__all__ = ["Cost", "Costs", "check_a", "constant", "decreasing"]

Cost: TypeAlias = (
    "Callable[..., float | Floats] | Sequence[Sequence[float]] | NDArray[np.float64] | Costs"
)
"""What can be given as costs: a function c(i, s), a table of rows, or `Costs`.

A function gets the positions i = 1..s, all at once as an array or one at a time, and s. Row s - 1
of a table holds c(1,s), ..., c(s,s).
"""

SIZES_CHECKED_FIRST = 64  # sizes s whose costs are checked when they are given; others when used
RESCALE = "divide costs up to C by C, and take a/(a + (1-a)·C) for a: slates stay as they are"
MAX_ROWS_KEPT = 2048  # sizes s whose costs are kept once they are computed


def decreasing(i: float | Floats, s: int) -> float | Floats:
    """c(i,s) = (s-i+1)/s, the paper's "decreasing c": a mistake in the first position costs most.

    Parameters
    ----------
    i : float or array
        The position, from 1 to s.
    s : int
        The number of labels in the slate.

    Returns
    -------
    float or array
        The cost, from 1 in the first position to 1/s in the last.

    Examples
    --------
    >>> [round(decreasing(i, 3), 2) for i in (1, 2, 3)]
    [1.0, 0.67, 0.33]
    """
    return (s - i + 1) / s


def constant(i: float | Floats, s: int) -> float | Floats:
    """c(i,s) = 1, the paper's "constant c": every mistake costs the same.

    With these costs and a = 1/2, ℓ_{a,c} is half the Hamming loss.

    Parameters
    ----------
    i : float or array
        The position, from 1 to s.
    s : int
        The number of labels in the slate; it changes nothing.

    Returns
    -------
    float or array
        1 for every position.

    Examples
    --------
    >>> constant(2, 3)
    1.0
    """
    return i * 0.0 + 1.0


class Costs:
    """Position costs c(i, s) that have been checked.

    Parameters
    ----------
    cost : Cost
        A function c(i, s), a table whose row s - 1 holds c(1,s), ..., c(s,s), or other `Costs`. A
        table limits slates to as many labels as it has rows.

    Attributes
    ----------
    limit : int or None
        The most labels that a slate can have, or None if the costs set no limit.

    Raises
    ------
    InputError
        If the costs do not satisfy 1 >= c(1,s) >= ... >= c(s,s) >= 0. A table is checked as a
        whole. A function is checked for s up to 64, and for larger s when they are first used.

    Examples
    --------
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
        self.cost = cost if callable(cost) else _read_table(cost)
        self.limit = None if callable(self.cost) else len(self.cost)
        self._rows = {}
        if self.cost is not decreasing and self.cost is not constant:
            for s in range(1, 1 + (self.limit or SIZES_CHECKED_FIRST)):
                self.row(s)

    def row(self, s: int) -> Floats:
        """Return c(1,s), ..., c(s,s), or raise `InputError` if they are not valid costs."""
        row = self._rows.get(s)
        if row is None:
            row = _checked(self._unchecked_row(s), s)
            if s <= MAX_ROWS_KEPT:
                self._rows[s] = row
        return row

    def sums(self, miss: Floats) -> Floats:
        """Return Σ_{j<=s} c(j,s)·miss_j for s = 1..S, with S the length of `miss`.

        This takes O(S) for `decreasing` and `constant`. Other costs may differ from size to size,
        so that there are S(S+1)/2 of them to be read: O(S²). With 3,000 labels and no limit on the
        slots a cut takes 33 ms (0.04 ms for `decreasing`); with 100 slots it takes what 100 labels
        take. Rows for more than 2,048 labels are computed anew each time.
        """
        if self.cost is decreasing:
            return np.cumsum(np.cumsum(miss)) / np.arange(1, len(miss) + 1)
        if self.cost is constant:
            return np.cumsum(miss)
        return np.array([self.row(s) @ miss[:s] for s in range(1, len(miss) + 1)])

    def _unchecked_row(self, s: int) -> Floats:
        if callable(self.cost):
            return _computed_row(self.cost, s)
        if s > len(self.cost):
            raise InputError(
                f"the cost table covers slates of up to {len(self.cost)} labels, not {s}; "
                "rank with fewer slots or give more rows"
            )
        return self.cost[s - 1]


def check_a(a: float) -> float:
    """Return a as a float, or raise `InputError`: the weight of missed labels lies in [0, 1]."""
    if not (is_number(a) and 0 <= a <= 1):
        raise InputError(f"a = {a!r}, but the weight of missed labels must lie in [0, 1]")
    return float(a)


def _computed_row(cost: Callable[..., float | Floats], s: int) -> Floats:
    """Call the user's function with all positions at once, or with one at a time if it must be.

    A function that was written for single numbers raises a TypeError or ValueError for an array, or
    does not return one cost for each position. Whatever it raises for a single position comes out.
    """
    positions = np.arange(1, s + 1)
    try:
        row = np.asarray(cost(positions, s), dtype=np.float64)
    except (TypeError, ValueError):
        row = np.empty(0)
    if row.shape == (s,):
        return row
    return np.array([_as_float(cost(int(i), s), int(i), s) for i in positions])


def _as_float(value: object, i: int, s: int) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(
            f"cost c({i},{s}) = {shortened(value)}, but costs must be numbers in [0, 1]"
        ) from None


def _read_table(rows: Sequence[Sequence[float]] | NDArray[np.float64]) -> list[Floats]:
    """Return the first s costs of every row s - 1."""
    try:
        table = [np.asarray(row, dtype=np.float64) for row in rows]
    except (TypeError, ValueError):
        raise InputError(
            f"cost must be a function c(i, s) or a table of rows, got {shortened(rows)}"
        ) from None
    if not table:
        raise InputError("the cost table is empty; row s - 1 must hold c(1,s), ..., c(s,s)")
    for s, row in enumerate(table, 1):
        if row.ndim != 1 or len(row) < s:
            raise InputError(
                f"row {s - 1} of the cost table needs {s} costs, got {shortened(row.tolist())}"
            )
    return [row[:s].copy() for s, row in enumerate(table, 1)]


def _checked(row: Floats, s: int) -> Floats:
    """Return c(1,s), ..., c(s,s) if they are finite, in [0, 1] and do not increase."""
    if not np.all(np.isfinite(row)):
        i = int(np.flatnonzero(~np.isfinite(row))[0]) + 1
        raise InputError(f"cost c({i},{s}) = {row[i - 1]}, but costs must lie in [0, 1]")
    if row[0] > 1 or row[-1] < 0:
        i = 1 if row[0] > 1 else s
        hint = "" if i > 1 or row[0] <= 1 else f"; {RESCALE}"
        raise InputError(f"cost c({i},{s}) = {row[i - 1]:g}, but costs must lie in [0, 1]{hint}")
    increases = np.flatnonzero(np.diff(row) > 0)
    if len(increases):
        i = int(increases[0]) + 2
        raise InputError(
            f"cost c({i},{s}) = {row[i - 1]:g} is more than c({i - 1},{s}) = {row[i - 2]:g}: "
            "costs must not increase with the position"
        )
    return row
