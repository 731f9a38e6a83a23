"""The view: what a learner thinks of every label, for one context or for many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Floats

__all__ = ["View", "stacked"]


@dataclass(frozen=True, eq=False)
class View:
    """Every row's margin, width and estimate, what rows are sorted by, and what they are cut by.

    For many contexts each array has a line per context.
    """

    margin: Floats
    width: Floats
    estimate: Floats
    score: Floats
    prob: Floats

    @property
    def arrays(self) -> tuple[Floats, ...]:
        """All five arrays, in the order of the fields."""
        return self.margin, self.width, self.estimate, self.score, self.prob

    def at(self, b: int) -> View:
        """The view of context number b, taken out of a view of many contexts."""
        return View(*(array[b] for array in self.arrays))


def stacked(views: Sequence[View]) -> View:
    """One view of many contexts, from a view of each."""
    return View(*(np.array(lines) for lines in zip(*(view.arrays for view in views), strict=True)))
