# mypy: ignore-errors
"""How numba compiles functions here: the options of `njit`. Importing this imports numba."""

from __future__ import annotations

from numba import njit

__all__ = ["BRIEF", "EXACT", "FAST", "INLINED", "REPRODUCIBLE"]


def can_cache():
    """Whether numba can keep what it compiles; it needs a folder that it may write to."""
    try:
        njit(cache=True)(can_cache)
    except RuntimeError:
        return False
    return True


FAST = {
    "cache": can_cache(),
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc"},
}
EXACT = {**FAST, "fastmath": {"contract"}}  # sums keep their order: matrices stay symmetric
REPRODUCIBLE = {**FAST, "fastmath": False}  # the same bits on every CPU, and as NumPy has them
BRIEF = {**FAST, "nogil": False}  # done sooner than the interpreter lock would be had back
INLINED = {**FAST, "forceinline": True}  # a call would copy every array of its named tuples
