"""The choice: what a learner would show for a request, before any coin is tossed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from semibandit._util.arrays import Ints

__all__ = ["Choice", "padded"]


class Choice(NamedTuple):
    """The rows that a learner would show, and how much room there is."""

    picked: Ints  # rows to show, best first, without one that is only tried
    rows: Ints | None  # the rows that may be shown; None for all
    n: int  # how many these are
    room: int  # how many of them can be shown, as slots and costs allow

    @property
    def has_room(self) -> bool:
        """Whether one more could be shown."""
        return len(self.picked) < self.room


def padded(rows: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Rows of different lengths as a matrix, and their lengths."""
    sizes = np.array([len(one) for one in rows], dtype=np.intp)
    matrix = np.zeros((len(rows), int(sizes.max(initial=0))), dtype=np.intp)
    for line, one in zip(matrix, rows, strict=True):
        line[: len(one)] = one
    return matrix, sizes
