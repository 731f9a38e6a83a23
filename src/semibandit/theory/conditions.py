"""What Theorem 1 assumes of a user's surrogate, checked at many points of D = [-R, R]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import finite_number
from semibandit.errors import InputError
from semibandit.theory.numerical import check_points

if TYPE_CHECKING:
    from semibandit.theory.surrogate import Surrogate

__all__ = ["check_surrogate", "checked_constant"]


def check_surrogate(loss: Surrogate, curvature_error: float) -> None:
    """Raise `InputError` unless L is finite, not negative, nonincreasing and strictly convex on D.

    `curvature_error` says how far the computed L'' may be from the true one.
    """
    points, domain = check_points(loss.R), f"[-{loss.R:g}, {loss.R:g}]"
    L, g, ddL = loss.value(points), loss.slope(points), loss.curvature(points)
    for name, values in (("L", L), ("g", g), ("L''", ddL)):
        if not np.all(np.isfinite(values)):
            at = points[np.flatnonzero(~np.isfinite(values))[0]]
            raise InputError(f"{name}({at:.6g}) is not a finite number; it must be one on {domain}")
    size = float(np.max(np.abs(L)))
    if np.min(L) < -1e-9 * size:
        k = int(np.argmin(L))
        raise InputError(f"L({points[k]:.6g}) = {L[k]:.6g}, but L must not be negative on {domain}")
    if np.min(g) < -1e-9 * size:
        k = int(np.argmin(g))
        raise InputError(
            f"L'({points[k]:.6g}) = {-g[k]:.6g}, but L must be nonincreasing (L' <= 0) on {domain}"
        )
    _check_curvature(points, ddL, size, curvature_error, domain)
    _check_derivatives(loss, points[1:-1], float(np.max(np.abs(g))))


def _check_curvature(points: Floats, ddL: Floats, size: float, error: float, domain: str) -> None:
    """Check condition iii, L'' > 0, as far as L'' is known."""
    k = int(np.argmin(ddL))
    zero = max(error, 1e-12 * float(np.max(np.abs(ddL))))  # an L'' up to this may well be 0
    if ddL[k] <= zero and (error <= 1e-6 * size or ddL[k] < -100 * error):
        value = 0.0 if abs(ddL[k]) <= zero else ddL[k]
        raise InputError(
            f"L''({points[k]:.6g}) = {value:.6g}, but condition iii of Theorem 1 needs "
            f"L'' >= c''_L > 0 on {domain}"
        )
    if ddL[k] <= 100 * error:
        raise InputError(
            f"L''({points[k]:.6g}) is about {ddL[k]:.2g} give or take {error:.2g}: too "
            "small to be computed from what was given; give g, and dg, as well"
        )


def _check_derivatives(loss: Surrogate, points: Floats, size: float) -> None:
    """Check that g is -L' and dg is g', by central differences."""
    h = 1e-5 * loss.R
    for name, f, df, sign in (
        ("g", loss.value, loss.slope, -1.0),
        ("dg", loss.slope, lambda m: -loss.curvature(m), 1.0),
    ):
        numeric = sign * (f(points + h) - f(points - h)) / (2 * h)
        gap = np.abs(numeric - df(points))
        k = int(np.argmax(gap))
        if gap[k] > 1e-4 * max(size, float(np.max(np.abs(numeric)))):
            raise InputError(
                f"{name}({points[k]:.6g}) = {float(df(points[k])):.6g}, but the derivative of "
                f"{'-L' if name == 'g' else 'g'} there is {numeric[k]:.6g}"
            )


def checked_constant(
    given: float | None,
    found: tuple[float, float],
    name: str,
    condition: str,
    quantity: str,
    *,
    upper: bool,
) -> float:
    """Return the user's constant if its condition holds (to 1e-6), and the tight one by default.

    Parameters
    ----------
    given : float or None
        The user's constant.
    found : tuple of float
        The extreme value of the quantity on D, and where it is taken.
    name, condition, quantity : str
        The constant, its condition in Theorem 1 and what it bounds, for the error message.
    upper : bool
        Whether the constant bounds the quantity from above.

    Returns
    -------
    float
        The constant.

    Raises
    ------
    InputError
        If the given constant is not a finite number above 0, or does not bound the quantity.
    """
    best, at = found
    if given is None:
        return best
    value = finite_number(name, given)
    slack = 1e-6 * abs(best)
    fails = value < best - slack if upper else value > best + slack
    if fails or value <= 0:
        bound = "at least" if upper else "above 0 and at most"
        raise InputError(
            f"{name} = {value:g} breaks condition {condition} of Theorem 1: {quantity} is "
            f"{best:.6g} at {at:.6g}, so {name} must be {bound} that"
        )
    return value
