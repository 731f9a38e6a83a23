"""The search: one pass over the half-precision copy finds the rows that can be among the best.

Every row has an upper bound of its score (`scan`). The rows with the largest bounds are looked at
exactly; no other row's score is above the largest bound among the others, `rest`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from semibandit._util.arrays import Floats, Ints
from semibandit.models.gpu import numbers as at
from semibandit.models.gpu.functions import functions_for
from semibandit.models.gpu.graph import Graph
from semibandit.models.gpu.numbers import Clock, line_size, write_context
from semibandit.models.gpu.packed import padded_size
from semibandit.models.gpu.tensors import TILE, Tensors
from semibandit.models.gpu.twins import PER_TILE
from semibandit.models.model import NONE

__all__ = ["Candidates", "Query", "Search"]


class Query(NamedTuple):
    """A context, and what scores are made of."""

    x: Floats
    R: float
    spread: float
    cap: float  # the widths' largest
    clock: Clock


class Candidates(NamedTuple):
    """Labels that were looked at exactly, and a bound for the scores of all others with a row."""

    labels: Ints
    margin: Floats
    norm2: Floats
    rest: float

    def except_for(self, labels: Ints) -> Candidates:
        """Without these labels."""
        kept = ~np.isin(self.labels, labels)
        return Candidates(self.labels[kept], self.margin[kept], self.norm2[kept], self.rest)


class Search:
    """Buffers for one context at a time; on a GPU also the graphs that fill them.

    A search belongs to its tensors: it is made anew when they are others.
    """

    def __init__(self, t: Tensors) -> None:
        self.t, self.functions = t, functions_for(t.device)
        self.on_gpu = t.device.type == "cuda"
        self.host = torch.zeros(line_size(t.d), dtype=torch.float64, pin_memory=self.on_gpu)
        self.numbers: Floats = self.host.numpy()
        self.line = self.host.to(t.device) if self.on_gpu else self.host
        self.q = torch.zeros(padded_size(t.d), dtype=torch.float64, device=t.device)
        self.q32 = self.q.float()
        self.bounds = torch.empty(t.capacity, dtype=torch.float32, device=t.device)
        self.graphs: dict[tuple[int, bool], Graph | None] = {}

    def candidates(self, query: Query, count: int, without: Any = None) -> Candidates:
        """The `count` rows with the largest bounds, looked at; those in `without` never are."""
        write_context(self.numbers, query.x, query.clock)
        line, d = self.numbers, self.t.d
        line[d + at.R], line[d + at.SPREAD], line[d + at.CAP] = query.R, query.spread, query.cap
        fades = query.clock.rate > 0
        if count < self.t.capacity // TILE and without is None:
            candidates = self._in_tiles(count, fades)
            if candidates is not None:
                return candidates
        count = min(count, self.t.capacity)
        found = self._found(count, fades, without).cpu().numpy()
        rest, found = float(found[-1]), found[:-1].reshape(3, count)
        labels = found[0].astype(np.intp)
        if rest == -np.inf:  # only then there may be fewer
            there = labels >= 0
            return Candidates(labels[there], found[1, there], found[2, there], rest)
        return Candidates(labels, found[1].copy(), found[2].copy(), rest)

    def _found(self, count: int, fades: bool, without: Any) -> Any:
        """Labels (NONE if there are too few), margins and norms, and last the bound of the rest."""
        t = self.t
        self._send(fades)
        if without is not None:
            self.bounds[without] = -torch.inf
        bound, rows, rest = select(self.bounds, count)
        found = torch.empty(3 * count + 1, dtype=torch.float64, device=t.device)
        rows = torch.where(bound > -torch.inf, rows, NONE).to(torch.int32)
        label = t.label_of[rows.clamp(min=0)]
        found[:count] = torch.where(rows >= 0, label, NONE)
        both = found[count:-1].reshape(2, count)
        self.functions.look_rows(t, self.line, self.q, rows, both, fades=fades)
        found[-1:] = rest
        return found

    def _send(self, fades: bool) -> None:
        """The numbers to the device, and bounds of all rows out of them."""
        if self.on_gpu:
            self.line.copy_(self.host, non_blocking=True)
        self.functions.prepare(self.line, self.t.d, self.q, self.q32)
        self.functions.scan(self.t, self.line, self.q32, self.bounds, fades=fades)

    def _in_tiles(self, count: int, fades: bool) -> Candidates | None:
        """The candidates of the `count` best tiles; None if they are too many in one of them.

        As a graph from the second time on: the first compiles what it needs.
        """
        key = count, fades
        graph = self.graphs.get(key)
        if self.on_gpu and graph is None and key in self.graphs:
            graph = self.graphs[key] = Graph(lambda: self._tiles(count, fades))
        if graph is None:
            self.graphs[key] = None
            found = self._tiles(count, fades).cpu().numpy()
        else:
            found = graph.run()
        rest, found = float(found[-1]), found[:-1].reshape(4, -1)
        if found[3, :count].max() > PER_TILE:
            return None
        there = found[0] >= 0
        labels = found[0, there].astype(np.intp)
        return Candidates(labels, found[1, there], found[2, there], rest)

    def _tiles(self, count: int, fades: bool) -> Any:
        """What `look_tiles` finds, and last the bound of all rows that were not looked at."""
        self._send(fades)
        best = self.bounds.view(-1, TILE).amax(1).topk(count)
        least = best.values[-1:]
        size = 4 * PER_TILE * count
        found = torch.empty(size + 1, dtype=torch.float64, device=self.t.device)
        where, lines = best.indices, found[:size].view(4, -1)
        self.functions.look_tiles(
            self.t, self.line, self.q, self.bounds, where, least, lines, fades=fades
        )
        found[size:] = least
        return found


def select(bounds: Any, count: int) -> tuple[Any, Any, Any]:
    """The `count` largest bounds, their rows, and the largest bound (1 number) of the others.

    Tiles with the largest maxima come first: whatever is in no such tile is below their maxima.
    """
    if count >= len(bounds):
        rows = torch.arange(len(bounds), device=bounds.device)
        return bounds, rows, bounds.new_full((1,), -torch.inf)
    tiles = bounds.view(-1, TILE)
    if len(tiles) <= count:
        best = bounds.topk(count + 1)
        return best.values[:count], best.indices[:count], best.values[count:]
    highest = tiles.amax(1).topk(count + 1)
    inside = tiles[highest.indices[:count]]
    best = inside.flatten().topk(count + 1)
    place = best.indices[:count]
    rows = highest.indices[place // TILE] * TILE + place % TILE
    rest = torch.maximum(highest.values[count:], best.values[count:])
    return best.values[:count], rows, rest
