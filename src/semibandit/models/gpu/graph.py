"""Graphs: what the GPU does again and again, recorded once and started by one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from semibandit._util.arrays import Floats

__all__ = ["Graph"]


class Graph:
    """A function without arguments on the GPU; what it returns, if anything, comes to the host.

    The function has been called before, so that what it needs is compiled, and its tensors stay
    where they are.
    """

    def __init__(self, function: Callable[[], Any]) -> None:
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            found = function()
            if found is not None:
                self.host = torch.empty(found.shape, dtype=found.dtype, pin_memory=True)
                self.host.copy_(found, non_blocking=True)
                self.result: Floats = self.host.numpy()

    def start(self) -> None:
        """Have it done after what the GPU has to do by now; the host does not wait."""
        self.graph.replay()

    def run(self) -> Floats:
        """What the function returns now, as an array that the next run overwrites."""
        self.graph.replay()
        torch.cuda.current_stream().synchronize()
        return self.result
