"""A learner on a device all of whose labels are warm, made without a million rounds of learning."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import semibandit as sb
from semibandit.models.gpu.packed import pack
from semibandit.models.gpu.state import GpuState
from semibandit.models.gpu.tensors import Tensors, shadow

POOL = 1024  # matrices that all others are mixtures of
ROWS = 50_000  # rows that are made at a time
SEEN = 128  # contexts that each matrix of the pool has learned
SPREAD = 0.17  # of margins: the largest of some millions stay inside of D


def warm_learner(labels: int, d: int, device: str, **options: Any) -> sb.SlateUCB:
    """A `SlateUCB` whose labels all have weights and a matrix of many updates."""
    model = sb.Full(device=device)
    plain = {"scale": "unit", "bias": False, "probe": 0.0, "a": 1.0, "width": sb.Scaled(0.3)}
    bandit = sb.SlateUCB(d, labels, model=model, **(plain | options))
    state = bandit._state
    assert isinstance(state, GpuState)
    fill(state.t)
    state.row_of[:] = np.arange(labels)
    return bandit


def fill(t: Tensors) -> None:
    """Give every label a row with a valid matrix: a mixture of two inverses of I + XᵀX."""
    n, d, device = t.n_labels, t.d, t.device
    random = torch.Generator(device=device).manual_seed(0)
    pool = _pool(d, device, random)
    t.reserve(n)
    for first in range(0, n, ROWS):
        rows = slice(first, min(first + ROWS, n))
        size = rows.stop - first
        one, two = torch.randint(POOL, (2, size), generator=random, device=device)
        share = torch.rand((size, 1), generator=random, device=device)
        t.A[rows] = share * pool[one] + (1 - share) * pool[two]
        t.A16[rows], t.F[rows], t.E[rows] = shadow(t.A[rows], d)
        t.w[rows] = SPREAD * torch.randn((size, d), generator=random, device=device)
    t.count[:n], t.since[:n] = SEEN, -1
    t.label_of[:n] = torch.arange(n, dtype=torch.int32, device=device)
    t.row_of.copy_(t.label_of[:n])
    t.set_used(n)


def _pool(d: int, device: Any, random: torch.Generator) -> torch.Tensor:
    X = torch.randn((POOL, SEEN, d), generator=random, device=device, dtype=torch.float64)
    X /= X.norm(dim=2, keepdim=True)
    return pack(torch.linalg.inv(torch.eye(d, device=device) + X.mT @ X)).float()


def contexts(n: int, d: int) -> np.ndarray:
    """Unit vectors."""
    X = np.random.default_rng(1).standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)
