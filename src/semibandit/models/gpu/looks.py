"""Exact looks at some rows; on a GPU by a graph, if they are not many."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from semibandit._util.arrays import Floats, Ints
from semibandit.models.gpu.functions import functions_for
from semibandit.models.gpu.graph import Graph
from semibandit.models.gpu.numbers import Clock, line_size, write_context
from semibandit.models.gpu.packed import padded_size
from semibandit.models.gpu.tensors import Tensors
from semibandit.models.model import NONE

__all__ = ["Looks"]

SIZES = (64, 512)  # of looks by a graph: at so many rows; more rows are looked at without


class _Buffers:
    """What goes to the device for a look at up to so many rows, and what is computed there."""

    def __init__(self, t: Tensors, rows: int, *, pinned: bool) -> None:
        self.size = rows
        self.line = torch.zeros(line_size(t.d), dtype=torch.float64, pin_memory=pinned)
        self.rows = torch.full((rows,), NONE, dtype=torch.int32, pin_memory=pinned)
        self.line_there, self.rows_there = self.line.to(t.device), self.rows.to(t.device)
        self.q = torch.empty(padded_size(t.d), dtype=torch.float64, device=t.device)
        self.q32 = torch.empty(padded_size(t.d), dtype=torch.float32, device=t.device)
        self.graphs: dict[tuple[bool, bool], Graph | None] = {}


class Looks:
    """Looks at rows of the tensors that it was made for, one context at a time."""

    def __init__(self, t: Tensors) -> None:
        self.t, self.functions = t, functions_for(t.device)
        self.kept: dict[int, _Buffers] = {}

    def look(self, x: Floats, clock: Clock, rows: Ints, *, norms: bool) -> tuple[Floats, Floats]:
        """Margins and squared norms of these rows, NONE being a label without one."""
        on_gpu = self.t.device.type == "cuda"
        size = next((size for size in SIZES if len(rows) <= size), None)
        if not on_gpu or size is None:
            found = self._write(_Buffers(self.t, len(rows), pinned=False), x, clock, rows)
            margin, norm2 = self._look(found, clock.rate > 0, norms).cpu().numpy()
            return margin, norm2
        if size not in self.kept:
            self.kept[size] = _Buffers(self.t, size, pinned=True)
        buffers = self._write(self.kept[size], x, clock, rows)
        margin, norm2 = self._by_graph(buffers, clock.rate > 0, norms)
        return margin[: len(rows)].copy(), norm2[: len(rows)].copy()

    def _write(self, buffers: _Buffers, x: Floats, clock: Clock, rows: Ints) -> _Buffers:
        write_context(buffers.line.numpy(), x, clock)
        there = buffers.rows.numpy()
        there[: len(rows)], there[len(rows) :] = rows, NONE
        return buffers

    def _by_graph(self, buffers: _Buffers, fades: bool, norms: bool) -> Floats:
        key = fades, norms
        if key not in buffers.graphs:  # the first time compiles what it needs
            buffers.graphs[key] = None
            return np.asarray(self._look(buffers, *key).cpu().numpy())
        graph = buffers.graphs[key]
        if graph is None:
            graph = buffers.graphs[key] = Graph(lambda: self._look(buffers, *key))
        return graph.run()

    def _look(self, buffers: _Buffers, fades: bool, norms: bool) -> Any:
        """Both as one tensor on the device; the norms are not set if nobody asks for them."""
        t, line = self.t, buffers.line_there
        line.copy_(buffers.line, non_blocking=True)
        buffers.rows_there.copy_(buffers.rows, non_blocking=True)
        self.functions.prepare(line, t.d, buffers.q, buffers.q32)
        out = torch.empty((2, buffers.size), dtype=torch.float64, device=t.device)
        rows = buffers.rows_there
        self.functions.look_rows(t, line, buffers.q, rows, out, fades=fades, norms=norms)
        return out
