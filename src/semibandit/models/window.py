"""A window on full matrices: the state seen through the next B contexts, exact round by round.

Opening it computes every touched label's margin and norm at all B contexts at once, at
matrix-product speed; the rounds in between keep them true; closing it writes the updates back.
docs/design.md, section 5, has the derivation.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from semibandit._util.arrays import Array, Floats, Ints
from semibandit.models import compiled as kernels
from semibandit.models.full import NONE, OFTEN, FullState

__all__ = ["Window"]

HOT = 6  # a label updated so often in the last window is worth its whole product A⁻¹X in the next
WORTH = 2_000_000  # multiplications in a window below which a second thread is not worth waking


class Window:
    """Opens and closes windows on one state; its scratch memory is kept from one to the next."""

    size = kernels.B

    def __init__(self, state: FullState, threads: int) -> None:
        self.state, self.threads = state, threads
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self.M = self.N = np.empty((0, self.size))
        self.hot, self.P = np.empty(0, dtype=np.intp), np.empty((0, self.size, state.d))
        self._half = np.zeros(0, dtype=np.bool_)  # rows whose matrices have only a lower half
        self.log: tuple[Array, ...] = ()
        self._tidy = 0  # so many vectors were in the pool when it was last put in order

    def open(self, X: Floats, most: int) -> None:
        """For the contexts X (up to B of them), of which each may show up to `most` labels."""
        s, B, d = self.state, self.size, self.state.d
        room = min(B * most, len(s.home) - s.n)
        s.reserve_rows(room)
        self._make_room(s.n + room, B * most)
        dtype = s.w.dtype
        self.X = np.zeros((B, d), dtype=dtype)
        self.X[: len(X)] = X
        self.XT: Floats = kernels.chunked(self.X)  # type: ignore[no-untyped-call]
        self.xx = np.einsum("bc,bc->b", self.X, self.X)
        self.log[0][: s.n] = NONE
        self.log[5][0] = 0
        contexts, rows = (self.XT, 2 * self.XT, self.xx), (s.w, s.block, s.last)
        dense, M, N = self.dense(), self.M, self.N

        def look(first: int, end: int) -> None:
            kernels.look_rows(first, end, *contexts, *rows, *dense, M, N)

        plain = np.where(s.block[: s.n] >= 0, s.d * s.d // 2, s.d * (1 + s.count[: s.n])) + s.d
        self._share(look, self.size * np.where(self.hot[: s.n] >= 0, s.d * s.d, plain))

    def close(self, n: int) -> None:
        """Write the window's updates back; n labels are touched now."""
        s, (newest, older, whose, U, _, used) = self.state, self.log
        old, s.n = s.n, n
        s.count[old:n], s.sharp[old:n] = 0, NONE
        rows = whose[: used[0]]
        often = np.bincount(rows, minlength=n)
        s.count[:n] += often
        s.sharpen(np.flatnonzero((often > 0) & (s.count[:n] >= OFTEN)))
        lost = s.lost.reshape(len(s.lost), s.d * s.d)
        A, hot, dense = self.flat(), self.hot, s.block[:n] >= 0
        self._half[:n] |= (often > 0) & dense & (hot[:n] < 0)

        def write(first: int, end: int) -> None:
            kernels.apply(first, end, s.d, s.block, A, hot, s.sharp, lost, newest, older, U)

        self._share(write, often * dense * s.d * s.d)
        cold = np.flatnonzero(s.block[rows] < 0)
        s.reserve_vectors(len(cold))
        p, end = s.p, s.p + len(cold)
        s.V[p:end], s.V_row[p:end] = U[cold], rows[cold]
        kernels.link(p, end, s.V_row, s.last, s.before)
        s.p = end
        grown = np.unique(rows[cold])
        grown = grown[s.count[grown] >= s.turns_dense_at]
        if len(grown):
            s.reserve_matrices(len(grown))
            for row in grown.tolist():
                s.make_dense(row)
            s.compact()
        if s.p > 1.5 * self._tidy + 1024:
            s.tidy()
            self._tidy = s.p
        self._choose_hot(often)

    def dense(self) -> tuple[Array, ...]:
        """What a direction A⁻¹x is made from: the pool, the matrices, and the products at hand."""
        s = self.state
        return s.V, s.before, self.flat(), self.hot, self.P

    def _choose_hot(self, often: Ints) -> None:
        s = self.state
        rows = np.flatnonzero((often >= HOT) & (s.block[: s.n] >= 0))
        self.whole(rows)
        self.hot[:] = NONE
        self.hot[rows] = np.arange(len(rows))
        if len(self.P) < len(rows):
            self.P = np.empty((len(rows), self.size, s.d), s.w.dtype)

    def whole(self, rows: Ints | None = None) -> None:
        """The matrices of these rows, or of all, with both their halves."""
        s = self.state
        rows = np.flatnonzero(self._half) if rows is None else rows[self._half[rows]]
        lost = s.lost.reshape(len(s.lost), s.d * s.d)
        kernels.mirror(rows, s.d, s.block, self.flat(), s.sharp, lost)
        self._half[rows] = False

    def flat(self) -> Floats:
        """The dense matrices, one flat line each."""
        s = self.state
        return s.A_inv.reshape(len(s.A_inv), s.d * s.d)

    def shut(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()

    def _make_room(self, rows: int, events: int) -> None:
        s, B = self.state, self.size
        dtype = s.w.dtype
        if len(self.M) < rows or self.M.dtype != dtype:
            width = max(rows, min(2 * len(self.M), len(s.home)))
            self.M, self.N = np.empty((width, B), dtype), np.empty((width, B), dtype)
            hot, self.hot = self.hot, np.full(width, NONE, dtype=np.intp)
            self.hot[: len(hot)] = hot
            half, self._half = self._half, np.zeros(width, dtype=np.bool_)
            self._half[: len(half)] = half
        if not self.log or len(self.log[0]) < rows or len(self.log[1]) < events:
            self.log = (
                np.full(len(self.M), NONE, dtype=np.intp),  # newest
                np.empty(events, dtype=np.intp),  # older
                np.empty(events, dtype=np.intp),  # whose
                np.empty((events, s.d), dtype),  # U
                np.empty((events, B), dtype),  # C
                np.zeros(1, dtype=np.intp),  # used
            )

    def _share(self, work: Any, cost: Ints) -> None:
        """Do work(first, end) for all rows, cut into parts of equal cost for the threads."""
        s = self.state
        total = np.cumsum(cost)
        if self._pool is None or not s.n or total[-1] < WORTH:
            work(0, s.n)
            return
        marks = total[-1] * np.arange(1, self.threads) / self.threads
        cuts = [0, *np.searchsorted(total, marks).tolist(), s.n]
        parts = list(itertools.pairwise(cuts))
        others = [self._pool.submit(work, *part) for part in parts[1:]]
        work(*parts[0])
        for other in others:
            other.result()
