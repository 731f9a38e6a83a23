"""Tensors as the arrays of a file, and back: files from a device and from a CPU are alike.

From a device the matrices are packed triangles, `A_packed`; from a CPU they are `A_inv` for labels
that were updated often, and vectors `V` for the others. Both can be read on both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from semibandit._util.arrays import Array, Floats
from semibandit.errors import FileError
from semibandit.models.dense import DenseBlocks
from semibandit.models.gpu.device import reporting_memory
from semibandit.models.gpu.packed import pack, packed_size
from semibandit.models.gpu.tensors import Tensors, shadow
from semibandit.models.low_rank import LowRankPool
from semibandit.models.model import Arrays, take, take_index

__all__ = ["arrays_of", "tensors_of"]

SOME = 1 << 24  # numbers that are copied at a time


def arrays_of(t: Tensors) -> Arrays:
    """The state as named arrays, which are copies: they cannot be written to."""
    n, size = t.n, packed_size(t.d)
    packed = np.empty((n, size), dtype=np.float32)
    for rows in _pieces(n, size):
        packed[rows] = t.A[rows, :size].cpu().numpy()
    arrays = {
        "owner": t.label_of[:n].cpu().numpy().astype(np.int64),
        "w": t.w[:n].cpu().numpy().copy(),
        "count": t.count[:n].cpu().numpy().astype(np.int64),
        "A_packed": packed,
    }
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


def tensors_of(arrays: Arrays, n_labels: int, d: int, device: Any) -> Tensors:
    """Tensors with what a file says; `FileError` if it is damaged."""
    n = len(arrays.get("owner", ()))
    label_of = take_index(arrays, "owner", n, limit=n_labels, once=True)
    dtype = _float_type(arrays)
    w, count = take(arrays, "w", (n, d), dtype), take(arrays, "count", (n,), np.int64)
    matrices = _Packed(arrays, n, d) if "A_packed" in arrays else _Forms(arrays, n, d, dtype)
    t = Tensors.start(n_labels, d, device)
    t.reserve(n)
    with reporting_memory(device, n_labels, n, d):
        for rows in _pieces(n, d * d):
            t.A[rows] = matrices.lines(rows).to(device)
            t.A16[rows], t.F[rows], t.E[rows] = shadow(t.A[rows], d)
            t.w[rows] = torch.from_numpy(w[rows].astype(np.float32)).to(device)
        t.count[:n] = torch.from_numpy(count.astype(np.int32)).to(device)
        t.label_of[:n] = torch.from_numpy(label_of.astype(np.int32)).to(device)
        t.row_of[t.label_of[:n].long()] = torch.arange(n, dtype=torch.int32, device=device)
        t.since[:n] = -1
    t.set_used(n)
    return t


class _Packed:
    """Matrices of a file from a device."""

    def __init__(self, arrays: Arrays, n: int, d: int) -> None:
        self.A: Array = take(arrays, "A_packed", (n, packed_size(d)), np.float32)
        self.d = d

    def lines(self, rows: slice) -> Any:
        """The packed lines of these rows."""
        from semibandit.models.gpu.packed import padded_size

        part = self.A[rows]
        lines = torch.zeros((len(part), padded_size(self.d)), dtype=torch.float32)
        lines[:, : part.shape[1]] = torch.from_numpy(np.ascontiguousarray(part))
        return lines


class _Forms:
    """Matrices of a file from a CPU: dense ones, and vectors of those in low-rank form."""

    def __init__(self, arrays: Arrays, n: int, d: int, dtype: type) -> None:
        self.blocks = DenseBlocks.from_arrays(arrays, n, d, dtype)
        self.pool = LowRankPool.from_arrays(arrays, n, d, dtype)
        self.d = d
        self.order = np.argsort(self.pool.row_of, kind="stable")
        self.sorted = self.pool.row_of[self.order]

    def lines(self, rows: slice) -> Any:
        """The packed lines of these rows."""
        n = rows.stop - rows.start
        A: Floats = np.repeat(np.eye(self.d)[None], n, axis=0)
        block, error = self.blocks.block_of[rows], self.blocks.error_of[rows]
        A[block >= 0] = self.blocks.A_inv[block[block >= 0]]
        A[error >= 0] += self.blocks.error[error[error >= 0]]
        matrices = torch.from_numpy(A)
        first, end = np.searchsorted(self.sorted, [rows.start, rows.stop])
        V = torch.from_numpy(self.pool.V[self.order[first:end]].astype(np.float64))
        place = torch.from_numpy(self.sorted[first:end] - rows.start)
        matrices.index_add_(0, place, V[:, :, None] * V[:, None, :], alpha=-1.0)
        return pack(matrices).float()


def _float_type(arrays: Arrays) -> type:
    """The type of the numbers of a file: it may come from a CPU."""
    dtype = arrays["w"].dtype if "w" in arrays else np.dtype(np.float32)
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise FileError(f"the array 'w' is {dtype}, expected float64 or float32")
    return np.float32 if dtype == np.dtype(np.float32) else np.float64


def _pieces(rows: int, each: int) -> list[slice]:
    """So many rows, some at a time."""
    some = max(1, SOME // each)
    return [slice(first, min(first + some, rows)) for first in range(0, rows, some)]
