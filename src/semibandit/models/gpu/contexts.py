"""Contexts on a device: a block of them, and those that are looked at together, with their aims.

A round that may probe is two contexts with the same x: one for the slate, by its spread and with
widths up to 2R, and one for the label to be probed, by another spread and without a cap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from semibandit._util.arrays import Floats, Ints
from semibandit.models.gpu.packed import products

__all__ = ["SCALE", "WINDOW", "ContextBlock", "Contexts", "sent"]

WINDOW = 64  # contexts that are looked at together
SCALE = 2.0**12  # Q16 is so many times as large, so that small products are normal numbers


@dataclass(frozen=True, eq=False)
class ContextBlock:
    """Contexts x and their q (see `packed.py`) on the device, one per line."""

    X: Any  # float64 (contexts×d)
    Q: Any  # float64 (contexts×Dp)
    X32: Any
    Q32: Any
    Q16: Any  # float16 (Dp×contexts): the q of x/‖x‖, times `SCALE`
    xx: Floats  # x·x, on the host

    @classmethod
    def of(cls, X: Floats, device: Any) -> ContextBlock:
        """Copy contexts to the device."""
        exact = np.ascontiguousarray(X, dtype=np.float64)
        xx = np.einsum("tc,tc->t", exact, exact)
        there = torch.from_numpy(exact).to(device)
        Q = products(there)
        scale = SCALE / np.maximum(xx, np.finfo(np.float32).tiny)
        unit = Q * torch.from_numpy(scale).to(device)[:, None]
        return cls(there, Q, there.float(), Q.float(), unit.half().T.contiguous(), xx)


@dataclass(frozen=True, eq=False)
class Contexts:
    """Up to `WINDOW` contexts of a block; the tensors have as many lines.

    The score of a label at a context is clip(w·x, -R, R) + min(spread·sqrt(x·A⁻¹x), cap).
    """

    many: int  # how many there are
    block: ContextBlock
    at: Any  # int32 (WINDOW): their places in the block
    Q16: Any  # float16 (Dp×WINDOW), of the block
    numbers: Any  # float64 (4×WINDOW): xx, spread, cap and least
    untouched: Floats  # on the host: the score of a label that was never shown

    @classmethod
    def of(
        cls, block: ContextBlock, at: Ints, spread: Floats, cap: Floats, enough: bool = False
    ) -> Contexts:
        """Contexts of a block, by their places.

        Parameters
        ----------
        block : ContextBlock
            The block.
        at : array of int
            Which contexts of the block, any of them more than once.
        spread, cap : arrays of float
            What the widths of each are made of.
        enough : bool
            Whether so many labels were never shown that lower scores than theirs do not count.
        """
        many, xx = len(at), block.xx[at]
        places, host = np.zeros(WINDOW, dtype=np.int32), np.zeros((4, WINDOW))
        places[:many] = at
        untouched = np.minimum(spread * np.sqrt(xx), cap)
        host[0, :many], host[1, :many], host[2, :many] = xx, spread, cap
        host[3] = -np.inf
        if enough:
            host[3, :many] = untouched
        device = block.X.device
        there = sent(host, device)
        at = sent(places, device)
        return cls(many, block, at, block.Q16.index_select(1, at), there, untouched)

    @property
    def xx(self) -> Any:
        """x·x of each: float64 (WINDOW)."""
        return self.numbers[0]

    @property
    def spread(self) -> Any:
        """The spread of each: float64 (WINDOW)."""
        return self.numbers[1]

    @property
    def cap(self) -> Any:
        """The largest width of each: float64 (WINDOW)."""
        return self.numbers[2]

    @property
    def least(self) -> Any:
        """A score below which no label counts, or -inf: float64 (WINDOW)."""
        return self.numbers[3]


def sent(array: Any, device: Any) -> Any:
    """A copy of a small array on the device, for which the host does not wait."""
    host = torch.from_numpy(np.ascontiguousarray(array))
    if device.type == "cpu":
        return host
    return host.pin_memory().to(device, non_blocking=True)
