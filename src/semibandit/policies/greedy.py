"""Greedy and epsilon-greedy: Figure 2's learning without its upper confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from semibandit._arrays import Ints
from semibandit.models.model import Vector
from semibandit.policies.labels import Label
from semibandit.policies.learner import View
from semibandit.policies.slate_ucb import Options, SecondOrder
from semibandit.theory.width import is_number

__all__ = ["EpsilonGreedy", "Greedy"]


class Greedy(SecondOrder):
    """Shows what looks best by the estimates alone: `SlateUCB` with width 0."""


class EpsilonGreedy(Greedy):
    """Greedy, but with probability epsilon the slate is filled with labels drawn at random.

    A drawn slate is as long as the greedy one, and not empty where there is a slot.
    """

    def __init__(
        self,
        n_features: int,
        labels: int | Sequence[Label],
        *,
        epsilon: float = 0.05,
        **options: Unpack[Options],
    ) -> None:
        if not is_number(epsilon) or not 0 <= epsilon <= 1:
            raise ValueError(f"epsilon = {epsilon!r}, but a probability must lie in [0, 1]")
        self.epsilon = float(epsilon)
        super().__init__(n_features, labels, **options)

    def _pick(self, view: View, x: Vector, slots: int | None, rows: Ints | None, draw: int) -> Ints:
        best = super()._pick(view, x, slots, rows, draw)
        random = self._random(x, draw)
        if random.random() >= self.epsilon:
            return best
        pool = np.arange(len(view.prob)) if rows is None else rows
        size = min(max(len(best), 1), len(pool) if slots is None else min(slots, len(pool)))
        return random.choice(pool, size=size, replace=False)

    def _settings(self) -> dict[str, object]:
        return {**super()._settings(), "epsilon": self.epsilon}
