"""Forgetting, naively: explicit matrices that lose weight in every round, nothing lazy.

A model of the user's own: a learner that takes it must decide as with the package's models. It
keeps A itself, not its inverse, and keeps to the definition in `models/fading.py` word by word:

    every round    A is multiplied by γ = 2^(-1/h); no norm counts as more than x·x
    an update      restores the prior in the direction of x if it has faded, then A += x xᵀ
    a fold         at clocks that are multiples of h/16 and 4 half-lives after the last: the prior
                   comes back, as if it had never been multiplied
"""

from dataclasses import dataclass

import numpy as np

from semibandit.models.model import Look, dense


@dataclass(frozen=True)
class Naive:
    """The model; a diagonal one treats every feature as a context of its own."""

    diagonal: bool = False
    sparse: bool = False

    def start(self, n_labels, n_features):
        return NaiveState(n_labels, n_features, self.diagonal)


class NaiveState:
    def __init__(self, n_labels, d, diagonal):
        self.d, self.diagonal, self.h, self.now = d, diagonal, None, 0
        self.w, self.A, self.since = [], [], []
        self.add(n_labels)

    def set_half_life(self, half_life):
        self.h = half_life

    def advance(self, rounds):
        for _ in range(rounds):
            self.now += 1
            for i, since in enumerate(self.since):
                if since is None:
                    continue
                self.A[i] = self.A[i] * 2.0 ** (-1.0 / self.h)
                age = self.now - since
                if self.now % max(1, int(self.h // 16)) == 0 and age >= 4 * self.h:
                    self.A[i] = self.A[i] + (1.0 - 2.0 ** (-age / self.h)) * np.eye(self.d)
                    self.since[i] = self.now

    def inverse(self, i):
        """A⁻¹; of a diagonal matrix no entry counts as more than 1."""
        inverse = np.linalg.inv(self.A[i])
        return np.minimum(inverse, np.eye(self.d)) if self.diagonal else inverse

    def margins(self, x):
        x = dense(x)
        return Look(x, np.array([w @ x for w in self.w]), np.empty(0))

    def look(self, x):
        x = dense(x)
        norm2 = [min(x @ self.inverse(i) @ x, x @ x) for i in range(len(self.w))]
        return Look(x, self.margins(x).margin, np.array(norm2))

    def look_many(self, xs):
        looks = [self.look(x) for x in xs]
        return np.array([look.margin for look in looks]), np.array([look.norm2 for look in looks])

    def step(self, look, moved, change, shown, steps):
        x = look.x
        for i, amount in zip(moved.tolist(), change.tolist(), strict=True):
            u = self.inverse(i) @ x
            self.w[i] = self.w[i] + amount / (u @ x) * u
        for i, amount in zip(shown.tolist(), steps.tolist(), strict=True):
            self._update(i, x, amount)

    def _update(self, i, x, amount):
        if self.h is not None and self.since[i] is None:
            self.since[i] = self.now
        if self.diagonal:
            entries = np.diag(self.A[i])
            self.A[i] = np.diag(np.where(x != 0, np.maximum(entries, 1.0), entries) + x**2)
        else:
            n = x @ np.linalg.inv(self.A[i]) @ x
            faded = max(0.0, 1.0 / (x @ x) - 1.0 / n)  # how much of the prior along x is gone
            self.A[i] = self.A[i] + (1.0 + faded) * np.outer(x, x)
        self.w[i] = self.w[i] + amount * (np.linalg.inv(self.A[i]) @ x)

    def dimension(self, t):
        return self.d

    def add(self, n):
        for _ in range(n):
            self.w.append(np.zeros(self.d))
            self.A.append(np.eye(self.d))
            self.since.append(None)

    def reset(self, rows):
        for i in rows.tolist():
            self.w[i], self.A[i], self.since[i] = np.zeros(self.d), np.eye(self.d), None

    def arrays(self):
        return {"w": np.array(self.w)}

    def restore(self, arrays):
        raise NotImplementedError
