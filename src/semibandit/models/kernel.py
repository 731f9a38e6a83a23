"""Kernels for the dual model: k(X, Y) for rows of X (n×d) and Y (m×d), an n×m array.

Any function of this form will do; it must be symmetric and positive definite. The shipped ones
have k(x, x) = 1 on unit contexts, as the paper's ||x|| = 1 asks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.errors import InputError

__all__ = ["Kernel", "Linear", "Polynomial", "Rbf", "linear", "polynomial", "rbf"]

Kernel: TypeAlias = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Linear:
    """k(x, y) = x·y: the dual model is then `Full`."""

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        return X @ Y.T


@dataclass(frozen=True)
class Rbf:
    """k(x, y) = exp(-gamma·||x - y||²)."""

    gamma: float

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        apart = (X**2).sum(1)[:, None] + (Y**2).sum(1)[None, :] - 2.0 * X @ Y.T
        return np.asarray(np.exp(-self.gamma * np.maximum(apart, 0.0)))


@dataclass(frozen=True)
class Polynomial:
    """k(x, y) = ((x·y + c)/(1 + c))^degree."""

    degree: int
    c: float

    def __call__(self, X: Floats, Y: Floats) -> Floats:
        return ((X @ Y.T + self.c) / (1.0 + self.c)) ** self.degree


linear = Linear()


def rbf(gamma: float = 1.0) -> Rbf:
    """The Gaussian kernel; a larger gamma sees finer detail.

    >>> float(rbf(0.5)(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))[0, 0]) == math.exp(-1)
    True
    """
    if not (isinstance(gamma, int | float | np.number) and math.isfinite(gamma) and gamma > 0):
        raise InputError(f"gamma = {gamma}, but the RBF kernel needs a finite gamma > 0")
    return Rbf(float(gamma))


def polynomial(degree: int = 2, c: float = 1.0) -> Polynomial:
    """All products of up to `degree` features; c weighs the lower ones."""
    if isinstance(degree, bool) or not isinstance(degree, int | np.integer) or degree < 1:
        raise InputError(f"degree = {degree!r}, but a polynomial kernel needs a whole number >= 1")
    if not (math.isfinite(c) and c >= 0):
        raise InputError(f"c = {c}, but the polynomial kernel needs a finite c >= 0")
    return Polynomial(int(degree), float(c))
