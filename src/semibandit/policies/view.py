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

    For many contexts each array has a line per context. The squared norms x·A⁻¹x are there if they
    came with many contexts; for a single one the learner knows its last look.
    """

    margin: Floats
    width: Floats
    estimate: Floats
    score: Floats
    prob: Floats
    norm2: Floats | None = None

    @property
    def arrays(self) -> tuple[Floats, ...]:
        """The five arrays that are always there, in the order of the fields."""
        return self.margin, self.width, self.estimate, self.score, self.prob

    def at(self, b: int) -> View:
        """The view of context number b, taken out of a view of many contexts."""
        norm2 = None if self.norm2 is None else self.norm2[b]
        margin, width, estimate, score, prob = (array[b] for array in self.arrays)
        return View(margin, width, estimate, score, prob, norm2)


def stacked(views: Sequence[View]) -> View:
    """One view of many contexts, from a view of each."""
    return View(*(np.array(lines) for lines in zip(*(view.arrays for view in views), strict=True)))
