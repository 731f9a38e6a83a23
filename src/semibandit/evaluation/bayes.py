"""The Bayes player: it knows the world's truth, and is what regret is measured against."""

from __future__ import annotations

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.errors import InputError
from semibandit.models.model import Arrays, Vector, dense
from semibandit.policies.learner import Learner
from semibandit.policies.slate import Slate
from semibandit.policies.view import View
from semibandit.theory.cost import Cost, decreasing
from semibandit.worlds.synthetic import Synthetic

__all__ = ["Bayes"]


class Bayes(Learner):
    """Shows the best slate for the world's true probabilities (Lemma 1); learns nothing."""

    def __init__(self, world: Synthetic, *, cost: Cost = decreasing, a: float = 0.5) -> None:
        super().__init__(world.n_features, world.n_labels, sparse=False, cost=cost, a=a)
        self.world = world

    def _view(self, x: Vector, draw: int) -> View:
        margin, p = self.world.margin(dense(x)), self.world.prob(dense(x))
        return View(margin, np.zeros_like(p), p, p, p)

    def _absorb(self, slate: Slate, rows: Ints, signs: Floats) -> None:
        pass

    def _settings(self) -> dict[str, object]:
        raise InputError("Bayes is part of its world and cannot be saved")

    def _resize(self, more: int, fresh: Ints) -> None:
        raise InputError("the labels of Bayes are its world's")

    def _arrays(self) -> Arrays:
        return {}

    def _restore(self, arrays: Arrays) -> None:
        pass
