"""Random slates: the floor that every learner should clear."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.models.model import Arrays, Vector
from semibandit.policies.choice import Choice
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.request import Request
from semibandit.policies.slate import Slate
from semibandit.policies.view import View
from semibandit.theory.cost import Cost, decreasing

__all__ = ["Random"]


class Random(Learner):
    """Fills every slot with labels drawn at random, and learns nothing.

    Parameters
    ----------
    n_features, labels, cost, a, scale, bias, seed
        As for `SlateUCB`. The cost and a count only in what a slate is said to lose.

    Examples
    --------
    >>> len(Random(n_features=2, labels=9).rank([1.0, 0.0], slots=4))
    4
    """

    draws = True

    def __init__(
        self, n_features: int | NamedFeatures, labels: int | Sequence[Label], *,
        cost: Cost = decreasing,
        a: float = 0.5, scale: str = "standard", bias: bool = True, seed: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(n_features, labels, cost, a, scale, bias, seed, sparse=True)

    def _view(self, x: Vector, request: Request) -> View:
        even, none = np.full(len(self._tie), 0.5), np.zeros(len(self._tie))
        return View(none, none, even, none, even)

    def _pick(self, view: View, request: Request) -> Ints:
        random = self._random(request.given, request.draw)
        return random.permutation(len(view))[: request.slots]

    def _distribution(
        self, view: View, x: Vector, request: Request, choice: Choice, probe: int | None
    ) -> SlateDistribution:
        return UniformSlates(choice.n, len(choice.picked))

    def distributions(self, requests: Sequence[Request]) -> list[SlateDistribution]:
        """How likely each slate is for these requests: contexts do not matter, nor draws."""
        found: list[SlateDistribution] = []
        with self._lock.reading():
            for request in requests:
                rows = self._labels.allowed(request.candidates, request.exclude)
                n = len(self._tie if rows is None else rows)
                size = n if request.slots is None else min(n, request.slots)
                found.append(UniformSlates(n, size))
        return found

    def _absorb(self, slate: Slate, rows: Ints, signs: Floats) -> None:
        pass

    def _settings(self) -> dict[str, object]:
        return {}

    def _resize(self, more: int, fresh: Ints) -> None:
        pass

    def _arrays(self) -> Arrays:
        return {}

    def _restore(self, arrays: Arrays) -> None:
        pass
