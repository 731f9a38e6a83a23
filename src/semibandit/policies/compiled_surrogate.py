# mypy: ignore-errors
"""The surrogates as compiled functions: square, or logistic."""

from __future__ import annotations

import math

from numba import njit

from semibandit._util import reproducible
from semibandit._util.jit import FAST, REPRODUCIBLE

__all__ = ["clip", "prob", "slope", "step_size"]


@njit(**FAST)
def clip(m, R):
    """m projected onto D = [-R, R]."""
    return min(max(m, -R), R)


exp_parts = njit(**REPRODUCIBLE)(reproducible.exp_parts)


@njit(**REPRODUCIBLE)
def exp(x):
    """`reproducible.exp` of a number between -R and R."""
    n, part = exp_parts(x)
    return math.ldexp(part, int(n))


@njit(**REPRODUCIBLE)
def slope(m, logistic):
    """g(m) = -L'(m) of the surrogate."""
    return 1.0 / (1.0 + exp(m)) if logistic else 1.0 - m


@njit(**FAST)
def prob(m, logistic):
    """p(m) of the surrogate."""
    return 1.0 / (1.0 + math.exp(-m)) if logistic else 0.5 * (1.0 + m)


@njit(**REPRODUCIBLE)
def step_size(hit, margin, rule):
    """s·g(s·margin)/c''_L with s = 1 for a relevant label and -1 for another (step 5)."""
    sign = 1.0 if hit else -1.0
    return sign * slope(sign * margin, rule.logistic) / rule.c_L2
