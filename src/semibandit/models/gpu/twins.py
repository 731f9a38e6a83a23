"""What the Triton functions do, in plain torch: they run on any device, and say what is meant.

`functions.py` chooses between the two. Both write into tensors that the caller made.
"""

from __future__ import annotations

from typing import Any

import torch

from semibandit.models.gpu import numbers as at
from semibandit.models.gpu.packed import pack, products, unpack
from semibandit.models.gpu.tensors import TILE, Tensors, shadow
from semibandit.models.model import NONE

__all__ = [
    "GIVEN",
    "LOGISTIC",
    "PER_TILE",
    "SQUARE",
    "look_rows",
    "look_tiles",
    "prepare",
    "scan",
    "update_rows",
]

GIVEN, SQUARE, LOGISTIC = 0, 1, 2  # where steps come from: the host, or a loss
PER_TILE = 4  # rows of a tile that `look_tiles` looks at, at most
SOME = 1 << 22  # numbers that are converted at a time
UNIT = 2.0**-24  # the relative rounding error of float32


def prepare(line: Any, d: int, q: Any, q32: Any) -> None:
    """Write q of the context into q (float64) and q32 (float32)."""
    q.copy_(products(line[None, :d])[0])
    q32.copy_(q)


def scan(t: Tensors, line: Any, q32: Any, bounds: Any, *, fades: bool) -> None:
    """Write an upper bound of every row's score into `bounds`, -inf for rows that are not used.

    The score is clip(margin, -R, R) + min(spread·sqrt(norm2), cap). The norm is that of A16, of
    which the true one is E - 2⁻¹¹F away at most, E being larger for a q in half precision; the rest
    is the rounding of float32, at most so many units as there are sums in a row.
    """
    d = t.d
    places = at.R, at.SPREAD, at.CAP, at.XX
    R, spread, cap, xx = (float(line[d + k]) for k in places)
    x = line[:d].float()
    bounds.fill_(-torch.inf)
    for rows in _pieces(t.n, t.A16.shape[1]):
        product = t.w[rows] * x
        slack = (d + 4) * UNIT * product.abs().sum(1)
        norm = t.A16[rows].float() @ q32
        norm += (t.E[rows] - 2.0**-11 * t.F[rows] + _sums(t) * UNIT * t.F[rows]) * xx
        if fades:
            norm *= _factors(t, line, rows).float()
            norm = norm.clamp(max=xx) * (1 + 4 * UNIT)
        width = torch.clamp(spread * norm.clamp(min=0.0).sqrt() * (1 + 4 * UNIT), max=cap)
        margin = torch.clamp(product.sum(1) + slack, -R, R)
        bounds[rows] = margin + width + 8 * UNIT * (R + width)


def look_rows(
    t: Tensors, line: Any, q: Any, rows: Any, out: Any, *, fades: bool, norms: bool = True
) -> None:
    """Write margins into out[0] and, if asked for, squared norms into out[1], of these rows.

    A row that is NONE is a label that was never shown. Sums are in float64.
    """
    d, xx = t.d, line[t.d + at.XX]
    if not t.capacity:
        out[0], out[1] = 0.0, xx
        return
    for piece in _pieces(len(rows), t.A.shape[1]):
        some = rows[piece].long()
        there = some >= 0
        some = some.clamp(min=0)
        out[0, piece] = torch.where(there, (t.w[some].double() * line[:d]).sum(1), 0.0)
        if norms:
            norm = (t.A[some].double() * q).sum(1)
            if fades:
                norm = torch.minimum(norm * _factors(t, line, some), xx)
            out[1, piece] = torch.where(there, norm, xx)


