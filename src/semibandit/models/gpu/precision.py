"""How exact scores on a device are: matrices and weights are float32, all that follows float64.

An update rounds the numbers of a label once, so a score differs from that of a learner in float64
by some 1e-7 after some thousand updates; how large weights become follows from the loss: the steps
of the logistic loss are up to 1/c''_L = 4 cosh²(R/2) long, those of the square loss 1.
"""

from __future__ import annotations

import math

__all__ = ["ERROR", "GRID", "error_of"]

GRID = 2.0**20  # scores are compared as multiples of 1/GRID
ERROR = 2.0**-19  # of a score for small R, the grid included


def error_of(R: float) -> float:
    """How far a score may be from that of a learner in float64, if margins lie in [-R, R].

    Labels whose scores are closer cannot be told apart.

    Examples
    --------
    >>> error_of(0.0) == ERROR, round(error_of(2.0) / ERROR, 2)
    (True, 2.38)
    """
    return ERROR * math.cosh(R / 2.0) ** 2
