"""BLAS functions called directly, without NumPy in between."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats

__all__ = ["blas_function"]


def blas_function(name: str, A: Floats) -> Any:
    """The BLAS function for numbers of A's type; BLAS is column-major, so pass it A.T for A.

    Called like this it keeps the interpreter lock, which NumPy's @ releases and then waits for: an
    update is a dozen such calls, and nobody can rank before it is done.
    """
    return _scipy_blas(("d" if A.dtype == np.float64 else "s") + name)


@cache
def _scipy_blas(name: str) -> Any:
    from scipy.linalg import blas

    return getattr(blas, name)
