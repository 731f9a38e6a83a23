"""The contexts of visits as rows of a matrix with few columns, for a regression."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.models.model import Sparse

__all__ = ["ContextColumns"]

LARGEST = 10.0  # in units of a column's root mean square: outliers must not decide a regression


class ContextColumns:
    """Turns contexts into (visits, columns), the last column being 1.

    If there are more features than columns, each feature is added to a random column with a random
    sign (a count sketch): what is estimated with these columns need not be a good model, but it
    must have a bounded size. The columns are scaled by the root mean square in the first visits.

    Parameters
    ----------
    first : sequence of LoggedVisit
        The first visits of the log, which say how many features there are.
    most : int
        The most columns, with that of ones.
    seed : int
        Decides the random columns.
    """

    def __init__(self, first: Sequence[LoggedVisit], most: int, seed: int = 0) -> None:
        self.features = max((_size(visit) for visit in first), default=0)
        random = np.random.default_rng(seed)
        few = self.features < most
        self.n_columns = self.features if few else most - 1
        self.column = np.arange(self.features)
        self.sign = np.ones(self.features)
        if not few:
            self.column = random.integers(0, max(self.n_columns, 1), self.features)
            self.sign = random.choice([-1.0, 1.0], self.features)
        self.scale = np.ones(self.n_columns)
        size = np.sqrt(np.mean(self._columns(first) ** 2, axis=0))
        self.scale = np.where(size > 0, 1.0 / np.where(size > 0, size, 1.0), 1.0)

    def __call__(self, visits: Sequence[LoggedVisit]) -> Floats:
        """The rows of these visits."""
        scaled = np.clip(self._columns(visits) * self.scale, -LARGEST, LARGEST)
        return np.concatenate([scaled, np.ones((len(visits), 1))], axis=1)

    def _columns(self, visits: Sequence[LoggedVisit]) -> Floats:
        if not self.n_columns or not visits:
            return np.zeros((len(visits), self.n_columns))
        given = [visit.request.given for visit in visits]
        if all(type(x) is np.ndarray and len(x) == self.features for x in given):
            return self._from_dense(np.nan_to_num(np.array(given, dtype=np.float64)))
        pairs = [
            (x.index, x.value) if isinstance(x, Sparse) else (np.arange(len(x)), x) for x in given
        ]
        rows = np.repeat(np.arange(len(pairs)), [len(index) for index, _ in pairs])
        index = np.concatenate([index for index, _ in pairs])
        value = np.concatenate([value for _, value in pairs])
        usable = index < self.features
        rows, index, value = rows[usable], index[usable], np.nan_to_num(value[usable])
        cells = rows * self.n_columns + self.column[index]
        size = len(pairs) * self.n_columns
        found: Floats = np.bincount(cells, self.sign[index] * value, size).astype(np.float64)
        return found.reshape(-1, self.n_columns)

    def _from_dense(self, x: Floats) -> Floats:
        if self.features == self.n_columns:
            return x
        into = np.zeros((self.features, self.n_columns))
        into[np.arange(self.features), self.column] = self.sign
        return np.asarray(x @ into)


def _size(visit: LoggedVisit) -> int:
    x = visit.request.given
    return x.size if isinstance(x, Sparse) else len(x)
