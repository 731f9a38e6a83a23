"""The type of the functions that downloads and long reads report their progress to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Progress"]

# called with what is being done, how many bytes are done, and of how many
Progress: TypeAlias = Callable[[str, int, int], object]
