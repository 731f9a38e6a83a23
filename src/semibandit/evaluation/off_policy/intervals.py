"""Intervals: sums by group of visits, bootstrap samples of them, and bounds valid at any time."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.evaluation.off_policy.chunk import padded
from semibandit.evaluation.off_policy.estimators import Estimator, Sums
from semibandit.theory.confidence_sequence import ConfidenceSequence

__all__ = ["AnytimeBounds", "CellSums", "bootstrap", "percentiles"]

CELLS = 4096
RESAMPLES = 1000
BLOCK = 250  # resamples at a time


class CellSums:
    """Sums over visits, by cells of visits that are independent of each other.

    The first groups have a cell of their own; if there are more than `CELLS`, later ones share
    cells, by a hash of the group. So memory is bounded, and all visits of a group are in one cell.
    """

    def __init__(self) -> None:
        self.sums: dict[str, Floats] = {}
        self._cell: dict[str, int] = {}
        self._alone = 0  # visits without a group

    def cells(self, groups: list[str]) -> Ints:
        """The cell of each of these groups; visits without one ("") are on their own."""
        known = self._cell
        found = []
        for group in groups:
            if not group:
                self._alone += 1
                group = f"\0{self._alone}"
            cell = known.get(group)
            if cell is None:
                if len(known) < CELLS:
                    cell = known[group] = len(known)
                else:
                    cell = crc32(group.encode("utf-8", "surrogatepass")) % CELLS
            found.append(cell)
        return np.array(found, dtype=np.intp)

    def add(self, cells: Ints, terms: dict[str, Floats]) -> None:
        """Add a number, or one for each position, of every visit to the sums of its cell."""
        for name, values in terms.items():
            if values.ndim == 1:
                before = self.sums.get(name, np.zeros(CELLS))
                self.sums[name] = before + np.bincount(cells, values, CELLS)
            else:
                before = padded(self.sums.get(name, np.zeros((CELLS, 0))), values.shape[1])
                for k in range(values.shape[1]):
                    before[:, k] += np.bincount(cells, values[:, k], CELLS)
                self.sums[name] = before

    @property
    def used(self) -> int:
        """How many cells have visits."""
        return len(self._cell)

    def total(self) -> dict[str, Floats]:
        """The sums over all visits."""
        return {name: np.asarray(sums.sum(axis=0)) for name, sums in self.sums.items()}


def bootstrap(sums: CellSums, estimators: list[Estimator], seed: int = 0) -> dict[str, Floats]:
    """Values of the estimators in samples of the cells, drawn with replacement.

    Parameters
    ----------
    sums : CellSums
        The sums over visits.
    estimators : list of Estimator
        Each is recomputed from the sums of every sample; all see the same samples.
    seed : int
        Decides the samples.

    Returns
    -------
    dict of arrays
        By estimator one value for each sample.
    """
    random = np.random.default_rng(seed)
    n = sums.used
    cells = {name: values[:n] for name, values in sums.sums.items()}
    found: dict[str, list[Floats]] = {one.name: [] for one in estimators}
    for _ in range(RESAMPLES // BLOCK if n > 1 else 0):
        # several times as fast as random.multinomial
        drawn = random.integers(0, n, (BLOCK, n)) + n * np.arange(BLOCK)[:, None]
        times = np.bincount(drawn.ravel(), minlength=BLOCK * n).reshape(BLOCK, n)
        times = times.astype(np.float64)
        sample: Sums = {name: times @ values for name, values in cells.items()}
        for one in estimators:
            found[one.name].append(one.value(sample))
    return {name: np.concatenate(values or [np.empty(0)]) for name, values in found.items()}


def percentiles(values: Floats, confidence: float) -> tuple[float | None, float | None]:
    """The interval between the percentiles of bootstrap values; None if there are none."""
    values = values[np.isfinite(values)]
    if not len(values):
        return None, None
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(values, [tail, 1.0 - tail])
    return float(low), float(high)


class AnytimeBounds:
    """Bounds of a value that hold at all times at once, from terms in the order of the log.

    The lower bound is that of the mean of the terms w r, which are not negative. The upper comes
    from the terms w (largest r - r): the mean of both together is known, namely how much the target
    could earn at most. Weights need no upper bound, and the log's policy may learn.

    Parameters
    ----------
    unit : float
        The most that one click is worth.
    """

    def __init__(self, unit: float) -> None:
        self._earned = ConfidenceSequence(unit if unit > 0 else 1.0)
        self._missed: ConfidenceSequence | None = None
        self._most = 0.0
        self._cap = 0.0

    def add(self, earned: Floats, missed: Floats, most: Floats, cap: Floats) -> None:
        """Add visits in the order of the log.

        Parameters
        ----------
        earned : array
            The terms w r.
        missed : array
            The terms w (largest r - r).
        most : array
            What both add up to in expectation.
        cap : array
            What each visit can give at most; less than `most` if only one click counts.
        """
        if not len(earned):
            return
        if self._missed is None:  # the unit must not depend on clicks
            self._missed = ConfidenceSequence(float(most[0]) or self._earned.scale)
        self._earned.add(earned)
        self._missed.add(np.maximum(missed, 0.0))  # rounding may make them negative
        self._most += float(most.sum())
        self._cap += float(cap.sum())

    def interval(self, confidence: float) -> tuple[float | None, float | None]:
        """The lower and the upper bound; None if there are no visits."""
        if self._missed is None:
            return None, None
        error = (1.0 - confidence) / 2.0
        most, cap = self._most / self._earned.n, self._cap / self._earned.n
        low = min(self._earned.lower(error), cap)
        return low, max(min(most - self._missed.lower(error), cap), low)
