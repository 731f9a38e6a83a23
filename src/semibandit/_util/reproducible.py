"""Sums and exponentials whose last bits are the same on every CPU, with and without numba.

What is learned must follow from the log alone. BLAS adds up in an order that depends on the CPU,
and the exp and pow of NumPy, of the C library and of numba differ in their last bits. Here every
sum is taken in the order of its terms, and only +, -, *, / and sqrt are used, which IEEE 754
defines to the bit. `models/compiled_steps.py` has the same sums as compiled loops.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from semibandit._util.arrays import Array, Floats

__all__ = ["dot", "eliminate", "exp", "exp2", "exp_parts", "less_outer", "power", "solve", "times"]

LOG2 = 0.6931471805599453  # ln 2
PER_LOG2 = 1.4426950408889634  # 1 / ln 2
HIGH = 0.6931471803691238  # ln 2 in two parts: n·HIGH is exact for the n that occur
LOW = 1.9082149292705877e-10
LARGEST = 709.0  # exp of more is not finite
SMALLEST = -746.0  # exp of less is 0
SOME = 15_000  # numbers of a product that are computed at a time: a cache's worth
TERMS = tuple(
    1.0 / math.factorial(k) for k in range(13, -1, -1)
)  # of exp's series, the last one first


def dot(a: Floats, b: Floats) -> Floats:
    """Σ_c a_c b_c along the last axis, in the order of c.

    Examples
    --------
    >>> dot(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 1.0]))
    array([12., 34.])
    """
    products = a * b
    if not products.shape[-1]:
        return np.zeros(products.shape[:-1], products.dtype)
    return np.asarray(np.add.accumulate(products, axis=-1)[..., -1])


def times(A: Floats, x: Floats) -> Floats:
    """A x for a symmetric A (d×d): Σ_c x_c A[c], one line of A after the other.

    Examples
    --------
    >>> times(np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([10.0, 1.0]))
    array([12., 24.])
    """
    some = max(1, SOME // max(1, len(A)))
    u = np.add.reduce(A[:some] * x[:some, None], axis=0)
    for first in range(some, len(A), some):
        products = A[first : first + some] * x[first : first + some, None]
        products[0] += u
        u = np.add.reduce(products, axis=0)
    return np.asarray(u)


def less_outer(A: Floats, vectors: Floats) -> None:
    """A -= v vᵀ for every line v of an array, one after the other, in place."""
    some = max(1, SOME // max(1, len(A)))
    for first in range(0, len(A), some):
        lines = A[first : first + some]
        for v in vectors:
            lines -= v[first : first + some, None] * v


def solve(M: Floats, B: Floats) -> Floats:
    """M⁻¹B for a symmetric, positive definite M, by elimination without pivots.

    Examples
    --------
    >>> solve(np.array([[4.0, 2.0], [2.0, 3.0]]), np.array([[8.0], [8.0]]))
    array([[1.],
           [2.]])
    """
    M, B = M.copy(), B.copy()
    eliminate(M, B)
    for k in range(len(M) - 1, -1, -1):
        B[k] /= M[k, k]
        B[:k] -= np.multiply.outer(M[:k, k], B[k])
    return B


def eliminate(M: Floats, B: Floats) -> None:
    """Replace M = L D Lᵀ by D Lᵀ, with anything below the diagonal, and B by L⁻¹B.

    M is symmetric and positive definite, L has ones in its diagonal.
    """
    for k in range(len(M)):
        factor = M[k + 1 :, k] / M[k, k]
        M[k + 1 :, k + 1 :] -= np.multiply.outer(factor, M[k, k + 1 :])
        B[k + 1 :] -= np.multiply.outer(factor, B[k])


def power(x: Floats, n: int) -> Floats:
    """xⁿ for a whole number n from 0 on, one product after the other."""
    result = np.ones_like(x)
    for _ in range(n):
        result = result * x
    return result


def exp_parts(x: Any) -> Any:  # a number or an array; numba compiles it, too
    """n and e^r with x = n·ln 2 + r, so that e^x is e^r·2ⁿ; for SMALLEST <= x <= LARGEST."""
    n = np.rint(x * PER_LOG2)
    r = (x - n * HIGH) - n * LOW
    total = TERMS[0] * r + TERMS[1]
    for k in range(2, len(TERMS)):
        total = total * r + TERMS[k]
    return n, total


def exp(x: Floats | float) -> Floats:
    """e^x, to a unit or two in the last place.

    Examples
    --------
    >>> exp(np.array([0.0, 1.0, -1000.0]))
    array([1.        , 2.71828183, 0.        ])
    """
    n, part = exp_parts(np.clip(np.asarray(x, dtype=np.float64), SMALLEST, LARGEST))
    with np.errstate(invalid="ignore"):  # nan stays nan
        return np.asarray(np.ldexp(part, n.astype(np.intc)))


def exp2(x: Array | float) -> Floats:
    """2^x, to a unit or two in the last place; exact for whole numbers.

    Examples
    --------
    >>> exp2(np.array([-1.0, 0.5, 3.0]))
    array([0.5       , 1.41421356, 8.        ])
    """
    x = np.asarray(x, dtype=np.float64)
    n = np.rint(x)
    return np.asarray(np.ldexp(exp((x - n) * LOG2), n.astype(np.intc)))
