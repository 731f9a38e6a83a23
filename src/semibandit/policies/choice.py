"""The choice: what a learner would show for a request, before any coin is tossed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from semibandit._util.arrays import Ints

__all__ = ["Choice", "padded"]


class Choice(NamedTuple):
    """The labels that a learner would show, and how much room there is."""

    picked: Ints  # what to show, as places of the view, best first, without one that is only tried
    n: int  # how many labels may be shown
    room: int  # how many of them can be shown, as slots and costs allow

    @property
    def has_room(self) -> bool:
        """Whether one more could be shown."""
        return len(self.picked) < self.room


def padded(lines: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Lines of different lengths as a matrix, and their lengths."""
    sizes = np.array([len(one) for one in lines], dtype=np.intp)
    matrix = np.zeros((len(lines), int(sizes.max(initial=0))), dtype=np.intp)
    for line, one in zip(matrix, lines, strict=True):
        line[: len(one)] = one
    return matrix, sizes
