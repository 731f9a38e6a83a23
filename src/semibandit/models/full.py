"""Full matrices: what the paper analyses, in memory and time that follow the feedback.

A label is in one of three states, and the same to the last digit that matters in each:

    untouched  nothing is kept: w = 0, A = I, so its margin is 0 and x·A⁻¹x = x·x
    cold       updated N < d/2 times: A⁻¹ = I - VᵀV with V (N×d), one row v = A⁻¹x/sqrt(1 + x·A⁻¹x)
               per update, A⁻¹ before it (Sherman-Morrison); a look costs O(N d)
    dense      A⁻¹ itself (d×d), kept by subtracting v vᵀ; a look costs O(d²)

Touched labels have a row in `w`; the v of all cold labels lie in one pool in the order in which
they came, each with the number of the one before it that has the same owner.

Rank-one updates lose digits in directions seen very often: v vᵀ is then tiny beside the entries of
A⁻¹. A label updated more than 65,536 times therefore also keeps what rounding took from its A⁻¹,
and gives it back with the next update (Kahan's compensated sum).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from semibandit._util.arrays import Array, Floats, Ints
from semibandit._util.numba import use_compiled
from semibandit.errors import InputError
from semibandit.models.model import NO_NORMS, Arrays, Look, Vector, dense, take

__all__ = ["Full", "FullState"]

NONE = -1
OFTEN = 65_536  # updates after which a label's sum is compensated
LEAST = 1_000_000  # multiplications below which numpy is as fast as numba
TO_LOAD = 10_000_000_000  # those that are worth a second for loading it, or 20 for compiling


@dataclass(frozen=True)
class Full:
    """Full second-order matrices, the algorithm of Figure 2 to the letter.

    dtype  "float64", or "float32" for half the memory and up to twice the speed of `replay`:
           margins are then good to about 1e-5 for some ten thousand updates of a label, and slates
           whose scores are closer than that may come out otherwise.
    """

    dtype: str = "float64"

    def __post_init__(self) -> None:
        if self.dtype not in ("float64", "float32"):
            raise InputError(f"dtype = {self.dtype!r}, but it must be 'float64' or 'float32'")

    @property
    def sparse(self) -> bool:
        return False

    def start(self, n_labels: int, n_features: int) -> FullState:
        return FullState.start(n_labels, n_features, self.dtype)


@dataclass
class FullState:
    """All labels. Arrays may be longer than what is used: n rows, p vectors, m matrices, l lost."""

    home: Ints  # label -> row, or NONE if untouched
    n: int
    p: int
    m: int
    l: int  # noqa: E741
    owner: Ints  # row -> label
    w: Floats  # row -> weights
    block: Ints  # row -> its dense matrix, or NONE
    last: Ints  # row -> its newest pool vector, or NONE
    count: Ints  # row -> how often it was updated
    V: Floats  # the pool
    before: Ints  # pool vector -> the one before it of the same row, or NONE
    V_row: Ints  # pool vector -> its row, or NONE once the row is dense
    A_inv: Floats  # dense matrices
    A_row: Ints  # dense matrix -> its row
    sharp: Ints  # row -> its place in `lost`, or NONE until it was updated OFTEN
    lost: Floats  # what rounding took from a matrix

    @classmethod
    def start(cls, n_labels: int, d: int, dtype: str = "float64") -> FullState:
        none = np.empty(0, dtype=np.intp)
        return cls(
            home=np.full(n_labels, NONE, dtype=np.intp),
            n=0,
            p=0,
            m=0,
            l=0,
            owner=none.copy(),
            w=np.empty((0, d), dtype=dtype),
            block=none.copy(),
            last=none.copy(),
            count=none.copy(),
            V=np.empty((0, d), dtype=dtype),
            before=none.copy(),
            V_row=none.copy(),
            A_inv=np.empty((0, d, d), dtype=dtype),
            A_row=none.copy(),
            sharp=none.copy(),
            lost=np.empty((0, d, d), dtype=dtype),
        )

    @property
    def d(self) -> int:
        return int(self.w.shape[1])

    @property
    def turns_dense_at(self) -> int:
        return max(1, self.d // 2)

    def look(self, x: Vector) -> Look:
        """Margins w_i·x and squared norms x·A_i⁻¹x, for every label i."""
        look = self.margins(x)
        x = dense(x).astype(self.w.dtype, copy=False)
        K, d, n, p, m = len(self.home), self.d, self.n, self.p, self.m
        norm2 = np.full(K, float(x @ x))
        if n:
            here = np.full(n, float(x @ x))
            if p:
                owned = self.V_row[:p]
                seen = (self.V[:p] @ x) ** 2
                cold = owned >= 0
                here -= np.bincount(owned[cold], weights=seen[cold], minlength=n)
            if m:
                A = self.A_inv[:m]
                here[self.A_row[:m]] = (A.reshape(m * d, d) @ x).reshape(m, d) @ x
            norm2[self.owner[:n]] = here
        return replace(look, norm2=norm2)

    def margins(self, x: Vector) -> Look:
        plain = dense(x)
        margin = np.zeros(len(self.home))
        if self.n:
            gemv = _blas("gemv", self.w)
            x = plain.astype(self.w.dtype, copy=False)
            margin[self.owner[: self.n]] = gemv(1.0, self.w[: self.n].T, x, trans=1)
        return Look(plain, margin, NO_NORMS)

    def look_many(self, xs: Sequence[Vector]) -> tuple[Floats, Floats]:
        X = np.array([dense(x) for x in xs], dtype=self.w.dtype)
        margin, norm2 = np.empty((len(X), len(self.home))), np.empty((len(X), len(self.home)))
        work = len(X) * self.d * (self.n + self.p + self.m * self.d)
        if not use_compiled("models", work, least=LEAST, to_load=TO_LOAD):
            self._see(X, margin, norm2)
            return margin, norm2
        from semibandit.models.compiled import see

        A = self.A_inv.reshape(len(self.A_inv), self.d * self.d)
        rows = (self.owner, self.w, self.block, self.last, self.V, self.before, A)
        see(X, self.n, *rows, margin, norm2)
        return margin, norm2

    def _see(self, X: Floats, margin: Floats, norm2: Floats) -> None:
        """Margins and squared norms at contexts X (B×d), into arrays (B×K)."""
        XT, xx = np.ascontiguousarray(X.T), np.einsum("bc,bc->b", X, X)
        B, d, n, p, m = len(X), self.d, self.n, self.p, self.m
        here = np.repeat(xx[:, None], n, axis=1)
        for first in range(0, p, 4096):
            part = slice(first, min(first + 4096, p))
            owned = self.V_row[part]
            seen = (self.V[part] @ XT)[owned >= 0] ** 2
            for b in range(B):
                here[b] -= np.bincount(owned[owned >= 0], weights=seen[:, b], minlength=n)
        some = max(1, (1 << 19) // (B * d))  # matrices at a time: their products stay in cache
        for first in range(0, m, some):
            A = self.A_inv[first : min(first + some, m)]
            along = np.matmul(X, A)  # k×B×d
            here[:, self.A_row[first : first + len(A)]] = np.einsum("kbc,bc->bk", along, X)
        margin[:], norm2[:] = 0.0, xx[:, None]
        margin[:, self.owner[:n]], norm2[:, self.owner[:n]] = X @ self.w[:n].T, here

    def step(self, look: Look, moved: Ints, change: Floats, shown: Ints, steps: Floats) -> None:
        x = dense(look.x).astype(self.w.dtype, copy=False)
        move = dict(zip(moved.tolist(), change.tolist(), strict=True))
        forward = dict(zip(shown.tolist(), steps.tolist(), strict=True))
        rows = {label: self._row(label) for label in {**move, **forward}}
        self.reserve_vectors(len(forward))
        soon = self.count[[rows[label] for label in forward]] + 1 == self.turns_dense_at
        self.reserve_matrices(int(soon.sum()))
        along = {label: self._direction(row, x) for label, row in rows.items()}
        for label, row in rows.items():  # from here on nothing can fail
            u = along[label]
            norm2 = float(u @ x)
            amount = move.get(label, 0.0) / norm2 + forward.get(label, 0.0) / (1.0 + norm2)
            self.w[row] += amount * u
            if label in forward:
                self._grow(row, u / math.sqrt(1.0 + norm2))
        if soon.any():
            self.compact()

    def dimension(self, t: int) -> int:
        return self.d

    def add(self, n: int) -> None:
        self.home = np.concatenate([self.home, np.full(n, NONE, dtype=np.intp)])

    def forget(self, labels: Ints) -> None:
        """These labels untouched; the rows of the others close up, in their order."""
        gone = self.home[labels]
        gone = gone[gone >= 0]
        if not len(gone):
            return
        keep = np.ones(self.n, dtype=np.bool_)
        keep[gone] = False
        place = np.where(keep, np.cumsum(keep) - 1, NONE)
        home = np.where(self.home >= 0, place[self.home], NONE)
        rows = np.flatnonzero(keep)
        stays = keep[self.A_row[: self.m]]
        blocks = np.where(stays, np.cumsum(stays) - 1, NONE)
        block, A_inv = self.block[rows], self.A_inv[: self.m][stays]
        A_row = place[self.A_row[: self.m][stays]]
        of = self.V_row[: self.p]
        V_row = np.where(of >= 0, place[of], NONE)
        self.home, self.owner, self.w, self.count = (
            home,
            self.owner[rows],
            self.w[rows],
            self.count[rows],
        )
        self.block = np.where(block >= 0, blocks[block], NONE) if self.m else block
        sharp = self.sharp[rows]
        self.lost = self.lost[sharp[sharp >= 0]]
        self.sharp = np.where(sharp >= 0, np.cumsum(sharp >= 0) - 1, NONE)
        self.l = len(self.lost)
        self.n, self.m, self.A_inv, self.A_row = len(rows), len(A_row), A_inv, A_row
        self._relink(self.V[: self.p], V_row)

    def arrays(self) -> Arrays:
        return {
            "owner": self.owner[: self.n].astype(np.int64),
            "w": self.w[: self.n],
            "count": self.count[: self.n].astype(np.int64),
            "V": self.V[: self.p],
            "V_row": self.V_row[: self.p].astype(np.int64),
            "A_inv": self.A_inv[: self.m],
            "A_row": self.A_row[: self.m].astype(np.int64),
            "sharp": self.sharp[: self.n].astype(np.int64),
            "lost": self.lost[: self.l],
        }

    def restore(self, arrays: Arrays) -> None:
        d, dtype = self.d, self.w.dtype.type
        n, p, m = (len(arrays.get(name, ())) for name in ("owner", "V", "A_inv"))
        owner = take(arrays, "owner", (n,), np.int64).astype(np.intp)
        w, count = take(arrays, "w", (n, d), dtype), take(arrays, "count", (n,), np.int64)
        V, V_row = take(arrays, "V", (p, d), dtype), take(arrays, "V_row", (p,), np.int64)
        A_inv, A_row = (
            take(arrays, "A_inv", (m, d, d), dtype),
            take(arrays, "A_row", (m,), np.int64),
        )
        h = len(arrays.get("lost", ()))
        sharp, lost = take(arrays, "sharp", (n,), np.int64), take(arrays, "lost", (h, d, d), dtype)
        for name, index, limit in (
            ("owner", owner, len(self.home)),
            ("sharp", sharp, h),
            ("V_row", V_row, n),
            ("A_row", A_row, n),
        ):
            if np.any(index >= limit) or np.any(
                index < (NONE if name in ("V_row", "sharp") else 0)
            ):
                raise InputError(f"the array {name!r} points outside of what it is for")
        self.home = np.full(len(self.home), NONE, dtype=np.intp)
        self.home[owner] = np.arange(n)
        self.n, self.m, self.owner, self.w = n, m, owner, w
        self.count, self.A_inv, self.A_row = count.astype(np.intp), A_inv, A_row.astype(np.intp)
        self.block = np.full(n, NONE, dtype=np.intp)
        self.block[self.A_row] = np.arange(m)
        self.sharp, self.lost, self.l = sharp.astype(np.intp), lost, h
        self._relink(V, V_row.astype(np.intp))

    def weights(self) -> Floats:
        """w_i for every label (K×d), for those who want to read them."""
        w = np.zeros((len(self.home), self.d), dtype=self.w.dtype)
        w[self.owner[: self.n]] = self.w[: self.n]
        return w

    def inverse(self, label: int) -> Floats:
        """A_i⁻¹ of one label."""
        row = int(self.home[label])
        if row >= 0 and self.block[row] >= 0:
            return np.array(self.A_inv[self.block[row]])
        V = self._vectors(row) if row >= 0 else self.V[:0]
        return np.asarray(np.eye(self.d, dtype=self.w.dtype) - V.T @ V)

    # -- one label -------------------------------------------------------------------------------

    def _row(self, label: int) -> int:
        """The label's row; an untouched label gets one that says the same."""
        row = int(self.home[label])
        if row < 0:
            self.reserve_rows(1)
            row = self.n
            self.owner[row], self.w[row], self.count[row] = label, 0.0, 0
            self.block[row] = self.last[row] = self.sharp[row] = NONE
            self.home[label] = row
            self.n += 1
        return row

    def _direction(self, row: int, x: Floats) -> Floats:
        """A⁻¹x."""
        if self.block[row] >= 0:
            A = self.A_inv[self.block[row]]
            return np.asarray(_blas("symv", A)(1.0, A.T, x))
        V = self._vectors(row)
        return np.asarray(x - (V @ x) @ V)

    def _vectors(self, row: int) -> Floats:
        chain, v = [], int(self.last[row])
        while v >= 0:
            chain.append(v)
            v = int(self.before[v])
        return self.V[chain[::-1]]

    def _grow(self, row: int, v: Floats) -> None:
        """A⁻¹ -= v vᵀ."""
        self.count[row] += 1
        if self.block[row] >= 0:
            self._subtract(row, v)
            return
        self.V[self.p], self.before[self.p], self.V_row[self.p] = v, self.last[row], row
        self.last[row] = self.p
        self.p += 1
        if self.count[row] >= self.turns_dense_at:
            self.make_dense(row)

    def make_dense(self, row: int) -> None:
        """From I - VᵀV to the matrix itself; room for it must be there."""
        self.A_inv[self.m] = self.inverse(int(self.owner[row]))
        v = int(self.last[row])
        while v >= 0:
            self.V_row[v] = NONE
            v = int(self.before[v])
        self.last[row], self.block[row], self.A_row[self.m] = NONE, self.m, row
        self.m += 1

    def sharpen(self, rows: Ints) -> None:
        """From now on these rows keep what rounding takes from their matrices."""
        new = rows[(self.sharp[rows] < 0) & (self.block[rows] >= 0)]
        end = self.l + len(new)
        self.lost = _roomy(self.lost, self.l, end, len(self.home))
        self.lost[self.l : end] = 0.0
        self.sharp[new] = np.arange(self.l, end)
        self.l = end

    def _subtract(self, row: int, v: Floats) -> None:
        """A⁻¹ -= v vᵀ, symmetric to the bit; what rounding takes is kept where it adds up."""
        A = self.A_inv[self.block[row]]
        if self.count[row] < OFTEN:
            _blas("ger", A)(-1.0, v, v, a=A.T, overwrite_a=True)  # in place
            return
        self.sharpen(np.array([row]))
        lost = self.lost[self.sharp[row]]
        wanted = lost - np.multiply.outer(v, v)
        new = A + wanted
        np.subtract(wanted, new - A, out=lost)
        A[:] = new

    # -- room ------------------------------------------------------------------------------------

    def reserve_rows(self, more: int) -> None:
        """Room for more touched labels."""
        most, need = len(self.home), self.n + more
        for name in ("owner", "w", "block", "last", "count", "sharp"):
            setattr(self, name, _roomy(getattr(self, name), self.n, need, most))

    def reserve_vectors(self, more: int) -> None:
        """Room in the pool."""
        for name in ("V", "before", "V_row"):
            setattr(self, name, _roomy(getattr(self, name), self.p, self.p + more, None))

    def reserve_matrices(self, more: int) -> None:
        """Room for more dense matrices."""
        need = self.m + more
        for name in ("A_inv", "A_row"):
            setattr(self, name, _roomy(getattr(self, name), self.m, need, len(self.home)))

    def compact(self) -> None:
        """Leave out the vectors of labels that became dense, once they are the greater part."""
        if 2 * int((self.V_row[: self.p] >= 0).sum()) < self.p:
            self.tidy()

    def tidy(self) -> None:
        """The pool label by label, without dead vectors: memory is then read in one go."""
        order = np.argsort(self.V_row[: self.p], kind="stable")
        order = order[self.V_row[order] >= 0]
        self._relink(self.V[order], self.V_row[order])

    def _relink(self, V: Floats, V_row: Ints) -> None:
        """The pool anew from vectors in their order and the rows they belong to."""
        last, before = (np.full(size, NONE, dtype=np.intp) for size in (len(self.w), len(V)))
        order = np.argsort(V_row, kind="stable")
        order = order[V_row[order] >= 0]
        row = V_row[order]
        same = row[1:] == row[:-1]
        before[order[1:][same]] = order[:-1][same]
        last[row] = order  # the last of equal rows stays
        self.V, self.V_row, self.before, self.last, self.p = V, V_row, before, last, len(V)


@cache
def _of_blas(name: str) -> Any:
    from scipy.linalg import blas

    return getattr(blas, name)


def _blas(name: str, A: Floats) -> Any:
    """A BLAS function for numbers like A's; what it calls a matrix is our A.T.

    Called like this it keeps the interpreter, which numpy's @ lets go of and waits for again: an
    update is a dozen such calls, and nobody can rank before it is done.
    """
    return _of_blas(("d" if A.dtype == np.float64 else "s") + name)


def _roomy(array: Array, used: int, need: int, most: int | None) -> Array:
    """The array, or a copy of its used part with room for twice as much, up to `most`."""
    if most is not None:
        need = min(need, most)
    if need <= len(array):
        return array
    size = max(need, 2 * used, 4)
    grown = np.empty((size if most is None else min(size, most), *array.shape[1:]), array.dtype)
    grown[:used] = array[:used]
    return grown
