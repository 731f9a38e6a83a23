"""Thompson sampling from the second-order state of Figure 2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np

from semibandit.models.model import Look
from semibandit.policies.labels import Label
from semibandit.policies.learner import View
from semibandit.policies.slate_ucb import Options, SecondOrder
from semibandit.theory.width import is_number

__all__ = ["Thompson"]


class Thompson(SecondOrder):
    """Ranks labels by margins drawn from N(margin, alpha²·x·A⁻¹x) in place of upper bounds.

    Draws are a function of the seed, the round, the context and `draw`: pass another `draw` to
    have the same context drawn for anew before anything was learned.
    """

    def __init__(
        self,
        n_features: int,
        labels: int | Sequence[Label],
        *,
        alpha: float = 0.5,
        **options: Unpack[Options],
    ) -> None:
        if not is_number(alpha) or not 0 <= alpha < math.inf:
            raise ValueError(f"alpha = {alpha!r}, but a spread must be a finite number >= 0")
        self.alpha = float(alpha)
        super().__init__(n_features, labels, **options)

    def _judge(self, look: Look, draw: int) -> View:
        R = self.loss.R
        margin = np.clip(look.margin, -R, R)
        spread = self.alpha * np.sqrt(np.maximum(look.norm2, 0.0))
        score = margin + spread * self._random(look.x, draw).standard_normal(len(margin))
        prob = self.loss.prob(np.clip(score, -R, R))
        return View(margin, spread, self.loss.prob(margin), score, prob)

    def _settings(self) -> dict[str, object]:
        return {**super()._settings(), "alpha": self.alpha}
