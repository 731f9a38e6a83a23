"""Full matrices of some labels alone: what `FullState` says of them at one context or at many."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.numba import use_compiled
from semibandit._util.reproducible import dot
from semibandit.models.model import NO_NORMS, Look, Vector, dense

if TYPE_CHECKING:
    from semibandit.models.full import FullState

__all__ = ["look_at", "look_at_many", "margins_at"]

LEAST = 5_000  # multiplications below which numpy is as fast as numba
TO_LOAD = 10_000_000_000  # those that are worth a second for loading it, or 20 for compiling


def look_at(state: FullState, x: Vector, labels: Ints) -> Look:
    """`FullState.look_at`."""
    if _use_compiled(state, len(labels)):
        return look_at_many(state, [x], [labels])[0]
    plain = dense(x)
    x = plain.astype(state.w.dtype, copy=False)
    margin, norm2, xx = np.zeros(len(labels)), np.full(len(labels), float(x @ x)), float(x @ x)
    rows = state.row_of[labels]
    there = np.flatnonzero(rows >= 0)
    if len(there):
        rows, touched = rows[there], norm2[there]
        state.low_rank.lower_norms_at(rows, x, touched)
        state.dense.norms_at(rows, x, touched)
        if state.fading is not None:
            touched = state.fading.capped(touched, xx, rows)
        margin[there], norm2[there] = state.w[rows] @ x, touched
    return Look(plain, margin, norm2)


def margins_at(state: FullState, x: Vector, labels: Ints) -> Look:
    """`FullState.margins_at`."""
    plain = dense(x)
    margin, rows = np.zeros(len(labels)), state.row_of[labels]
    there = np.flatnonzero(rows >= 0)
    if len(there):
        margin[there] = dot(state.w[rows[there]], plain.astype(state.w.dtype, copy=False))
    return Look(plain, margin, NO_NORMS)


def look_at_many(state: FullState, xs: Sequence[Vector], labels: Sequence[Ints]) -> list[Look]:
    """`FullState.look_at_many`."""
    ptr = np.array([0, *np.cumsum([*map(len, labels)])])
    if not _use_compiled(state, int(ptr[-1])):
        return [look_at(state, x, some) for x, some in zip(xs, labels, strict=True)]
    plain = [dense(x) for x in xs]
    X = np.array(plain, dtype=state.w.dtype)
    margin, norm2 = np.empty(ptr[-1]), np.empty(ptr[-1])
    _look_compiled(state, X, ptr, labels, margin, norm2)
    if state.fading is not None:
        rows = state.row_of[np.concatenate(labels)]
        there = np.flatnonzero(rows >= 0)
        xx = np.repeat(np.einsum("bc,bc->b", X, X), np.diff(ptr))[there]
        norm2[there] = state.fading.capped(norm2[there], xx, rows[there])
    parts = [slice(*ends) for ends in pairwise(ptr.tolist())]
    return [Look(x, margin[part], norm2[part]) for x, part in zip(plain, parts, strict=True)]


def _look_compiled(
    state: FullState, X: Floats, ptr: Ints, labels: Sequence[Ints], margin: Floats, norm2: Floats
) -> None:
    """Write the margins and norms of all contexts, those of the first one first."""
    from semibandit.models import compiled_partial_looks as compiled

    first = labels[0]
    if len(X) > 1 and all(some is first for some in labels):
        shape = len(X), len(first)
        found = margin.reshape(shape), norm2.reshape(shape)
        compiled.look_at_same(X, first, state.rows(), *found)
    else:
        compiled.look_at_each(X, ptr, np.concatenate(labels), state.rows(), margin, norm2)


def _use_compiled(state: FullState, labels: int) -> bool:
    """Whether so many looks at a label are worth a compiled function."""
    work = labels * state.d**2
    return use_compiled("partial looks", work, least=LEAST, to_load=TO_LOAD)
