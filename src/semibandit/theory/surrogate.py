"""Surrogate losses L, their slope g = -L', and the constants of Theorem 1.

A surrogate lives on D = [-R, R]. It makes the label model, eq. (2) of the paper,
p(Δ) = g(-Δ) / (g(Δ) + g(-Δ)), and it must satisfy, for every Δ in D,

    i.   (L'(Δ) L''(-Δ) + L''(Δ) L'(-Δ)) / (L'(Δ) + L'(-Δ))²  >=  -c_L     (that is p'(Δ) <= c_L)
    ii.  L'(Δ)²  <=  c'_L
    iii. L''(Δ)  >=  c''_L > 0
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.errors import InputError

__all__ = ["Logistic", "Square", "Surrogate"]

Function = Callable[[Floats], Floats]

GRID = 4001
SMOOTH = 1e-8  # how closely a polynomial must follow a user's function, relative to its size


class Surrogate:
    """A convex, nonincreasing loss L on D = [-R, R], with c_L, c'_L and c''_L.

    Give L, or its negative derivative g, or both; `dg` (the derivative of g) where you know it.
    What is missing is computed from a polynomial through your function, which therefore has to be
    smooth; where that does not give L'' to a hundredth of its smallest value, you are asked for g
    or dg. Constants you give are checked, others are computed, and a loss that breaks a condition
    of Theorem 1 is refused with the point where it fails.

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
        if L is None and g is None:
            raise InputError("a surrogate needs L, or its negative derivative g; both are missing")
        self._g = _vectorised(g) if g is not None else None
        self._L = _vectorised(L) if L is not None else None
        self._dg = _vectorised(dg) if dg is not None else None
        if self._g is None:
            assert self._L is not None
            self._g = _derivative(self._L, self.R, "L", sign=-1.0)
        if self._L is None:
            self._L = _antiderivative(self._g, self.R)
        self._doubt = 0.0  # how far the computed L'' may be off
        if self._dg is None:
            self._dg = _derivative(self._g, self.R, "g")
            source = self._g if g is not None else self._L
            self._doubt = _doubt(source, self.R, order=1 if g is not None else 2)
        self._check_shape()
        grid = self._grid()
        top_i = _refined(self.prob_slope, grid, largest=True)
        top_ii = _refined(lambda m: self.slope(m) ** 2, grid, largest=True)
        low_iii = _refined(self.curvature, grid, largest=False)
        self.c_L = _given(c_L, top_i, "c_L", "i", "p'", upper=True)
        self.c_L1 = _given(c_L1, top_ii, "c'_L", "ii", "L'²", upper=True)
        self.c_L2 = _given(c_L2, low_iii, "c''_L", "iii", "L''", upper=False)

    def value(self, margin: Floats | float) -> Floats:
        """L(Δ)."""
        assert self._L is not None
        return self._L(np.asarray(margin, dtype=np.float64))

    def slope(self, margin: Floats | float) -> Floats:
        """g(Δ) = -L'(Δ)."""
        assert self._g is not None
        return self._g(np.asarray(margin, dtype=np.float64))

    def curvature(self, margin: Floats | float) -> Floats:
        """L''(Δ) = -g'(Δ)."""
        assert self._dg is not None
        return -self._dg(np.asarray(margin, dtype=np.float64))

    def prob(self, margin: Floats | float) -> Floats:
        """p(Δ) = g(-Δ) / (g(Δ) + g(-Δ)), eq. (2): how likely a label with margin Δ is relevant."""
        up = self.slope(-np.asarray(margin, dtype=np.float64))
        return up / (self.slope(margin) + up)

    def prob_slope(self, margin: Floats | float) -> Floats:
        """p'(Δ): minus the left side of condition i, so c_L is its largest value."""
        m = np.asarray(margin, dtype=np.float64)
        down, up = self.slope(m), self.slope(-m)
        return (down * self.curvature(-m) + self.curvature(m) * up) / (down + up) ** 2

    @property
    def worst(self) -> float:
        """L(-R), the largest loss on D; every width of the paper needs it."""
        return float(self.value(-self.R))

    def __repr__(self) -> str:
        return f"Surrogate({self.name!r}, R={self.R:g})"

    def _grid(self) -> Floats:
        return np.linspace(-self.R, self.R, GRID)

    def _check_shape(self) -> None:
        grid, D = self._grid(), f"[-{self.R:g}, {self.R:g}]"
        L, g, ddL = self.value(grid), self.slope(grid), self.curvature(grid)
        scale = float(np.max(np.abs(L)))
        for name, values in (("L", L), ("g", g), ("L''", ddL)):
            if not np.all(np.isfinite(values)):
                at = grid[np.flatnonzero(~np.isfinite(values))[0]]
                raise InputError(f"{name}({at:.6g}) is not a finite number; it must be one on {D}")
        if np.min(L) < -1e-9 * scale:
            k = int(np.argmin(L))
            raise InputError(f"L({grid[k]:.6g}) = {L[k]:.6g}, but L must not be negative on {D}")
        if np.min(g) < -1e-9 * scale:
            k = int(np.argmin(g))
            raise InputError(
                f"L'({grid[k]:.6g}) = {-g[k]:.6g}, but L must be nonincreasing (L' <= 0) on {D}"
            )
        k = int(np.argmin(ddL))
        nothing = max(self._doubt, 1e-12 * float(np.max(np.abs(ddL))))
        if ddL[k] <= nothing and (self._doubt <= 1e-6 * scale or ddL[k] < -100 * self._doubt):
            shown = 0.0 if abs(ddL[k]) <= nothing else ddL[k]
            raise InputError(
                f"L''({grid[k]:.6g}) = {shown:.6g}, but condition iii of Theorem 1 needs "
                f"L'' >= c''_L > 0 on {D}"
            )
        if ddL[k] <= 100 * self._doubt:
            raise InputError(
                f"L''({grid[k]:.6g}) is about {ddL[k]:.2g} give or take {self._doubt:.2g}: too "
                "small to be computed from what was given; give g, and dg, as well"
            )
        claimed = self._derivative_gap(grid, g)
        if claimed is not None:
            raise InputError(claimed)

    def _derivative_gap(self, grid: Floats, g: Floats) -> str | None:
        """A sentence where L, g and dg, as the user gave them, are not each other's derivatives."""
        h = 1e-5 * self.R
        inner = grid[1:-1]
        scale = float(np.max(np.abs(g)))
        for name, f, df, sign in (
            ("g", self.value, self.slope, -1.0),
            ("dg", self.slope, lambda m: -self.curvature(m), 1.0),
        ):
            numeric = sign * (f(inner + h) - f(inner - h)) / (2 * h)
            gap = np.abs(numeric - df(inner))
            k = int(np.argmax(gap))
            if gap[k] > 1e-4 * max(scale, float(np.max(np.abs(numeric)))):
                return (
                    f"{name}({inner[k]:.6g}) = {float(df(inner[k])):.6g}, but the derivative of "
                    f"{'-L' if name == 'g' else 'g'} there is {numeric[k]:.6g}"
                )
        return None


