"""The Bayes player: it knows the world's truth, and regret is measured against it."""

from __future__ import annotations

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.errors import InputError
from semibandit.models.model import Arrays, Vector, dense
from semibandit.policies.learner import Learner
from semibandit.policies.request import Request
from semibandit.policies.slate import Slate
from semibandit.policies.view import View
from semibandit.theory.cost import Cost, decreasing
from semibandit.worlds.synthetic import Synthetic

__all__ = ["Bayes"]


class Bayes(Learner):
    """The optimal player of a world: the best slate for its true probabilities (Lemma 1).

    It is told the truth, so it learns nothing, and it cannot be saved.

    Parameters
    ----------
    world : Synthetic
        The world whose probabilities it knows.
    cost : callable or table, optional
        The position costs c(j, s); by default `decreasing`.
    a : float, optional
        The weight of missed labels, from 0 to 1.

    Examples
    --------
    >>> import semibandit as sb
    >>> world = sb.Synthetic(n_features=5, n_labels=4, seed=3)
    >>> float(abs(sb.play(Bayes(world), world, rounds=20, slots=2).regret).max()) < 1e-9
    True
    """

    def __init__(self, world: Synthetic, *, cost: Cost = decreasing, a: float = 0.5) -> None:
        # its probabilities are those of the contexts as they are
        super().__init__(
            world.n_features, world.n_labels, cost, a, scale="none", bias=False, sparse=False
        )
        self.world = world

    def _view(self, x: Vector, request: Request) -> View:
        margin, p = self.world.margin(dense(x)), self.world.prob(dense(x))
        return View(margin, np.zeros_like(p), p, p, p)

    def _absorb(self, slate: Slate, rows: Ints, signs: Floats) -> None:
        pass

    def _settings(self) -> dict[str, object]:
        raise InputError("Bayes knows its world and cannot be saved without it")

    def _resize(self, more: int, fresh: Ints) -> None:
        raise InputError("the labels of Bayes are those of its world: none can be added")

    def _arrays(self) -> Arrays:
        return {}

    def _restore(self, arrays: Arrays) -> None:
        pass
