"""Updates of some labels: numbers go to the device and a function follows; the host goes on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit.models.fused import LossStep
from semibandit.models.gpu import numbers as at
from semibandit.models.gpu.functions import functions_for
from semibandit.models.gpu.graph import Graph
from semibandit.models.gpu.numbers import Clock, line_size, write_context
from semibandit.models.gpu.tensors import Tensors
from semibandit.models.gpu.twins import GIVEN, LOGISTIC, SQUARE
from semibandit.models.model import NONE

__all__ = ["Update", "Updates", "flags_of"]

SIZES = (16, 64)  # of lines that are kept: for so many labels; more labels get a line of their own
KEPT = 8  # lines that may be on their way to the GPU at a time


class Update(NamedTuple):
    """What some labels learn from a context."""

    x: Floats
    clock: Clock
    rows: Ints
    labels: Ints
    flags: Floats  # FRESH, LEARNS or both
    change: Floats  # by how much margins are moved; the signs, if the steps are those of a loss
    steps: Floats | float
    used: int  # how many rows there are afterwards
    loss: LossStep | None  # None if change and steps are given

    @property
    def mode(self) -> int:
        """Where the steps come from."""
        if self.loss is None:
            return GIVEN
        return LOGISTIC if self.loss.logistic else SQUARE

    def write(self, line: Floats) -> None:
        """Write all of it into a line of numbers; the row of labels that are missing is NONE."""
        d, n = len(self.x), len(self.rows)
        write_context(line, self.x, self.clock)
        if self.loss is not None:
            line[d + at.R], line[d + at.C_L2] = self.loss.R, self.loss.c_L2
        line[d + at.USED] = self.used
        each = line[d + at.HEAD :].reshape(-1, at.EACH)
        each[:n, at.ROW], each[:n, at.LABEL], each[:n, at.FLAGS] = (
            self.rows,
            self.labels,
            self.flags,
        )
        each[:n, at.CHANGE], each[:n, at.STEP] = self.change, self.steps
        each[n:, at.ROW] = NONE


class _Line:
    """Numbers on the host that go to a place on the GPU, and the graphs that send and use them."""

    def __init__(self, t: Tensors, labels: int) -> None:
        size = line_size(t.d, labels)
        self.labels = labels
        self.host = torch.zeros(size, dtype=torch.float64, pin_memory=True)
        self.there = torch.zeros(size, dtype=torch.float64, device=t.device)
        self.numbers: Floats = self.host.numpy()
        self.graphs: dict[tuple[int, bool], Graph | None] = {}


class Updates:
    """Does updates of the tensors that it was made for, in their order.

    On a GPU a line is written again only after the host has waited for all lines before it.
    """

    def __init__(self, t: Tensors) -> None:
        self.t, self.functions = t, functions_for(t.device)
        self.lines: dict[int, list[_Line]] = {size: [] for size in SIZES}
        self.next = dict.fromkeys(SIZES, 0)

    def do(self, update: Update) -> None:
        """Start it; if this raises, nothing was changed."""
        labels, fades = len(update.labels), update.clock.rate > 0
        size = next((size for size in SIZES if labels <= size), None)
        if self.t.device.type != "cuda" or size is None:
            host = torch.zeros(line_size(self.t.d, labels), dtype=torch.float64)
            update.write(host.numpy())
            self._update(host.to(self.t.device), labels, update.mode, fades)
            return
        line = self._next_line(size)
        update.write(line.numbers)
        key = update.mode, fades
        if key in line.graphs:
            graph = line.graphs[key]
            if graph is None:
                graph = line.graphs[key] = Graph(lambda: self._send(line, *key))
            graph.start()
        else:  # the first time compiles what it needs
            line.graphs[key] = None
            self._send(line, *key)

    def _next_line(self, size: int) -> _Line:
        """A line that is not on its way any more."""
        lines, place = self.lines[size], self.next[size]
        self.next[size] = (place + 1) % KEPT
        if len(lines) < KEPT:
            lines.append(_Line(self.t, size))
        elif place == 0:
            torch.cuda.current_stream().synchronize()
        return lines[place]

    def _send(self, line: _Line, mode: int, fades: bool) -> None:
        line.there.copy_(line.host, non_blocking=True)
        self._update(line.there, line.labels, mode, fades)

    def _update(self, line: Any, labels: int, mode: int, fades: bool) -> None:
        self.functions.update_rows(self.t, line, labels, mode, fades=fades)


def flags_of(labels: int, fresh: Ints, learns: Bools | None) -> Floats:
    """Flags of so many labels: which have a new row, and which learn (None: all of them)."""
    flags = (
        np.full(labels, float(at.LEARNS)) if learns is None else at.LEARNS * learns.astype(float)
    )
    flags[fresh] += at.FRESH
    return flags