class Square(Surrogate):
    """L(Δ) = (1-Δ)²/2 on D = [-1, 1]: p(Δ) = (1+Δ)/2, c_L = 1/2, c'_L = 4, c''_L = 1.

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
    """L(Δ) = ln(1+e^-Δ) on D = [-R, R]: p(Δ) = 1/(1+e^-Δ), c_L = 1/4, c''_L = 1/(2(1+cosh R)).

    c'_L is the tight g(-R)² = 1/(1+e^-R)², which the paper bounds by 1.

    >>> float(Logistic(R=2.0).prob(0.0))
    0.5
    """

    def __init__(self, R: float = 2.0) -> None:
        self.R, self.name = check_radius(R), "logistic"
        if self.R > 30.0:
            raise InputError(
                f"R = {R} leaves c''_L = 1/(2(1+cosh R)) at nothing; Logistic takes R up to 30"
            )
        self.c_L = 0.25
        self.c_L1 = float(self.slope(-self.R)) ** 2
        self.c_L2 = 1.0 / (2.0 * (1.0 + math.cosh(self.R)))

    def value(self, margin: Floats | float) -> Floats:
        return np.logaddexp(0.0, -np.asarray(margin, dtype=np.float64))

    def slope(self, margin: Floats | float) -> Floats:
        return 1.0 / (1.0 + np.exp(np.asarray(margin, dtype=np.float64)))

    def curvature(self, margin: Floats | float) -> Floats:
        return self.slope(margin) * self.slope(-np.asarray(margin, dtype=np.float64))

    def prob(self, margin: Floats | float) -> Floats:
        return self.slope(-np.asarray(margin, dtype=np.float64))

    def __repr__(self) -> str:
        return f"Logistic(R={self.R:g})"


def check_radius(R: float) -> float:
    """R as a float, or an error: D = [-R, R] needs a finite R > 0."""
    if isinstance(R, bool) or not isinstance(R, int | float | np.number):
        raise InputError(f"R must be a number, got {R!r}")
    if not (math.isfinite(R) and R > 0):
        raise InputError(f"R = {R}, but D = [-R, R] needs a finite R > 0")
    return float(R)


def _vectorised(f: Function) -> Function:
    """f over arrays, also where the user's function takes one number at a time."""
    probe = np.zeros(3)
    try:
        fits = np.shape(f(probe)) == probe.shape
    except (TypeError, ValueError):
        fits = False
    if fits:
        return lambda m: np.asarray(f(m), dtype=np.float64)
    return np.vectorize(f, otypes=[np.float64])


