"""The numbers that go to the device with a context: one line of float64, copied in one piece.

0 .. d-1   the context x
d + R ...  the numbers below, at these places
d + HEAD   `EACH` numbers for every label that is updated
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semibandit._util.arrays import Floats

__all__ = ["EACH", "FRESH", "HEAD", "LEARNS", "Clock", "line_size", "write_context"]

# places after the context
R, SPREAD, NOW, RATE, XX, C_L2, USED, CAP = range(8)
HEAD = 8
# of a label that is updated: its row, its label, flags, and two numbers of `UPDATE` functions
ROW, LABEL, FLAGS, CHANGE, STEP = range(5)
EACH = 5
FRESH, LEARNS = 1, 2  # flags: the row is new; the label learns, not only its projection


class Clock(NamedTuple):
    """How matrices fade: the clock, and halvings in a round; (0, 0) if nothing is forgotten."""

    now: int = 0
    rate: float = 0.0


def line_size(d: int, labels: int = 0) -> int:
    """How many numbers go with a context and so many labels."""
    return d + HEAD + EACH * labels


def write_context(line: Floats, x: Floats, clock: Clock) -> None:
    """Write the context and the clock into a line of numbers."""
    d = len(x)
    line[:d] = x
    line[d + NOW], line[d + RATE] = clock
    line[d + XX] = float(np.dot(x, x))
