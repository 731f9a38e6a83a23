"""Surrogate losses L, their slope g = -L', and the constants of Theorem 1.

A surrogate is defined on D = [-R, R]. It makes the label model, eq. (2) of the paper,
p(Δ) = g(-Δ) / (g(Δ) + g(-Δ)), and it must satisfy, for every Δ in D,

    i.   (L'(Δ) L''(-Δ) + L''(Δ) L'(-Δ)) / (L'(Δ) + L'(-Δ))²  >=  -c_L     (that is p'(Δ) <= c_L)
    ii.  L'(Δ)²  <=  c'_L
    iii. L''(Δ)  >=  c''_L > 0
"""

from __future__ import annotations

import math

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import is_number
from semibandit._util.reproducible import exp
from semibandit.errors import InputError
from semibandit.theory.conditions import check_surrogate, checked_constant
from semibandit.theory.numerical import (
    Function,
    antiderivative,
    derivative,
    derivative_error,
    extreme,
    vectorised,
)

__all__ = ["Logistic", "Square", "Surrogate"]


class Surrogate:
    """A convex, nonincreasing loss L on D = [-R, R], with the constants c_L, c'_L and c''_L.

    Give L, or its negative derivative g, or both, and dg, the derivative of g, if you know it. A
    derivative that is not given is computed from a polynomial through your function, which
    therefore has to be smooth. If that does not give L'' to a hundredth of its smallest value, an
    error asks for g or dg.

    L and the label model belong together: if P(y = 1) = p(Δ), then E[L(sΔ̂)], with s = 1 for y = 1
    and -1 otherwise, is least for Δ̂ = Δ (Lemma 3), and the variance of L(sΔ̂) - L(sΔ) is at most
    2 c'_L/c''_L times its mean (Lemma 4).

    The methods take margins Δ, a number or an array, and return an array of the same shape.

    Paper: Lemma 3; Lemma 4; Theorem 1.

    Parameters
    ----------
    L : function, optional
        The loss L(Δ), of an array or of a single number.
    g : function, optional
        g(Δ) = -L'(Δ). Without L, the loss is the one with L(R) = 0.
    dg : function, optional
        g'(Δ) = -L''(Δ).
    R : float
        The radius of D = [-R, R], a finite number above 0.
    c_L, c_L1, c_L2 : float, optional
        The constants c_L, c'_L and c''_L of Theorem 1. Those that are given are checked; by
        default they are the tightest for which conditions i, ii and iii hold.
    name : str, default "custom"
        A name to show.

    Attributes
    ----------
    R, c_L, c_L1, c_L2 : float
        The radius of D, and the constants.
    name : str
        The name.

    Raises
    ------
    InputError
        If both L and g are missing, R or a constant is not valid, g or dg is not the derivative it
        should be, or the loss breaks a condition of Theorem 1; the text says at which point. What
        your own functions raise comes out unchanged.

    Examples
    --------
    >>> exponential = Surrogate(L=lambda m: np.exp(-m), R=1.0)
    >>> round(exponential.c_L, 4), round(exponential.c_L1, 4), round(exponential.c_L2, 4)
    (0.5, 7.3891, 0.3679)
    >>> Surrogate(L=lambda m: 1 - m, R=1.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    semibandit.errors.InputError: L''(-1) = 0, but condition iii of Theorem 1 needs ...
    """

    R: float
    c_L: float
    c_L1: float
    c_L2: float
    name: str

    def __init__(
        self,
        L: Function | None = None,
        g: Function | None = None,
        dg: Function | None = None,
        *,
        R: float,
        c_L: float | None = None,
        c_L1: float | None = None,
        c_L2: float | None = None,
        name: str = "custom",
    ) -> None:
        self.R = check_radius(R)
        self.name = name
        self._L, self._g, self._dg, curvature_error = _completed(L, g, dg, self.R)
        check_surrogate(self, curvature_error)
        largest_i = extreme(self.prob_slope, self.R, largest=True)
        largest_ii = extreme(lambda m: self.slope(m) ** 2, self.R, largest=True)
        smallest_iii = extreme(self.curvature, self.R, largest=False)
        self.c_L = checked_constant(c_L, largest_i, "c_L", "i", "p'", upper=True)
        self.c_L1 = checked_constant(c_L1, largest_ii, "c'_L", "ii", "L'²", upper=True)
        self.c_L2 = checked_constant(c_L2, smallest_iii, "c''_L", "iii", "L''", upper=False)

    def value(self, margin: Floats | float) -> Floats:
        """Return L(Δ)."""
        return self._L(np.asarray(margin, dtype=np.float64))

    def slope(self, margin: Floats | float) -> Floats:
        """Return g(Δ) = -L'(Δ)."""
        return self._g(np.asarray(margin, dtype=np.float64))

    def curvature(self, margin: Floats | float) -> Floats:
        """Return L''(Δ) = -g'(Δ)."""
        return -self._dg(np.asarray(margin, dtype=np.float64))

    def prob(self, margin: Floats | float) -> Floats:
        """Return p(Δ) = g(-Δ) / (g(Δ) + g(-Δ)), eq. (2): P(y = 1) of a label with margin Δ."""
        up = self.slope(-np.asarray(margin, dtype=np.float64))
        return up / (self.slope(margin) + up)

    def prob_slope(self, margin: Floats | float) -> Floats:
        """Return p'(Δ): minus the left side of condition i, so that c_L is its largest value."""
        m = np.asarray(margin, dtype=np.float64)
        down, up = self.slope(m), self.slope(-m)
        return (down * self.curvature(-m) + self.curvature(m) * up) / (down + up) ** 2

    @property
    def worst(self) -> float:
        """L(-R), the largest loss on D; the ε of Figure 2 and of Remark 1 need it."""
        return float(self.value(-self.R))

    def __repr__(self) -> str:
        return f"Surrogate({self.name!r}, R={self.R:g})"


