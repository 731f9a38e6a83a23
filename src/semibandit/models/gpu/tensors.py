"""The tensors of a state on a device: one row for each label that was ever shown.

    A         float32 (capacity×Dp)  A⁻¹ as a packed triangle, see `packed.py`
    A16       float16 (capacity×Dp)  the same, rounded: what is read to find the best labels
    F         float32 (capacity)     at least ‖A⁻¹‖_F
    E         float32 (capacity)     at least ‖A⁻¹ - A16‖_F + 2⁻¹¹ F: |x·(A⁻¹ - A16)x| <= E x·x
    w         float32 (capacity×d)   weights
    count     int32   (capacity)     how often the row was updated
    label_of  int32   (capacity)     row -> its label
    since     int32   (capacity)     the clock of its last fold, NONE if nothing fades yet
    row_of    int32   (labels)       label -> its row, or NONE if the label was never shown
    tie_rank  int32   (labels)       label -> its position among labels with equal scores
    used      int32   (1)            n, for functions that run without the host

The first n rows are used. The capacity is a multiple of `TILE`, and rows past n are allocated and
zero, so that functions may read whole tiles; they write no row past n.

A label that was never shown has no row: w = 0 and A = I, so its margin is 0 and x·A⁻¹x = x·x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from semibandit._util.arrays import Ints
from semibandit.models.gpu.device import free_memory, reporting_memory
from semibandit.models.gpu.packed import pack, padded_size, triangle
from semibandit.models.model import NONE

__all__ = ["TILE", "Tensors", "rounded_up", "shadow"]

TILE = 128  # rows that are read together
GROWTH = (1.5, 1.25, 1.125, 1.06)  # to how many times the capacity, the largest that fits
HALF = 2.0**-11  # the relative rounding error of float16
ABOVE = 1.0 + 2.0**-20  # what rounding may have taken from a norm
BY_ROW = ("A16", "F", "E", "w", "count", "label_of", "since", "A")  # in which they grow: A last


@dataclass
class Tensors:
    """All tensors of one state; the module says what each of them holds."""

    n: int  # how many rows are used
    d: int
    A: Any
    A16: Any
    F: Any
    E: Any
    w: Any
    count: Any
    label_of: Any
    since: Any
    row_of: Any
    tie_rank: Any
    used: Any

    @classmethod
    def start(cls, n_labels: int, d: int, device: Any) -> Tensors:
        """No label was shown yet."""
        whole = {"dtype": torch.int32, "device": device}
        with reporting_memory(device, n_labels, 0, d):
            by_row = {name: _empty(name, 0, d, device) for name in BY_ROW}
            row_of = torch.full((n_labels,), NONE, **whole)
            tie_rank, used = torch.zeros(n_labels, **whole), torch.zeros(1, **whole)
        return cls(n=0, d=d, **by_row, row_of=row_of, tie_rank=tie_rank, used=used)

    @property
    def capacity(self) -> int:
        """For how many rows there is room."""
        return int(self.A.shape[0])

    @property
    def device(self) -> Any:
        """Where the tensors are."""
        return self.A.device

    @property
    def n_labels(self) -> int:
        """How many labels there are, shown or not."""
        return int(self.row_of.shape[0])

    def reserve(self, need: int) -> bool:
        """Make room for `need` rows; whether the tensors are others than before.

        Raises
        ------
        DeviceError
            If there is not enough memory; the tensors are then as before.
        """
        if need <= self.capacity:
            return False
        least, most = rounded_up(need), rounded_up(max(self.n_labels, need))
        sizes = [min(rounded_up(int(growth * self.capacity)), most) for growth in GROWTH]
        size = next((size for size in sizes if size >= least and self._fits(size)), least)
        with reporting_memory(self.device, self.n_labels, need, self.d):
            for name in BY_ROW:  # the capacity is that of A, so one that fails changes nothing
                setattr(self, name, self._larger(name, size))
        return True

    def add_labels(self, n: int) -> None:
        """Make room for n more labels, none of which was shown yet."""
        with reporting_memory(self.device, self.n_labels + n, self.n, self.d):
            new = torch.full((n,), NONE, dtype=torch.int32, device=self.device)
            row_of, tie_rank = torch.cat([self.row_of, new]), torch.cat([self.tie_rank, new])
        self.row_of, self.tie_rank = row_of, tie_rank

    def set_used(self, n: int) -> None:
        """The first n rows are used from now on."""
        self.n = n
        self.used.fill_(n)

    def start_rows(self, first: int, end: int) -> None:
        """Rows first..end say what is said of labels that were never shown: w = 0 and A = I."""
        if end <= first:
            return
        rows = slice(first, end)
        self.A[rows] = pack(torch.eye(self.d, device=self.device)[None])
        self.A16[rows] = self.A[rows].half()
        self.F[rows], self.E[rows] = shadow(self.A[first : first + 1], self.d)[1:]
        self.w[rows], self.count[rows], self.since[rows] = 0.0, 0, NONE

    def move_rows(self, last: Ints, holes: Ints, n: int, gone: Ints) -> None:
        """Move rows `last` to the rows `holes`, so that the first n rows are those in use.

        The labels `gone` have no row then.
        """
        source, target, labels = (_index(some, self.device) for some in (last, holes, gone))
        for name in BY_ROW:
            tensor = getattr(self, name)
            tensor[target] = tensor[source]
            tensor[n : self.n].zero_()
        self.row_of[labels] = NONE
        self.row_of[self.label_of[target].long()] = target.to(torch.int32)
        self.set_used(n)

    def _fits(self, capacity: int) -> bool:
        """Whether so many rows can be allocated beside those that are there."""
        new = {name: _empty(name, 1, self.d, self.device) for name in ("A", "A16", "w")}
        each = sum(one.element_size() * one.shape[1] for one in new.values()) + 20
        return bool(each * capacity < free_memory(self.device))

    def _larger(self, name: str, capacity: int) -> Any:
        old = getattr(self, name)
        new = _empty(name, capacity, self.d, self.device)
        new[: self.n] = old[: self.n]
        new[self.n :].zero_()
        return new


def shadow(A: Any, d: int) -> tuple[Any, Any, Any]:
    """A16, F and E of lines A (n×Dp)."""
    A16, weight = A.half(), triangle(d, A.device)[2]
    lost = A.double() - A16.double()
    F = ((A.double() ** 2) @ weight).sqrt() * ABOVE
    E = ((lost**2) @ weight).sqrt() * ABOVE + HALF * F
    return A16, F.float() * ABOVE, E.float() * ABOVE


def rounded_up(rows: int) -> int:
    """So many rows, up to the next whole tile."""
    return -(-rows // TILE) * TILE


def _index(rows: Ints, device: Any) -> Any:
    return torch.from_numpy(rows.astype(np.int64)).to(device)


def _empty(name: str, rows: int, d: int, device: Any) -> Any:
    """A new tensor with so many rows, whose values are not set."""
    types = {"A16": torch.float16, "count": torch.int32, "label_of": torch.int32}
    types["since"] = torch.int32
    size = {"A": (rows, padded_size(d)), "A16": (rows, padded_size(d)), "w": (rows, d)}
    dtype = types.get(name, torch.float32)
    return torch.empty(size.get(name, (rows,)), dtype=dtype, device=device)
