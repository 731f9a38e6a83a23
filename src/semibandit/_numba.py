"""Whether to ask numba, the `fast` extra: without it the same sums are done by numpy."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache

__all__ = ["has_numba", "pays"]


@cache
def has_numba() -> bool:
    """Whether it is installed; looked for once."""
    return importlib.util.find_spec("numba") is not None


def pays(work: int, module: str, least: int, loading: int | None = None) -> bool:
    """Whether numba is there and the work worth its while.

    module   whose kernels are wanted
    least    the work from which they pay, once they are loaded
    loading  the work from which it pays to load them, which may mean to compile them, if any
    """
    if f"semibandit.{module}" in sys.modules:
        return work >= least and has_numba()
    return loading is not None and work >= loading and has_numba()
