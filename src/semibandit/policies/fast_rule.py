"""The fast rule: how a learner decides, in numbers that compiled loops can follow.

Whether compiled code may stand in for a learner is said here and nowhere else: the learner returns
a `FastRule` from `fast_rule()`, or None if it must be asked context by context; and from
`learning_rule()` a `LearningRule`, or None if it must be told slate by slate.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit.models.full import FullState
from semibandit.models.model import State
from semibandit.policies.examination import Examination
from semibandit.policies.labels import Labels
from semibandit.theory.cost import Costs, constant, decreasing
from semibandit.theory.slate import SCORE_GRID
from semibandit.theory.surrogate import Logistic, Square, Surrogate

__all__ = [
    "CONSTANT",
    "DECREASING",
    "PROBE_DEVIATIONS",
    "TABLE",
    "FastRule",
    "LearningRule",
    "RuleNumbers",
    "can_compile_loss",
    "can_compile_state",
    "defines",
    "redefined",
]

DECREASING, CONSTANT, TABLE = 0, 1, 2  # kinds of costs

# The label to be probed is the one with the largest margin + so many deviations sqrt(x·A⁻¹x/c''_L).
# Measured: 1 leaves labels of Mediamill and tmc2007 lost, 2 does not, at the same loss.
PROBE_DEVIATIONS = 2.0

# What a class between a user's and ours may define without changing a decision or what is learned.
HARMLESS = frozenset(
    {
        *("__abstractmethods__", "__annotations__", "__dict__", "__doc__", "__firstlineno__"),
        *("__init__", "__module__", "__qualname__", "__repr__", "__static_attributes__"),
        *("__str__", "__weakref__", "_abc_impl", "_settings"),
    }
)


def redefined(part: object, ours: type, apart_from: frozenset[str] = frozenset()) -> str | None:
    """What of a class of ours is defined anew for one of its instances; None if nothing is.

    Compiled loops may stand in for `ours`, and so for its subclasses and instances that only add
    names. A name is defined anew by a class between that of the instance and `ours`, as a method, a
    property or any other attribute, or by a function that was put on the instance.

    Examples
    --------
    >>> class Named(Logistic):
    ...     title = "mine"
    >>> class Steep(Logistic):
    ...     def slope(self, margin):
    ...         return 2.0 - margin
    >>> redefined(Named(), Logistic), redefined(Steep(), Logistic)
    (None, 'Steep.slope')
    """
    kind: Any = type(part)
    own = vars(part)
    if _functions_of(kind).isdisjoint(own):
        return _redefined_by(kind, ours, apart_from)
    return f"{next(name for name in own if name in _functions_of(kind))} of the instance"


@cache
def _redefined_by(kind: type, ours: type, apart_from: frozenset[str]) -> str | None:
    """What the classes from `kind` up to `ours` define anew."""
    names = frozenset(dir(ours)).union(inspect.signature(ours).parameters) - HARMLESS - apart_from
    for one in kind.__mro__[: kind.__mro__.index(ours)]:
        for name in vars(one):
            if name in names:
                return f"{one.__name__}.{name}"
    return None


@cache
def _functions_of(kind: type) -> frozenset[str]:
    """The names of all functions of a class."""
    return frozenset(name for name in dir(kind) if callable(getattr(kind, name, None)))


def defines(part: object, ours: type, *names: str) -> bool:
    """Whether an instance of a class of ours has one of these functions anew."""
    kind, own = type(part), vars(part)
    return any(getattr(kind, name) is not getattr(ours, name) or name in own for name in names)


def can_compile_loss(loss: Surrogate) -> bool:
    """Whether compiled loops know the loss: the square or the logistic one, as they are."""
    return type(loss) in (Square, Logistic) and redefined(loss, type(loss)) is None


def can_compile_state(state: State) -> bool:
    """Whether compiled loops know the state: no class of one's own, and with its own functions."""
    ours = type(state).__module__.startswith("semibandit.")
    return ours and redefined(state, type(state)) is None


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
