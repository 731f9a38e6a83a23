"""Confidit: upper-confidence multiclass learning with one slot, the ancestor of Figure 2.

Crammer and Gentile, "Multiclass classification with bandit feedback using adaptive
regularization", Machine Learning 90 (2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.checks import is_number
from semibandit.errors import InputError
from semibandit.models.full import Full
from semibandit.models.model import Look, Model, Sparse, Vector
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.labels import Label
from semibandit.policies.request import Request
from semibandit.policies.slate import Slate
from semibandit.policies.slate_ucb import SlateUCB
from semibandit.policies.view import View
from semibandit.theory.cost import Cost, decreasing
from semibandit.theory.surrogate import Square
from semibandit.theory.width import Scaled, Width

__all__ = ["Confidit"]


class Confidit(SlateUCB):
    """One label a round, P(y = i) = (alpha + u_i·x)/(1 + alpha), margins in D = [-alpha, 1].

    The shown label takes a least-squares step towards X = x if it was right; if it was wrong,
    towards x with probability (1-alpha)/2, else towards -x, which makes E[X] = (u_i·x) x.
    A starts as (1+alpha)² I: contexts are divided by 1 + alpha, which is the same. The paper's
    width has constants for its proof; here it is any width of ours.

    Parameters
    ----------
    alpha : float
        The labels' noise: P(y = i) lies in [0, 1] for margins in [-alpha, 1]; above 0, up to 1.
    n_features, labels, model, width, cost, a, scale, bias, project, forget, seed
        As for `SlateUCB`. The loss is the square loss.

    Examples
    --------
    >>> len(Confidit(n_features=2, labels=4).rank([1.0, 0.0]))
    1
    """

    one_slot = True

    def __init__(
        self, n_features: int | NamedFeatures, labels: int | Sequence[Label], *,
        alpha: float = 1.0,
        model: Model = Full(), width: Width = Scaled(1.0), cost: Cost = decreasing,
        a: float = 0.5, scale: str = "standard", bias: bool = True, project: str = "learned",
        forget: float | None = None, seed: int = 0,
    ) -> None:  # fmt: skip
        if not is_number(alpha) or not 0 < alpha <= 1:
            raise InputError(f"alpha = {alpha!r}, but Confidit needs 0 < alpha <= 1")
        self.alpha = float(alpha)
        super().__init__(
            n_features,
            labels,
            model=model,
            loss=Square(),
            width=width,
            cost=cost,
            a=a,
            scale=scale,
            bias=bias,
            project=project,
            probe=0.0,
            forget=forget,
            seed=seed,
        )

    @property
    def unproven(self) -> str:
        """Why the widths need not cover the truth."""
        return "Lemma 7 is about Figure 2, and this is Confidit"

    @property
    def context_format(self) -> str:
        return f"{super().context_format} divided by {1.0 + self.alpha:g}"

    def scaled(self, given: Vector, *, to_rank: bool = False) -> Vector:
        vector = super().scaled(given, to_rank=to_rank)
        if isinstance(vector, Sparse):
            return replace(vector, value=vector.value / (1.0 + self.alpha))
        return vector / (1.0 + self.alpha)

    def _judge(self, look: Look, request: Request, rows: Ints | None = None) -> View:
        view = super()._judge(look, request, rows)
        margin = np.clip(look.margin, -self.alpha, 1.0)
        score = margin + view.width
        return View(margin, view.width, self._prob(margin), score, self._prob(score))

    def _pick(self, view: View, request: Request) -> Ints:
        return self._best(view.score, self._ties(view), 1)

    def _absorb(self, slate: Slate, rows: Ints, signs: Floats) -> None:
        look, places = self._margins(slate.x, rows)
        margin = np.clip(look.margin, -self.alpha, 1.0)
        lucky = self._random(slate.context, 0).random(len(rows)) < (1.0 - self.alpha) / 2.0
        target = np.where(lucky, 1.0, signs)
        self._step(look, margin, rows, target - margin[places])

    def _prob(self, margin: Floats) -> Floats:
        return (self.alpha + np.clip(margin, -self.alpha, 1.0)) / (1.0 + self.alpha)

    def _settings(self) -> dict[str, object]:
        names = ("model", "width", "alpha", "project", "forget")
        return {name: getattr(self, name) for name in names}
