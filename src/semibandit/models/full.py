"""Full matrices: what the paper analyses. One A_i⁻¹ (d×d) per label, O(K d²) a look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semibandit._arrays import Floats, Ints
from semibandit.models.model import Arrays, Look, Vector, dense, take

__all__ = ["Full", "FullState"]


@dataclass(frozen=True)
class Full:
    """Full second-order matrices, the algorithm of Figure 2 to the letter."""

    @property
    def sparse(self) -> bool:
        return False

    def start(self, n_labels: int, n_features: int) -> FullState:
        return FullState(
            w=np.zeros((n_labels, n_features)),
            A_inv=np.tile(np.eye(n_features), (n_labels, 1, 1)),
        )


@dataclass
class FullState:
    """w_i (K×d) and A_i⁻¹ (K×d×d), kept by rank-one updates (Sherman-Morrison)."""

    w: Floats
    A_inv: Floats

    def look(self, x: Vector) -> Look:
        """Margins w_i·x and squared norms x·A_i⁻¹x, for every label i."""
        x = dense(x)
        K, d = self.w.shape
        return Look(x, self.w @ x, (self.A_inv.reshape(K * d, d) @ x).reshape(K, d) @ x)

    def step(self, look: Look, moved: Ints, change: Floats, shown: Ints, steps: Floats) -> None:
        x = dense(look.x)
        toward = self.A_inv[moved] @ x
        w_moved = self.w[moved] + (change / (toward @ x))[:, None] * toward
        along = self.A_inv[shown] @ x  # A⁻¹x with the old A; with the new one it is this / (1 + n)
        grown = 1.0 + along @ x
        c = along / np.sqrt(grown)[:, None]
        A_inv = self.A_inv[shown] - c[:, :, None] * c[:, None, :]  # exactly symmetric
        forward = (steps / grown)[:, None] * along
        self.w[moved] = w_moved
        self.w[shown] += forward
        self.A_inv[shown] = A_inv

    def dimension(self, t: int) -> int:
        return int(self.w.shape[1])

    def add(self, n: int) -> None:
        fresh = Full().start(n, self.w.shape[1])
        w, A_inv = np.concatenate([self.w, fresh.w]), np.concatenate([self.A_inv, fresh.A_inv])
        self.w, self.A_inv = w, A_inv

    def forget(self, rows: Ints) -> None:
        self.w[rows] = 0.0
        self.A_inv[rows] = np.eye(self.w.shape[1])

    def arrays(self) -> Arrays:
        return {"w": self.w, "A_inv": self.A_inv}

    def restore(self, arrays: Arrays) -> None:
        K, d = self.w.shape
        w, A_inv = take(arrays, "w", (K, d)), take(arrays, "A_inv", (K, d, d))
        self.w, self.A_inv = w, A_inv
