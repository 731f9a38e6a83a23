"""Figure 2 with the matrix of the Online Newton Step, which the paper's footnotes set aside."""

from __future__ import annotations

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.models.model import dense
from semibandit.policies.slate import Slate
from semibandit.policies.slate_ucb import SlateUCB

__all__ = ["NewtonStep"]


class NewtonStep(SlateUCB):
    """`SlateUCB` with A_i += ∇∇ᵀ, ∇ = -g(sΔ̂') s x, in the place of A_i += x xᵀ.

    g can be small: it is 0 for a label of margin R that was relevant, with the square loss. A_i
    then hardly grows, its widths do not shrink, and the proof of Lemma 7 does not go through: that
    is why Figure 2 has x xᵀ. It is there for the regret lab, and for no other use.

    Parameters
    ----------
    n_features, labels, ...
        As for `SlateUCB`.

    Examples
    --------
    >>> len(NewtonStep(n_features=2, labels=4).rank([1.0, 0.0], slots=2))
    2
    """

    @property
    def unproven(self) -> str:
        """Why the widths need not cover the truth."""
        return "A_i grows by ∇∇ᵀ, and Lemma 7 is about x xᵀ"

    def _absorb(self, slate: Slate, rows: Ints, signs: Floats) -> None:
        """Project as Figure 2 does, then update each label at g·x, where x xᵀ is its ∇∇ᵀ."""
        state, x, none = self._state, dense(slate.x), np.empty(0)
        look = state.look(x)
        margin = np.clip(look.margin, -self.loss.R, self.loss.R)
        change = margin - look.margin
        moved = np.flatnonzero(change)
        if self.project == "learned":
            moved = np.intersect1d(moved, rows)
        state.step(look, moved, change[moved], none.astype(np.intp), none)
        for row, sign in zip(rows.tolist(), signs.tolist(), strict=True):
            g = float(self.loss.slope(sign * margin[row]))
            if g > 0:
                at_gx, step = state.look(g * x), np.array([sign / self.loss.c_L2])
                state.step(at_gx, none.astype(np.intp), none, np.array([row]), step)