def look_tiles(
    t: Tensors, line: Any, q: Any, bounds: Any, tiles: Any, least: Any, found: Any, *, fades: bool
) -> None:
    """Look at the rows of these tiles whose bounds reach `least` (1 number).

    `found` has a line for labels, NONE if there is no such row, one for margins and one for norms,
    of `PER_TILE` rows for each tile; the last line has how many there are in each tile.
    """
    some = tiles[:, None] * TILE + torch.arange(TILE, device=t.device)
    reach = (bounds[some] >= least) & (bounds[some] > -torch.inf)
    order = torch.argsort(~reach, dim=1, stable=True)[:, :PER_TILE]
    rows = torch.where(reach.gather(1, order), some.gather(1, order), NONE).flatten()
    there = rows.to(torch.int32)
    found[0] = torch.where(rows >= 0, t.label_of[rows.clamp(min=0)], NONE)
    look_rows(t, line, q, there, found[1:3], fades=fades)
    found[3, : len(tiles)] = reach.sum(1)


def update_rows(t: Tensors, line: Any, labels: int, mode: int, *, fades: bool) -> None:
    """Project and update so many labels, which follow the context in its line of numbers."""
    d = t.d
    x, xx, R = line[:d], line[d + at.XX], line[d + at.R]
    each = line[d + at.HEAD : at.line_size(d, labels)].reshape(labels, at.EACH)
    rows, flags = each[:, at.ROW].long(), each[:, at.FLAGS].long()
    fresh, learns = (flags & at.FRESH) != 0, (flags & at.LEARNS) != 0
    _start(t, rows[fresh], each[fresh, at.LABEL])
    A, w = unpack(t.A[rows].double(), d), t.w[rows].double()
    u = A @ x
    norm, change, step = u @ x, each[:, at.CHANGE], each[:, at.STEP]
    if mode != GIVEN:
        margin, sign = (w * x).sum(1), each[:, at.CHANGE]
        clipped = margin.clamp(-R, R)
        slope = 1.0 / (1.0 + (sign * clipped).exp()) if mode == LOGISTIC else 1.0 - sign * clipped
        change, step = clipped - margin, sign * slope / line[d + at.C_L2]
    along = shrink = 1.0 / (1.0 + norm)
    if fades:
        along, shrink = _gains(norm, _factors(t, line, rows), xx)
        now = line[d + at.NOW].to(torch.int32)
        since = t.since[rows]
        t.since[rows] = torch.where(learns & (since == NONE), now, since)
    amount = torch.where(learns, step * along, 0.0)
    amount = amount + torch.where(change != 0, change / norm, 0.0)  # a tiny x may have norm 0
    t.w[rows] = (w + amount[:, None] * u).float()
    shrink = torch.where(learns, shrink, 0.0)
    new = pack(A - shrink[:, None, None] * u[:, :, None] * u[:, None, :]).float()
    t.A[rows] = new
    t.A16[rows], t.F[rows], t.E[rows] = shadow(new, d)
    t.count[rows] += learns.to(torch.int32)
    t.used.copy_(line[d + at.USED])


def _start(t: Tensors, rows: Any, labels: Any) -> None:
    """New rows for labels that were never shown."""
    t.A[rows] = pack(torch.eye(t.d, device=t.device)[None])
    t.w[rows], t.count[rows], t.since[rows] = 0.0, 0, NONE
    t.label_of[rows], t.row_of[labels.long()] = labels.to(torch.int32), rows.to(torch.int32)


def _gains(n: Any, c: Any, xx: Any) -> tuple[Any, Any]:
    """`fading.gains` of many rows."""
    e = c * n
    small = e <= xx
    return (
        torch.where(small, c / (1.0 + e), xx / (n * (1.0 + xx))),
        torch.where(small, c / (1.0 + e), (1.0 - xx / ((1.0 + xx) * e)) / n),
    )


def _factors(t: Tensors, line: Any, rows: Any) -> Any:
    """c = 2^(rate·age) of these rows, whose norms count as so many times as large."""
    since = t.since[rows].double()
    age = torch.where(since < 0, 0.0, line[t.d + at.NOW] - since)
    return torch.exp2(line[t.d + at.RATE] * age)


def _sums(t: Tensors) -> int:
    """How many roundings a norm of A16 has at most."""
    return int(t.A16.shape[1])


def _pieces(rows: int, each: int) -> list[slice]:
    """So many rows, some at a time."""
    some = max(1, SOME // each)
    return [slice(first, min(first + some, rows)) for first in range(0, rows, some)]
