"""A window on full matrices: the state seen at the next B contexts, exact round by round.

Opening a window computes the margin and the norm of every touched label at all B contexts at once,
at the speed of a matrix product. The rounds in between keep them up to date (`compiled_updates`),
and closing the window writes the updates back. docs/design.md, section 5, has the derivation.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.models.compiled_looks import chunked, look_at_window
from semibandit.models.compiled_types import (
    Contexts,
    Looks,
    Products,
    UpdateLog,
    WindowArrays,
)
from semibandit.models.compiled_updates import link_vectors, mirror, write_back
from semibandit.models.full import FullState
from semibandit.models.model import NONE
from semibandit.models.simd import B

__all__ = ["Window"]

PRODUCTS_FROM = 6  # updates in a window from which all products A⁻¹x_b pay in the next one
WORTH_THREADS = 2_000_000  # multiplications from which waking a second thread pays


class Window:
    """Opens and closes windows on one state; its buffers are kept from one window to the next.

    While a window is open and after it is closed, dense matrices may have only their lower halves
    up to date. `complete_matrices` fills in the upper halves, before anyone else reads the state.

    Parameters
    ----------
    state : FullState
        The state, which nobody else may use while a window is open.
    threads : int
        How many threads share the work of opening and closing.
    """

    size = B  # contexts in a window

    def __init__(self, state: FullState, threads: int) -> None:
        self.state, self.threads = state, threads
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        dtype, index = state.w.dtype, np.empty(0, dtype=np.intp)
        self._looks = Looks(np.empty((0, B), dtype), np.empty((0, B), dtype))
        self._products = Products(index, np.empty((0, B, state.d), dtype))
        self._log = self._new_log(0, 0)
        self._lower_only = np.zeros(0, dtype=np.bool_)  # row -> its upper half is out of date
        self._sorted_at = 0  # vectors in the low-rank pool when it was last sorted

    def open(self, X: Floats, most: int, labels: Ints | None = None) -> WindowArrays:
        """Look at the contexts X, of which there are up to B.

        Parameters
        ----------
        X : array of float
            One context per line.
        most : int
            How many labels a round may show.
        labels : array of int, optional
            The labels that the rounds look at, sorted; by default all. No other may be changed.

        Returns
        -------
        WindowArrays
            What the rounds read and write, with capacity for all labels that they may touch.
        """
        s = self.state
        new = min(B * most, len(s.row_of) - s.n)
        s.reserve_rows(new)
        self._reserve(s.n + new, B * most)
        self._log.newest[: s.n] = NONE
        self._log.used[0] = 0
        rows, contexts = s.rows(), self._contexts(X)
        products, looks, d = self._products, self._looks, s.d

        opened = np.arange(s.n) if labels is None else s.row_of[labels]
        opened = opened if labels is None else np.sort(opened[opened >= 0])

        def look(first: int, end: int) -> None:
            look_at_window(opened[first:end], rows, contexts, products, looks)

        dense, count = rows.block_of[opened] >= 0, s.count[opened]
        plain = np.where(dense, d * d // 2, d * (1 + count)) + d
        self._share(look, B * np.where(products.product_of[opened] >= 0, d * d, plain))
        fading = s.fading_arrays(len(X))
        return WindowArrays(contexts, rows, products, looks, self._log, fading, opened)

    def close(self, n: int) -> None:
        """Write the updates of the window back; n labels are touched now."""
        s, log = self.state, self._log
        old, s.n = s.n, n
        s.count[old:n] = 0
        s.dense.error_of[old:n] = NONE
        rows = log.row_of[: log.used[0]]  # of every update
        updates = np.bincount(rows, minlength=n)  # of every row
        s.count[:n] += updates
        updated = np.flatnonzero(updates)
        s.dense.compensate(updated, s.count[updated])
        self._write_matrices(updates)
        self._write_vectors(rows)
        self._choose_products(updates)

    def complete_matrices(self, rows: Ints | None = None) -> None:
        """Bring the upper halves of matrices up to date: of these rows, or of all."""
        rows = np.flatnonzero(self._lower_only) if rows is None else rows[self._lower_only[rows]]
        if len(rows):
            mirror(rows, self.state.d, self.state.rows(), self.state.dense.errors())
            self._lower_only[rows] = False

    def shut_down(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _contexts(self, given: Floats) -> Contexts:
        X = np.zeros((B, self.state.d), dtype=self.state.w.dtype)
        X[: len(given)] = given
        XT = chunked(X)  # type: ignore[no-untyped-call]
        return Contexts(X, XT, 2 * XT, np.einsum("bc,bc->b", X, X))

    def _write_matrices(self, updates: Ints) -> None:
        """A⁻¹ -= Σ v vᵀ for rows with a dense matrix."""
        s, products, log = self.state, self._products, self._log
        rows, errors, d = s.rows(), s.dense.errors(), s.d
        dense = rows.block_of[: s.n] >= 0
        self._lower_only[: s.n] |= (updates > 0) & dense & (products.product_of[: s.n] < 0)

        def write(first: int, end: int) -> None:
            write_back(first, end, d, rows, products, errors, log)

        self._share(write, updates * dense * d * d)

    def _write_vectors(self, rows: Ints) -> None:
        """Append the v of rows in low-rank form, and make those dense that have enough."""
        s, pool = self.state, self.state.low_rank
        low_rank = np.flatnonzero(s.dense.block_of[rows] < 0)
        first, end = pool.n, pool.n + len(low_rank)
        pool.reserve(len(low_rank))
        pool.V[first:end], pool.row_of[first:end] = self._log.V[low_rank], rows[low_rank]
        link_vectors(first, end, pool.row_of, pool.newest_of, pool.before)
        pool.n = end
        grown = np.unique(rows[low_rank])
        grown = grown[s.count[grown] >= s.turns_dense_at]
        if len(grown):
            s.dense.reserve(len(grown), len(s.row_of))
            for row in grown.tolist():
                s.make_dense(row)
            pool.compact()
        if pool.n > 1.5 * self._sorted_at + 1024:
            pool.sort()
            self._sorted_at = pool.n

    def _choose_products(self, updates: Ints) -> None:
        """Have the next window keep the products of rows that were updated often in this one."""
        s, (product_of, P) = self.state, self._products
        rows = np.flatnonzero((updates >= PRODUCTS_FROM) & (s.dense.block_of[: s.n] >= 0))
        self.complete_matrices(rows)
        product_of[:] = NONE
        product_of[rows] = np.arange(len(rows))
        if len(P) < len(rows):
            P = np.empty((len(rows), B, s.d), s.w.dtype)
        self._products = Products(product_of, P)

    def _reserve(self, rows: int, updates: int) -> None:
        """Make the buffers large enough for so many rows and updates."""
        have = len(self._looks.margin)
        if have < rows:
            size, dtype = max(rows, min(2 * have, len(self.state.row_of))), self.state.w.dtype
            self._looks = Looks(np.empty((size, B), dtype), np.empty((size, B), dtype))
            product_of, lower_only = np.full(size, NONE, dtype=np.intp), np.zeros(size, np.bool_)
            product_of[:have], lower_only[:have] = self._products.product_of, self._lower_only
            self._products, self._lower_only = Products(product_of, self._products.P), lower_only
        if len(self._log.newest) < rows or len(self._log.before) < updates:
            self._log = self._new_log(len(self._looks.margin), updates)

    def _new_log(self, rows: int, updates: int) -> UpdateLog:
        s = self.state
        return UpdateLog(
            used=np.zeros(1, dtype=np.intp),
            newest=np.full(rows, NONE, dtype=np.intp),
            before=np.empty(updates, dtype=np.intp),
            row_of=np.empty(updates, dtype=np.intp),
            V=np.empty((updates, s.d), s.w.dtype),
            VX=np.empty((updates, B), s.w.dtype),
        )

    def _share(self, work: Callable[[int, int], None], cost: Ints) -> None:
        """Do work(first, end) for all these costs, in parts of equal cost, one for each thread."""
        n, total = len(cost), np.cumsum(cost)
        if self._pool is None or not n or total[-1] < WORTH_THREADS:
            work(0, n)
            return
        marks = total[-1] * np.arange(1, self.threads) / self.threads
        cuts = [0, *np.searchsorted(total, marks).tolist(), n]
        parts = list(itertools.pairwise(cuts))
        others = [self._pool.submit(work, *part) for part in parts[1:]]
        work(*parts[0])
        for other in others:
            other.result()
