"""Which functions run on a device: those in Triton on a GPU, and their plain twins elsewhere."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

from semibandit.models.gpu import twins

__all__ = ["functions_for", "uses_triton"]


def uses_triton(device: Any) -> bool:
    """Whether this device runs the Triton functions: a GPU, or Triton's interpreter on a CPU."""
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    there = importlib.util.find_spec("triton") is not None
    return there and (interpreted or device.type == "cuda")


def functions_for(device: Any) -> Any:
    """The module with `prepare`, `scan`, `look_rows` and `update_rows` for this device."""
    if not uses_triton(device):
        return twins
    from semibandit.models.gpu import triton_functions

    return triton_functions