def _polynomial(f: Function, R: float, name: str) -> np.polynomial.Chebyshev:
    """A Chebyshev series through f that follows it everywhere on D, or an error."""
    check = np.linspace(-R, R, GRID)
    wanted = f(check)
    if not np.all(np.isfinite(wanted)):
        at = check[np.flatnonzero(~np.isfinite(wanted))[0]]
        raise InputError(
            f"{name}({at:.6g}) is not a finite number; it must be one on [-{R:g}, {R:g}]"
        )
    size = max(float(np.max(np.abs(wanted))), 1e-300)
    for degree in (16, 32, 64, 128, 256):
        series = np.polynomial.Chebyshev.interpolate(f, degree, domain=[-R, R])
        gap = np.abs(series(check) - wanted)
        if np.max(gap) <= 1e-13 * size:
            break
    if np.max(gap) > SMOOTH * size:
        at = check[int(np.argmax(gap))]
        raise InputError(
            f"{name} is not smooth near {at:.4g}, so its derivative cannot be computed; "
            "Theorem 1 needs L twice continuously differentiable (give g and dg if it is)"
        )
    return series


def _derivative(f: Function, R: float, name: str, sign: float = 1.0) -> Function:
    series = _polynomial(f, R, name).deriv() * sign
    return lambda m: np.asarray(series(m), dtype=np.float64)


def _antiderivative(g: Function, R: float) -> Function:
    """L with -L' = g and L(R) = 0: the smallest loss that is nowhere negative."""
    series = _polynomial(g, R, "g").integ()
    end = series(R)
    return lambda m: np.asarray(end - series(m), dtype=np.float64)


def _doubt(f: Function, R: float, order: int) -> float:
    """How much the derivative changes with the polynomial it is taken from."""
    grid = np.linspace(-R, R, GRID)
    ends = [
        np.polynomial.Chebyshev.interpolate(f, n, domain=[-R, R]).deriv(order)(grid)
        for n in (len(_polynomial(f, R, "L")) + 6, len(_polynomial(f, R, "L")) + 17)
    ]
    return float(np.max(np.abs(ends[1] - ends[0])))


def _refined(f: Function, grid: Floats, *, largest: bool) -> tuple[float, float]:
    """The extreme of f and where it is: the grid is laid anew, twice, around the best so far."""
    pick = np.argmax if largest else np.argmin
    for _ in range(3):
        values = f(grid)
        k = int(pick(values))
        best, at = float(values[k]), float(grid[k])
        grid = np.linspace(grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)], 201)
    return best, at


def _given(
    given: float | None,
    found: tuple[float, float],
    name: str,
    condition: str,
    what: str,
    *,
    upper: bool,
) -> float:
    """The user's constant where it holds (to 1e-6 of it), else an error; ours without one."""
    best, at = found
    if given is None:
        return best
    slack = 1e-6 * abs(best)
    fails = given < best - slack if upper else given > best + slack
    if fails or not (math.isfinite(given) and given > 0):
        raise InputError(
            f"{name} = {given:g} breaks condition {condition} of Theorem 1: {what} is {best:.6g} "
            f"at {at:.6g}, so {name} must be {'at least' if upper else 'at most'} that"
        )
    return float(given)
