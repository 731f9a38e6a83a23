"""Folds on the device: what many rows have learned loses its weight (`models/fading.py`)."""

from __future__ import annotations

import torch

from semibandit._util.arrays import Floats, Ints
from semibandit.models.gpu.packed import pack, unpack
from semibandit.models.gpu.tensors import Tensors, shadow

__all__ = ["fold"]

SOME = 1 << 22  # entries of matrices that are folded at a time


def fold(t: Tensors, rows: Ints, g: Floats) -> None:
    """P' = P (g I + (1-g) P)⁻¹ of these rows, in float64."""
    some = max(1, SOME // t.d**2)
    eye = torch.eye(t.d, dtype=torch.float64, device=t.device)
    for first in range(0, len(rows), some):
        part = torch.from_numpy(rows[first : first + some]).to(t.device)
        weight = torch.from_numpy(g[first : first + some]).to(t.device)[:, None, None]
        P = unpack(t.A[part].double(), t.d)
        L = torch.linalg.cholesky(weight * eye + (1.0 - weight) * P)
        new = pack(torch.cholesky_solve(P, L)).float()
        t.A[part] = new
        t.A16[part], t.F[part], t.E[part] = shadow(new, t.d)
