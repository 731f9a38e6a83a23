"""Views of the best labels alone, by states that find them without looking at all labels.

A learner whose scores are margin + spread·sqrt(x·A⁻¹x) needs no more to decide. If a label is to be
probed, those that are best by its score are found, too.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import cast

import numpy as np

from semibandit._util.arrays import Ints
from semibandit.models.model import Look, State, Vector
from semibandit.models.partial import Aim, BestState, Found, prefers_best
from semibandit.policies.fast_rule import PROBE_DEVIATIONS
from semibandit.policies.learner import Learner
from semibandit.policies.request import Request
from semibandit.policies.view import View
from semibandit.theory.surrogate import Surrogate

__all__ = ["BestLabels"]


class BestLabels(Learner):
    """A learner that has its state search for the best labels if that costs less."""

    loss: Surrogate
    _state: State

    @abstractmethod
    def _judge(self, look: Look, request: Request, rows: Ints | None = None) -> View:
        """What it thinks of a look at these rows; None for all."""

    @property
    def model_problem(self) -> str | None:
        """What keeps the model from answering now, in words; None if nothing does."""
        problem: str | None = getattr(self._state, "problem", None)
        return problem

    def _best_spread(self) -> float | None:
        """ε / sqrt(x·A⁻¹x) in this round if scores are margin + ε; None if they are made otherwise.

        Like a fast rule it is never inherited.
        """
        return None

    def _aims(self, requests: Sequence[Request]) -> Sequence[Aim | None]:
        spread, contexts = self._best_spread(), len(requests)
        if spread is None or (contexts > 1 and not prefers_best(self._state, contexts, 1)):
            return [None] * contexts
        return [self._aim(request, spread, contexts) for request in requests]

    def _aim(self, request: Request, spread: float, contexts: int) -> Aim | None:
        if request.candidates is not None:
            return None
        n = len(self._labels) - (0 if request.exclude is None else len(request.exclude))
        most = self.room(max(n, 0), request.slots)
        if most == 0 or not prefers_best(self._state, contexts, most):
            return None
        without = self._labels.not_allowed(request.exclude)
        how = spread, self._tie, without, self._grid
        return Aim(most, self.loss.R, *how, turn=request.turn)

    def _best_views(
        self, xs: Sequence[Vector], requests: Sequence[Request], aims: Sequence[Aim]
    ) -> list[View]:
        views = []
        for request, aim, found in zip(requests, aims, self._find(xs, aims), strict=True):
            n = max(len(self._tie) - len(aim.without) - found.missing, len(found.labels))
            self.looks.add(found.looked, n)
            view = self._judge(found.look, request, found.labels)
            views.append(view.of(found.look.norm2, found.labels, n, found.missing))
        return views

    def _with_probes(
        self, views: Sequence[View], xs: Sequence[Vector], requests: Sequence[Request],
        picked: Sequence[Ints],
    ) -> list[tuple[View, Ints]]:  # fmt: skip
        """One more than was picked are found by the score of a probe: the best other is there."""
        if any(view.allowed is None for view in views):
            return super()._with_probes(views, xs, requests, picked)
        spread, R = PROBE_DEVIATIONS / math.sqrt(self.loss.c_L2), self.loss.R
        aims = []
        for request, places in zip(requests, picked, strict=True):
            without = self._labels.not_allowed(request.exclude)
            how = R, spread, self._tie, without, self._grid, math.inf, request.turn
            aims.append(Aim(len(places) + 1, *how))
        found = self._find(xs, aims)
        return [*map(self._joined, views, xs, requests, picked, found)]

    def _find(self, xs: Sequence[Vector], aims: Sequence[Aim]) -> list[Found]:
        state = cast(BestState, self._state)
        return [state.best(xs[0], aims[0])] if len(xs) == 1 else state.best_many(xs, aims)

    def _joined(
        self, view: View, x: Vector, request: Request, places: Ints, found: Found
    ) -> tuple[View, Ints]:
        """The view of its own rows and those found, and the new places of some of its own."""
        self.looks.add(found.looked, 0)
        assert view.rows is not None
        assert view.norm2 is not None
        rows, first = np.unique(np.concatenate([view.rows, found.labels]), return_index=True)
        margin = np.concatenate([view.margin, found.look.margin])[first]
        norm2 = np.concatenate([view.norm2, found.look.norm2])[first]
        more = self._judge(Look(x, margin, norm2), request, rows)
        whole = more.of(norm2, rows, view.allowed, view.missing).at_turn(view.turn)
        return whole, np.searchsorted(rows, view.rows[places])