class Square(Surrogate):
    """The square loss L(Δ) = (1-Δ)²/2 on D = [-1, 1].

    It has p(Δ) = (1+Δ)/2, c_L = 1/2, c'_L = 4 and c''_L = 1.

    Examples
    --------
    >>> float(Square().prob(0.5))
    0.75
    """

    def __init__(self) -> None:
        self.R, self.name = 1.0, "square"
        self.c_L, self.c_L1, self.c_L2 = 0.5, 4.0, 1.0

    def value(self, margin: Floats | float) -> Floats:
        return 0.5 * (1.0 - np.asarray(margin, dtype=np.float64)) ** 2

    def slope(self, margin: Floats | float) -> Floats:
        return 1.0 - np.asarray(margin, dtype=np.float64)

    def curvature(self, margin: Floats | float) -> Floats:
        return np.ones_like(np.asarray(margin, dtype=np.float64))

    def prob(self, margin: Floats | float) -> Floats:
        return 0.5 * (1.0 + np.asarray(margin, dtype=np.float64))

    def __repr__(self) -> str:
        return "Square()"


class Logistic(Surrogate):
    """The logistic loss L(Δ) = ln(1+e^-Δ) on D = [-R, R].

    It has p(Δ) = 1/(1+e^-Δ), c_L = 1/4 and c''_L = 1/(2(1+cosh R)). c'_L is the tight value
    g(-R)² = 1/(1+e^-R)², which the paper bounds by 1.

    Parameters
    ----------
    R : float, default 2.0
        The radius of D, above 0 and at most 30: beyond that c''_L is 0 for all purposes.

    Raises
    ------
    InputError
        If R is out of range.

    Examples
    --------
    >>> float(Logistic(R=2.0).prob(0.0))
    0.5
    """

    def __init__(self, R: float = 2.0) -> None:
        self.R, self.name = check_radius(R), "logistic"
        if self.R > 30.0:
            raise InputError(
                f"R = {R!r}, but Logistic takes R up to 30: beyond, c''_L = 1/(2(1+cosh R)) is "
                "nearly 0"
            )
        self.c_L = 0.25
        self.c_L1 = float(self.slope(-self.R)) ** 2
        self.c_L2 = 1.0 / (2.0 * (1.0 + math.cosh(self.R)))

    def value(self, margin: Floats | float) -> Floats:
        return np.logaddexp(0.0, -np.asarray(margin, dtype=np.float64))

    def slope(self, margin: Floats | float) -> Floats:
        return 1.0 / (1.0 + exp(margin))

    def curvature(self, margin: Floats | float) -> Floats:
        return self.slope(margin) * self.slope(-np.asarray(margin, dtype=np.float64))

    def prob(self, margin: Floats | float) -> Floats:
        # faster than `slope`, and nothing is learned from it
        return 1.0 / (1.0 + np.exp(-np.asarray(margin, dtype=np.float64)))

    def __repr__(self) -> str:
        return f"Logistic(R={self.R:g})"


def check_radius(R: float) -> float:
    """Return R as a float, or raise `InputError`: D = [-R, R] needs a finite R > 0."""
    if not (is_number(R) and 0 < R < math.inf):
        raise InputError(f"R = {R!r}, but D = [-R, R] needs a finite R > 0")
    return float(R)


def _completed(
    L: Function | None, g: Function | None, dg: Function | None, R: float
) -> tuple[Function, Function, Function, float]:
    """Return L, g and dg, with those that are missing computed, and the error of a computed dg."""
    if g is not None:
        slope = vectorised(g, "g")
        value = vectorised(L, "L") if L is not None else antiderivative(slope, R)
    elif L is not None:
        value = vectorised(L, "L")
        slope = derivative(value, R, "L", sign=-1.0)
    else:
        raise InputError("a surrogate needs L, or its negative derivative g; both are missing")
    if dg is not None:
        return value, slope, vectorised(dg, "dg"), 0.0
    if g is not None:
        error = derivative_error(slope, R, "g", order=1)
    else:
        error = derivative_error(value, R, "L", order=2)
    return value, slope, derivative(slope, R, "g"), error
