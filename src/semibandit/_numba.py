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


def pays(work: int, least: int, loading: int) -> bool:
    """Whether numba is there and the work worth its while.

    least    the work from which it is, once our kernels are loaded
    loading  the work from which it is worth to load them, which may mean to compile them
    """
    loaded = "semibandit.models._kernels" in sys.modules
    return work >= (least if loaded else loading) and has_numba()
