"""Greedy and epsilon-greedy: Figure 2's learning without its upper confidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semibandit._util.arrays import Ints
from semibandit._util.checks import is_number
from semibandit.errors import InputError
from semibandit.models.full import Full
from semibandit.models.model import Model, Vector
from semibandit.policies.choice import Choice
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.fast_rule import FastRule, redefined
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.labels import Label
from semibandit.policies.request import Request
from semibandit.policies.slate_ucb import SecondOrder
from semibandit.policies.view import View
from semibandit.theory.cost import Cost, decreasing
from semibandit.theory.surrogate import Square, Surrogate

__all__ = ["EpsilonGreedy", "Greedy"]


class Greedy(SecondOrder):
    """Shows what looks best by the estimates alone: `SlateUCB` with width 0.

    Parameters
    ----------
    n_features, labels, model, loss, cost, a, scale, bias, project, at_least, forget,
    examination, seed
        As for `SlateUCB`.

    Examples
    --------
    >>> Greedy(n_features=2, labels=3).rank([1.0, 0.0], slots=2).width
    array([0., 0.])
    """

    def __init__(
        self, n_features: int | NamedFeatures, labels: int | Sequence[Label], *,
        model: Model = Full(),
        loss: Surrogate = Square(), cost: Cost = decreasing, a: float = 0.5,
        scale: str = "standard", bias: bool = True, project: str = "learned",
        at_least: int = 0, forget: float | None = None,
        examination: Sequence[float] | str | None = None, seed: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(
            n_features, labels, model, loss, cost, a, scale, bias, seed,
            project=project, at_least=at_least, forget=forget, examination=examination,
        )  # fmt: skip

    def fast_rule(self) -> FastRule | None:
        return None if redefined(self, Greedy) else self._rule(scores=True)

    def _best_spread(self) -> float | None:
        return None if redefined(self, Greedy) else 0.0


class EpsilonGreedy(SecondOrder):
    """Greedy, but with probability epsilon the slate is filled with labels drawn at random.

    A drawn slate is as long as the greedy one, and not empty if there is a slot.

    Parameters
    ----------
    epsilon : float
        The probability of a drawn slate, from 0 to 1.
    n_features, labels, model, loss, cost, a, scale, bias, project, at_least, forget,
    examination, seed
        As for `SlateUCB`.

    Examples
    --------
    >>> len(EpsilonGreedy(n_features=2, labels=3, epsilon=1.0).rank([1.0, 0.0], slots=2))
    2
    """

    draws = True

    def __init__(
        self, n_features: int | NamedFeatures, labels: int | Sequence[Label], *,
        epsilon: float = 0.05,
        model: Model = Full(), loss: Surrogate = Square(), cost: Cost = decreasing,
        a: float = 0.5, scale: str = "standard", bias: bool = True, project: str = "learned",
        at_least: int = 0, forget: float | None = None,
        examination: Sequence[float] | str | None = None, seed: int = 0,
    ) -> None:  # fmt: skip
        if not is_number(epsilon) or not 0 <= epsilon <= 1:
            raise InputError(f"epsilon = {epsilon!r}, but a probability must lie in [0, 1]")
        self.epsilon = float(epsilon)
        super().__init__(
            n_features, labels, model, loss, cost, a, scale, bias, seed,
            project=project, at_least=at_least, forget=forget, examination=examination,
        )  # fmt: skip

    def _pick(self, view: View, request: Request) -> Ints:
        best = super()._pick(view, request)
        random = self._random(request.given, request.draw)
        if random.random() >= self.epsilon:
            return best
        size = _drawn_size(best, len(view), request.slots)
        return np.asarray(random.choice(len(view), size=size, replace=False), dtype=np.intp)

    def _distribution(
        self, view: View, x: Vector, request: Request, choice: Choice, probe: int | None
    ) -> SlateDistribution:
        best = super()._pick(view, request)
        drawn = UniformSlates(choice.n, _drawn_size(best, choice.n, request.slots))
        greedy = self._fixed(view.rows, best)
        return Mixture([(1.0 - self.epsilon, greedy), (self.epsilon, drawn)])

    def _settings(self) -> dict[str, object]:
        return {**super()._settings(), "epsilon": self.epsilon}


def _drawn_size(best: Ints, labels: int, slots: int | None) -> int:
    """How many of the labels a drawn slate has, if the greedy one would be `best`."""
    return min(max(len(best), 1), labels if slots is None else min(slots, labels))
