"""Python's collector of garbage, for work that makes many objects and no garbage in cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["rare_collections"]

SELDOM = 200_000  # new objects between two collections


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the collector run more rarely while the block runs.

    It looks through all objects that are there, again and again while more are made: a third of the
    time to read a log.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], SELDOM) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
