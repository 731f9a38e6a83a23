"""Kernel functions for the dual model: k(X, Y) for the lines of X (n×d) and Y (m×d), an n×m array.

Any function of this form can be used if it is symmetric and positive definite. The ones here have
k(x, x) = 1 for contexts of unit length, as the paper's assumption ||x|| = 1 requires.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import finite_number, shortened, whole_number
from semibandit._util.reproducible import dot, exp, power
from semibandit.errors import InputError

__all__ = ["Kernel", "Linear", "Polynomial", "Rbf", "linear", "polynomial", "rbf"]

Kernel: TypeAlias = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Linear:
    """k(x, y) = x·y, with which the dual model gives the slates of `Full`."""

    unit_norm: ClassVar[bool] = True  # k(x, x) <= 1 if ||x|| <= 1

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        return _products(X, Y)


@dataclass(frozen=True)
class Rbf:
    """k(x, y) = exp(-gamma·||x - y||²)."""

    unit_norm: ClassVar[bool] = True
    any_length: ClassVar[bool] = True  # k(x, x) <= 1 for every x
    gamma: float

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        apart = dot(X, X)[:, None] + dot(Y, Y)[None, :] - 2.0 * _products(X, Y)
        return exp(-self.gamma * np.maximum(apart, 0.0))


@dataclass(frozen=True)
class Polynomial:
    """k(x, y) = ((x·y + c)/(1 + c))^degree."""

    unit_norm: ClassVar[bool] = True
    degree: int
    c: float

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        return power((_products(X, Y) + self.c) / (1.0 + self.c), self.degree)


def _products(X: Floats, Y: Floats) -> Floats:
    """x·y for all lines x of X and y of Y."""
    return np.stack([dot(X, y) for y in Y], axis=1) if len(Y) else np.empty((len(X), 0))


linear = Linear()
"""The kernel function k(x, y) = x·y: `Dual(linear)` decides as `Full()` does."""


def rbf(gamma: float = 1.0) -> Rbf:
    """The Gaussian kernel function k(x, y) = exp(-gamma·||x - y||²).

    Parameters
    ----------
    gamma : float
        How fast contexts become unlike each other with their distance; above 0.

    Returns
    -------
    Rbf
        The kernel function, for `Dual`.

    Raises
    ------
    InputError
        If gamma is not a finite number above 0.

    Examples
    --------
    >>> k = rbf(0.5)
    >>> k(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])).round(4)
    array([[1.    , 0.3679]])
    """
    gamma = finite_number("gamma", gamma)
    if gamma <= 0:
        raise InputError(f"gamma = {shortened(gamma)}, but the RBF kernel needs a gamma above 0")
    return Rbf(gamma)


def polynomial(degree: int = 2, c: float = 1.0) -> Polynomial:
    """The polynomial kernel function k(x, y) = ((x·y + c)/(1 + c))^degree.

    Its features are all products of up to `degree` features of a context.

    Parameters
    ----------
    degree : int
        The degree, at least 1.
    c : float
        The weight of products of fewer features, at least 0.

    Returns
    -------
    Polynomial
        The kernel function, for `Dual`.

    Raises
    ------
    InputError
        If degree is not a whole number of at least 1, or c not a finite number of at least 0.

    Examples
    --------
    >>> k = polynomial(degree=2, c=1.0)
    >>> k(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[1.  , 0.25]])
    """
    degree, c = whole_number("degree", degree, least=1), finite_number("c", c, least=0.0)
    return Polynomial(degree, c)
