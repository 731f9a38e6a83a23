"""Probes: one more label at the end of a slate, to be tried."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from semibandit._util.arrays import Ints
from semibandit.models.model import Vector
from semibandit.policies.choice import Choice
from semibandit.policies.request import Request
from semibandit.policies.slate import Slate
from semibandit.policies.view import View, Views

__all__ = ["Probing"]


class Probing(ABC):
    """How a learner adds a label that is to be tried; one that never does supplies nothing."""

    @abstractmethod
    def _slate(self, view: View, places: Ints, x: Vector, request: Request) -> Slate:
        """The slate of these places of a view."""

    def _slates_with_probes(
        self, views: Sequence[View], xs: Sequence[Vector], requests: Sequence[Request],
        picked: Sequence[Ints],
    ) -> list[Slate]:  # fmt: skip
        """The slates of the places that were picked, and one more that is to be tried."""
        slates = []
        opened = self._with_probes(views, xs, requests, picked)
        for (view, places), x, request in zip(opened, xs, requests, strict=True):
            tried = self._probe(view, x, places)
            slate = self._slate(view, np.append(places, tried), x, request)
            slates.append(replace(slate, probe=slate.labels[-1]))
        return slates

    def _with_probes(
        self, views: Sequence[View], xs: Sequence[Vector], requests: Sequence[Request],
        picked: Sequence[Ints],
    ) -> list[tuple[View, Ints]]:  # fmt: skip
        """The views with the labels that may be tried, and the places there of what was picked."""
        return [*zip(views, picked, strict=True)]

    def _probe(self, view: View, x: Vector, picked: Ints) -> int:
        """The place to try, of those not picked; for learners whose coins say so."""
        raise NotImplementedError

    def _probes(
        self, views: Views, xs: Sequence[Vector], choices: Sequence[Choice]
    ) -> list[int | None]:
        """The place to try for each of these contexts, if the coin says so; None without a slot."""
        return [
            self._probe(views.at(b), xs[b], one.picked) if one.has_room and self._probing else None
            for b, one in enumerate(choices)
        ]

    def _coins_of(self, requests: Sequence[Request]) -> Sequence[bool]:
        """Whether a label may be probed for each of these requests in the present round."""
        return [False] * len(requests)

    @property
    def _probing(self) -> float:
        """How likely its coin says yes."""
        return 0.0
