"""Banditron: the perceptron for one slot and right-or-wrong feedback.

Kakade, Shalev-Shwartz and Tewari, "Efficient bandit algorithms for online multiclass
prediction", ICML 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.checks import is_number
from semibandit._util.ordering import turned
from semibandit.errors import InputError
from semibandit.models.model import Arrays, Vector, dense, take
from semibandit.policies.choice import Choice
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.request import Request
from semibandit.policies.slate import Slate
from semibandit.policies.view import View
from semibandit.theory.cost import Cost, decreasing

__all__ = ["Banditron"]


class Banditron(Learner):
    """Shows the leader ŷ = argmax w_i·x with probability 1 - gamma, else a label drawn evenly.

    With P the probability of the label ỹ that was shown, w_ỹ += x/P if it was right, and
    w_ŷ -= x always: in expectation the perceptron's update. `prob` of a slate is P, `margin` w_i·x.

    Parameters
    ----------
    gamma : float
        The probability of a drawn label, above 0 and up to 1.
    n_features, labels, cost, a, scale, bias, seed
        As for `SlateUCB`.

    Examples
    --------
    >>> round(Banditron(n_features=2, labels=4, gamma=0.2).rank([1.0, 0.0]).propensity, 2)
    0.85
    """

    one_slot = True
    draws = True
    needs_own_draws = True

    def __init__(
        self, n_features: int | NamedFeatures, labels: int | Sequence[Label], *,
        gamma: float = 0.05,
        cost: Cost = decreasing, a: float = 0.5, scale: str = "standard", bias: bool = True,
        seed: int = 0,
    ) -> None:  # fmt: skip
        if not is_number(gamma) or not 0 < gamma <= 1:
            raise InputError(f"gamma = {gamma!r}, but Banditron needs 0 < gamma <= 1")
        self.gamma = float(gamma)
        super().__init__(n_features, labels, cost, a, scale, bias, seed, sparse=False)
        self._w = np.zeros((len(self._labels.names), self.n_inputs))

    def _view(self, x: Vector, request: Request) -> View:
        margin = self._w @ dense(x)
        rows = self._labels.allowed(None, None)
        among, prob = slice(None) if rows is None else rows, np.zeros_like(margin)
        tie = turned(self._tie, request.turn)
        prob[among] = self._chances(margin[among], tie[among])
        return View(margin, np.zeros_like(margin), prob, margin, prob)

    def _decide(self, view: View, x: Vector, request: Request) -> Slate:
        tie = self._ties(view)
        leader, chances = self._best(view.score, tie, 1), self._chances(view.score, tie)
        random = self._random(request.given, request.draw)
        shown = leader if random.random() >= self.gamma else random.permutation(len(view))[:1]
        slate = self._slate(replace(view, estimate=chances, prob=chances), shown, x, request)
        if not len(shown):
            return slate
        name = self._labels.at(view.rows, leader)[0]
        return replace(slate, propensity=float(chances[shown[0]]), leader=name)

    def _distribution(
        self, view: View, x: Vector, request: Request, choice: Choice, probe: int | None
    ) -> SlateDistribution:
        leader = self._fixed(view.rows, self._best(view.score, self._ties(view), 1))
        drawn = UniformSlates(choice.n, choice.room)
        return Mixture([(1.0 - self.gamma, leader), (self.gamma, drawn)])

    def _absorb(self, slate: Slate, rows: Ints, signs: Floats) -> None:
        if len(slate) and (slate.propensity is None or slate.leader is None):
            raise InputError("this slate was not drawn by Banditron: it has no propensity")
        leader = None if slate.leader is None else self._labels.row_shown(slate.leader, slate)
        if not len(rows):
            return
        x = dense(slate.x)
        if leader is not None:
            self._w[leader] -= x
        for row in rows[signs > 0].tolist():
            self._w[row] += x / float(slate.propensity or 1.0)

    def _chances(self, score: Floats, tie: Floats) -> Floats:
        """How likely each of these labels is shown, if they are all that may be."""
        chances = np.full(len(score), self.gamma / max(len(score), 1))
        chances[self._best(score, tie, 1)] += 1.0 - self.gamma
        return chances

    def _settings(self) -> dict[str, object]:
        return {"gamma": self.gamma}

    def _resize(self, more: int, fresh: Ints) -> None:
        w = np.concatenate([self._w, np.zeros((more, self.n_inputs))])
        w[fresh] = 0.0
        self._w = w

    def _arrays(self) -> Arrays:
        return {"w": self._w}

    def _restore(self, arrays: Arrays) -> None:
        self._w = take(arrays, "w", self._w.shape)
