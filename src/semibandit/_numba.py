"""Whether to ask numba, the `fast` extra: without it the same sums are done by numpy."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache

__all__ = ["has_numba", "pays"]

LOADING = 200  # times as much work must there be where it has yet to be loaded, or even to compile


@cache
def has_numba() -> bool:
    """Whether it is installed; looked for once."""
    return importlib.util.find_spec("numba") is not None


def pays(work: int, least: int) -> bool:
    """Whether numba is there and the work worth its while: at least so much, once it is loaded."""
    loaded = "semibandit.models._kernels" in sys.modules
    return work >= (least if loaded else LOADING * least) and has_numba()
