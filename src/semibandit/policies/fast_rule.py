"""The fast rule: how a learner decides, in numbers that compiled loops can follow.

Whether compiled code may stand in for a learner is said here and nowhere else: the learner returns
a `FastRule` from `fast_rule()`, or None if it must be asked context by context; and from
`learning_rule()` a `LearningRule`, or None if it must be told slate by slate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit.models.full import FullState
from semibandit.models.model import State
from semibandit.policies.examination import Examination
from semibandit.policies.labels import Labels
from semibandit.theory.cost import Costs, constant, decreasing
from semibandit.theory.slate import SCORE_GRID
from semibandit.theory.surrogate import Logistic, Surrogate

__all__ = [
    "CONSTANT",
    "DECREASING",
    "PROBE_DEVIATIONS",
    "TABLE",
    "FastRule",
    "LearningRule",
    "RuleNumbers",
]

DECREASING, CONSTANT, TABLE = 0, 1, 2  # kinds of costs

# The label to be probed is the one with the largest margin + so many deviations sqrt(x·A⁻¹x/c''_L).
# Measured: 1 leaves labels of Mediamill and tmc2007 lost, 2 does not, at the same loss.
PROBE_DEVIATIONS = 2.0


class RuleNumbers(NamedTuple):
    """A rule as compiled loops take it."""

    R: float  # margins lie in [-R, R]
    logistic: bool  # the surrogate: logistic or square
    c_L2: float  # c''_L, which divides the steps of learning
    a: float  # the weight of missed labels
    at_least: int  # how many labels to show at least, if there are so many
    project_all: bool  # whether labels that were not shown are projected, too
    costs: int  # DECREASING, CONSTANT or TABLE
    table: Floats  # table[s - 1, i - 1] = c(i, s), if costs is TABLE
    tie: Floats  # by row: of labels with equal scores the one with the smaller tie comes first


@dataclass(frozen=True, eq=False)
class FastRule:
    """What compiled loops need to know to decide as the learner does.

    Parameters
    ----------
    a, cost
        The weight of missed labels and the costs: labels are cut by Lemma 1.
    loss
        The surrogate, square or logistic, if scores are margin + spread·sqrt(x·A⁻¹x) and learning
        is that of Figure 2. None if the learner makes its scores in another way, by random draws
        for instance: then only picking labels by their scores may be compiled.
    spread
        ε / sqrt(x·A⁻¹x) as a function of the round t.
    state, tie, labels
        The model's state, the order among equal labels by row, and which label has which row.
    at_least
        How many labels to show at least.
    project_all
        Whether every label's weights are projected when a round is learned, as in Figure 2.
    coins
        Says of the next rounds, by their contexts as they were given, whether a label may be
        probed. None if the learner does not probe.
    grid
        Labels are ordered by rint(score·grid).
    learns_all_shown
        Whether `learn` learns from every label shown. If not, since some were not looked at
        (`examination=`), decisions may be compiled, but not whole rounds.
    """

    a: float
    cost: Costs
    loss: Surrogate | None
    spread: Callable[[int], float]
    state: State
    tie: Floats
    labels: Labels
    at_least: int
    project_all: bool
    coins: Callable[[Any], Bools] | None
    grid: float = SCORE_GRID
    learns_all_shown: bool = True

    @property
    def cost_kind(self) -> int:
        """DECREASING, CONSTANT or TABLE."""
        if self.cost.cost is decreasing:
            return DECREASING
        return CONSTANT if self.cost.cost is constant else TABLE

    @property
    def rows(self) -> Ints:
        """The rows that hold a label, in the order of the learner's labels."""
        return self.labels.rows_of_known()

    def numbers(self, most: int) -> RuleNumbers:
        """The rule for slates of up to `most` labels; it must have a loss."""
        assert self.loss is not None
        kind = self.cost_kind
        table = np.zeros((most, most) if kind == TABLE else (1, 1))
        for s in range(1, most + 1 if kind == TABLE else 1):
            table[s - 1, :s] = self.cost.row(s)
        R, logistic, c_L2 = self.loss.R, isinstance(self.loss, Logistic), self.loss.c_L2
        how = self.at_least, self.project_all
        return RuleNumbers(R, logistic, c_L2, self.a, *how, kind, table, self.tie)


class LearningRule(NamedTuple):
    """How a learner learns, in numbers that compiled loops can follow: Figure 2 on full matrices.

    Projection is of the labels that are learned alone, and nothing is forgotten. Of the labels
    shown, those are learned that `examination` says were looked at.
    """

    loss: Surrogate  # square or logistic
    state: FullState
    examination: Examination | None = None
