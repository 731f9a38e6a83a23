"""Thompson sampling from the second-order state of Figure 2."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from semibandit._util.arrays import Ints
from semibandit._util.checks import is_number
from semibandit.errors import InputError
from semibandit.models.full import Full
from semibandit.models.model import Look, Model
from semibandit.policies.fast_rule import FastRule, redefined
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.labels import Label
from semibandit.policies.request import Request
from semibandit.policies.slate_ucb import SecondOrder
from semibandit.policies.view import View
from semibandit.theory.cost import Cost, decreasing
from semibandit.theory.surrogate import Square, Surrogate

__all__ = ["Thompson"]


class Thompson(SecondOrder):
    """Ranks labels by margins drawn from N(margin, alpha²·x·A⁻¹x / c''_L) in place of upper bounds.

    Draws are a function of the seed, the round, the context and `draw`: pass another `draw` to
    have the same context drawn for anew before anything was learned.

    Parameters
    ----------
    alpha : float
        How much to explore: the standard deviation of a draw is alpha·sqrt(x·A⁻¹x / c''_L), in the
        unit of `Scaled(alpha)`, so that the same alpha means the same for every loss.
    n_features, labels, model, loss, cost, a, scale, bias, project, probe, at_least,
    forget, examination, seed
        As for `SlateUCB`.

    Examples
    --------
    >>> bandit = Thompson(n_features=2, labels=50)
    >>> one, two = (bandit.rank([1.0, 0.0], slots=5, draw=draw).labels for draw in (1, 2))
    >>> one == two
    False
    """

    draws = True

    def __init__(
        self, n_features: int | NamedFeatures, labels: int | Sequence[Label], *,
        alpha: float = 0.5,
        model: Model = Full(), loss: Surrogate = Square(), cost: Cost = decreasing,
        a: float = 0.5, scale: str = "standard", bias: bool = True, project: str = "learned",
        probe: float = 0.1, at_least: int = 0, forget: float | None = None,
        examination: Sequence[float] | str | None = None, seed: int = 0,
    ) -> None:  # fmt: skip
        if not is_number(alpha) or not 0 <= alpha < math.inf:
            raise InputError(f"alpha = {alpha!r}, but a spread must be a finite number >= 0")
        self.alpha = float(alpha)
        super().__init__(
            n_features, labels, model, loss, cost, a, scale, bias, seed,
            project=project, probe=probe, at_least=at_least, forget=forget,
            examination=examination,
        )  # fmt: skip

    def _judge(self, look: Look, request: Request, rows: Ints | None = None) -> View:
        R = self.loss.R
        margin = np.clip(look.margin, -R, R)
        spread = self.alpha / math.sqrt(self.loss.c_L2) * np.sqrt(np.maximum(look.norm2, 0.0))
        random = self._random(request.given, request.draw)
        drawn = random.standard_normal(len(self._tie))  # of all rows: candidates change nothing
        score = margin + spread * (drawn if rows is None else drawn[rows])
        prob = self.loss.prob(np.clip(score, -R, R))
        return View(margin, spread, self.loss.prob(margin), score, prob)

    def fast_rule(self) -> FastRule | None:
        return None if redefined(self, Thompson) else self._rule(scores=False)

    def _settings(self) -> dict[str, object]:
        return {**super()._settings(), "alpha": self.alpha, "probe": self.probe}
