"""Whether to use numba, the extra `fast`: without it numpy does the same sums."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

__all__ = ["has_numba", "mark_loaded", "use_compiled", "without_numba"]

_loaded: set[str] = set()  # groups of compiled functions that this process has imported
_avoiding: list[None] = []  # an entry for each `without_numba` that this process is in


@cache
def _is_installed() -> bool:
    return importlib.util.find_spec("numba") is not None


def has_numba() -> bool:
    """Whether numba is installed, which is looked for once, and not avoided."""
    return not _avoiding and _is_installed()


@contextmanager
def without_numba() -> Iterator[None]:
    """Do without numba in all threads of this process: nobody waits while it loads or compiles.

    Decisions are the same, and so is what is learned.

    >>> with without_numba():
    ...     has_numba()
    False
    """
    _avoiding.append(None)
    try:
        yield
    finally:
        _avoiding.pop()


def mark_loaded(group: str) -> None:
    """A module of compiled functions has been imported: using it is cheap from now on."""
    _loaded.add(group)


def use_compiled(group: str, work: int, *, least: int, to_load: int | None = None) -> bool:
    """Whether numba is installed and the work is large enough for compiled functions.

    Parameters
    ----------
    group : str
        The group of compiled functions, as their module named it to `mark_loaded`.
    work : int
        How much is to be done, in a unit of the caller's choice.
    least : int
        The work from which the functions pay once they are loaded.
    to_load : int, optional
        The work from which it pays to load them first, which may mean to compile them. By default
        they are never loaded for this.
    """
    if group in _loaded:
        return work >= least and has_numba()
    return to_load is not None and work >= to_load and has_numba()
