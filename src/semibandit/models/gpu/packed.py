"""Packed triangles: a symmetric matrix as the entries of its lower half, row by row.

Entry (r, c), c <= r, is at r(r+1)/2 + c. With q of a context, x_r x_c at the same places and twice
that off the diagonal, x·A⁻¹x is the inner product of two vectors: all norms are one matrix product.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

__all__ = ["PAD", "pack", "packed_size", "padded_size", "products", "triangle", "unpack"]

PAD = 32  # lines are padded with zeros to a multiple of this


def packed_size(d: int) -> int:
    """How many numbers the triangle of a d×d matrix has."""
    return d * (d + 1) // 2


def padded_size(d: int) -> int:
    """Dp: the length of a line that holds a triangle.

    Examples
    --------
    >>> padded_size(64), padded_size(33)
    (2080, 576)
    """
    return -(-packed_size(d) // PAD) * PAD


@lru_cache(maxsize=16)
def triangle(d: int, device: Any) -> tuple[Any, Any, Any]:
    """The row r, the column c and the weight (1 or 2) of every place of a padded line.

    Padding has weight 0.
    """
    import torch

    r, c = np.tril_indices(d)
    size = padded_size(d)
    found = np.zeros((3, size), dtype=np.int64)
    found[0, : len(r)], found[1, : len(r)] = r, c
    found[2, : len(r)] = np.where(r == c, 1, 2)
    rows, columns, weight = torch.from_numpy(found).to(device)
    return rows, columns, weight.double()


def products(X: Any) -> Any:
    """q of each context of X (B×d), as lines (B×Dp) of the type of X.

    Examples
    --------
    >>> import torch
    >>> products(torch.tensor([[2.0, 3.0]]))[0, :3]
    tensor([ 4., 12.,  9.])
    """
    rows, columns, weight = triangle(X.shape[1], X.device)
    return X[:, rows] * X[:, columns] * weight.to(X.dtype)


def pack(A: Any) -> Any:
    """Symmetric matrices (n×d×d), of which the lower halves are read, as lines (n×Dp)."""
    rows, columns, weight = triangle(A.shape[1], A.device)
    lines = A[:, rows, columns]
    lines[:, weight == 0] = 0.0
    return lines


def unpack(lines: Any, d: int) -> Any:
    """Lines (n×Dp) as symmetric matrices (n×d×d)."""
    import torch

    place = torch.tril(torch.ones(d, d, device=lines.device)).flatten().cumsum(0).long() - 1
    place = place.reshape(d, d)
    lower = torch.tril(torch.ones(d, d, dtype=torch.bool, device=lines.device))
    place = torch.where(lower, place, place.T)
    return lines[:, place]
