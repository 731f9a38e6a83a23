"""Numerical calculus on D = [-R, R]: derivatives, integrals and extremes of a user's function.

Derivatives and integrals are those of a Chebyshev series through the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import shortened
from semibandit.errors import InputError

__all__ = [
    "Function",
    "antiderivative",
    "check_points",
    "derivative",
    "derivative_error",
    "extreme",
    "vectorised",
]

Function: TypeAlias = Callable[[Floats], Floats]

CHECK_POINTS = 4001  # points of D at which a user's function is checked
SMOOTH_TOLERANCE = 1e-8  # how closely a series must follow a function, relative to its size


def check_points(R: float) -> Floats:
    """Return the points of D = [-R, R] at which a user's function is checked."""
    return np.linspace(-R, R, CHECK_POINTS)


def vectorised(f: Function, name: str) -> Function:
    """Return the user's function for arrays, also if it was written for single numbers.

    A function for single numbers raises a TypeError or ValueError for an array, or does not return
    an array of its shape. Whatever the function raises for a single number comes out when it is
    called.
    """
    if not callable(f):
        raise InputError(f"{name} = {shortened(f)}, but it must be a function of the margin Δ")
    probe = np.zeros(3)
    try:
        takes_arrays = np.shape(f(probe)) == probe.shape
    except (TypeError, ValueError):
        takes_arrays = False
    if takes_arrays:
        return lambda m: np.asarray(f(m), dtype=np.float64)
    return np.vectorize(f, otypes=[np.float64])


def derivative(f: Function, R: float, name: str, sign: float = 1.0) -> Function:
    """Return sign·f', or raise `InputError` if f is not smooth on D."""
    series = _chebyshev(f, R, name).deriv() * sign
    return lambda m: np.asarray(series(m), dtype=np.float64)


def antiderivative(g: Function, R: float) -> Function:
    """Return L with -L' = g and L(R) = 0: the smallest loss that is nowhere negative."""
    series = _chebyshev(g, R, "g").integ()
    end = series(R)
    return lambda m: np.asarray(end - series(m), dtype=np.float64)


def derivative_error(f: Function, R: float, name: str, order: int) -> float:
    """Return by how much the derivative of this order changes with the degree of the series."""
    points, size = check_points(R), len(_chebyshev(f, R, name))
    low, high = (
        np.polynomial.Chebyshev.interpolate(f, degree, domain=[-R, R]).deriv(order)(points)
        for degree in (size + 6, size + 17)
    )
    return float(np.max(np.abs(high - low)))


def extreme(f: Function, R: float, *, largest: bool) -> tuple[float, float]:
    """Return the largest or smallest value of f on D, and where f takes it.

    After the check points, a finer grid is laid around the best point so far, twice.
    """
    pick = np.argmax if largest else np.argmin
    grid = check_points(R)
    for _ in range(3):
        values = f(grid)
        k = int(pick(values))
        best, at = float(values[k]), float(grid[k])
        grid = np.linspace(grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)], 201)
    return best, at


def _chebyshev(f: Function, R: float, name: str) -> np.polynomial.Chebyshev:
    """Return a Chebyshev series that follows f everywhere on D, or raise `InputError`."""
    points = check_points(R)
    values = f(points)
    if not np.all(np.isfinite(values)):
        at = points[np.flatnonzero(~np.isfinite(values))[0]]
        raise InputError(
            f"{name}({at:.6g}) is not a finite number; it must be one on [-{R:g}, {R:g}]"
        )
    size = max(float(np.max(np.abs(values))), 1e-300)
    for degree in (16, 32, 64, 128, 256):
        series = np.polynomial.Chebyshev.interpolate(f, degree, domain=[-R, R])
        gap = np.abs(series(points) - values)
        if np.max(gap) <= 1e-13 * size:
            break
    if np.max(gap) > SMOOTH_TOLERANCE * size:
        at = points[int(np.argmax(gap))]
        raise InputError(
            f"{name} is not smooth near {at:.4g}, so its derivative cannot be computed; "
            "Theorem 1 needs L twice continuously differentiable (give g and dg if it is)"
        )
    return series
