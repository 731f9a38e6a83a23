"""One matrix for all labels: with full information every label is updated on every context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.reproducible import dot, times
from semibandit.models.fading import Forgetful, folded, gains
from semibandit.models.model import NO_NORMS, Arrays, Look, Vector, dense, take
from semibandit.models.partial import OneByOne

__all__ = ["SharedState"]


@dataclass
class SharedState(OneByOne, Forgetful):
    """w_i (K×d) and the A⁻¹ (d×d) that all labels share; a round costs O(d² + K d)."""

    w: Floats
    A_inv: Floats

    @classmethod
    def start(cls, n_labels: int, n_features: int) -> SharedState:
        """Nothing is learned: w_i = 0, A = I."""
        return cls(np.zeros((n_labels, n_features)), np.eye(n_features))

    def look(self, x: Vector) -> Look:
        x = dense(x)
        return Look(x, self.w @ x, np.full(len(self.w), self._norm2(x)))

    def margins(self, x: Vector) -> Look:
        x = dense(x)
        return Look(x, dot(self.w, x), NO_NORMS)

    def look_many(self, xs: Sequence[Vector]) -> tuple[Floats, Floats]:
        X, K = np.array([dense(x) for x in xs]), len(self.w)
        norm2 = np.einsum("bc,bc->b", X @ self.A_inv, X)[:, None]
        if self.fading is not None:
            norm2 = self.fading.capped(norm2, np.einsum("bc,bc->b", X, X)[:, None])
        return X @ self.w.T, np.repeat(norm2, K, axis=1)

    def look_at(self, x: Vector, labels: Ints) -> Look:
        x = dense(x)
        return Look(x, self.w[labels] @ x, np.full(len(labels), self._norm2(x)))

    def margins_at(self, x: Vector, labels: Ints) -> Look:
        x = dense(x)
        every = np.array_equal(labels, np.arange(len(self.w)))  # the usual case when learning
        return Look(x, dot(self.w if every else self.w[labels], x), NO_NORMS)

    def step(self, look: Look, moved: Ints, change: Floats, shown: Ints, steps: Floats) -> None:
        """Learn as any model does, but A grows once; `shown` are all labels."""
        x = dense(look.x)
        along = times(self.A_inv, x)
        n = dot(along, x)
        amount = np.zeros(len(self.w))
        amount[moved] = change / n
        if self.fading is None:
            amount[shown] += steps / (1.0 + n)
            v = along / np.sqrt(1.0 + n)
        else:
            gain, shrink = gains(float(n), self.fading.factor(0), float(dot(x, x)))
            amount[shown] += steps * gain
            v = along * np.sqrt(shrink)
        w, A_inv = self.w + np.outer(amount, along), self.A_inv - np.outer(v, v)
        self.w, self.A_inv = w, A_inv

    def dimension(self, t: int) -> int:
        return int(self.w.shape[1])

    def add(self, n: int) -> None:
        self.w = np.concatenate([self.w, np.zeros((n, self.w.shape[1]))])

    def reset(self, rows: Ints) -> None:
        self.w[rows] = 0.0

    def arrays(self) -> Arrays:
        fading = {} if self.fading is None else self.fading.arrays(1)
        return {"w": self.w, "A_inv": self.A_inv, **fading}

    def restore(self, arrays: Arrays) -> None:
        w, A_inv = take(arrays, "w", self.w.shape), take(arrays, "A_inv", self.A_inv.shape)
        if self.fading is not None:
            self.fading = self.fading.restored(arrays, 1)
        self.w, self.A_inv = w, A_inv

    def _norm2(self, x: Floats) -> float:
        """x·A⁻¹x."""
        norm2 = np.array([(self.A_inv @ x) @ x])
        if self.fading is not None:
            norm2 = self.fading.capped(norm2, float(x @ x))
        return float(norm2[0])

    def set_half_life(self, half_life: float) -> None:
        super().set_half_life(half_life)
        assert self.fading is not None
        self.fading.touch(np.array([0]))  # every round is learned, from the first on

    def _n_matrices(self) -> int:
        return 1

    def _fold(self, rows: Ints, g: Floats) -> None:
        self.A_inv = folded(self.A_inv, float(g[0]))
