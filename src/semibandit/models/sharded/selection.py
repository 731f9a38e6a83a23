"""The best labels of a look, for states that cannot find them themselves."""

from __future__ import annotations

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.ordering import order, turned
from semibandit.models.partial import Aim

__all__ = ["best_labels"]


def best_labels(margin: Floats, norm2: Floats, aim: Aim) -> Ints:
    """The `aim.most` best labels, sorted, by score on the grid and then by tie; all if fewer."""
    score = np.rint(aim.scores(margin, norm2) * aim.grid)
    score[aim.without] = -np.inf
    most = max(0, min(aim.most, len(score) - len(aim.without)))
    return np.sort(order(score, turned(aim.tie, aim.turn), most))
