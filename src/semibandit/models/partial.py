"""States that need not look at every label: at some labels alone, or at those that can be best.

A `State` that has these methods, too, makes `rank` as expensive as what is asked for. A state
without them is looked at as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.models.model import Look, State, Vector

__all__ = ["Aim", "BestState", "Found", "OneByOne", "PartialState", "prefers_best"]


@runtime_checkable
class PartialState(State, Protocol):
    """A state that can look at some labels alone."""

    def look_at(self, x: Vector, labels: Ints) -> Look:
        """`look` at these labels alone: line j of the result is of labels[j].

        Parameters
        ----------
        x : array or Sparse
            A context, which was checked and scaled already.
        labels : array of int
            The labels, each once, in any order.

        Returns
        -------
        Look
            The numbers of `look` up to rounding.
        """
        ...

    def margins_at(self, x: Vector, labels: Ints) -> Look:
        """`look_at` without norms, for learning.

        Its margins depend on x, on these labels and on their state alone, to the bit: a log that is
        learned again gives the same learner.
        """
        ...

    def look_at_many(self, xs: Sequence[Vector], labels: Sequence[Ints]) -> list[Look]:
        """`look_at` for many contexts, each with its own labels."""
        ...

    def step_at(self, look: Look, labels: Ints, change: Floats, steps: Floats) -> None:
        """Learn from one context: project these labels, then update them.

        Parameters
        ----------
        look : Look
            What `margins_at` gave for the context and these labels.
        labels : array of int
            The labels that are learned, and only those.
        change : array of float
            By how much the margin of each is moved by its projection; 0 for most.
        steps : array of float
            For each of them w += steps·A⁻¹x with the new A = A + x xᵀ.
        """
        ...


class OneByOne:
    """`look_at_many` and `step_at` by the other methods, for states that have no better way."""

    def look_at_many(
        self: PartialState, xs: Sequence[Vector], labels: Sequence[Ints]
    ) -> list[Look]:
        return [*map(self.look_at, xs, labels)]

    def step_at(
        self: PartialState, look: Look, labels: Ints, change: Floats, steps: Floats
    ) -> None:
        moved = change != 0
        self.step(look, labels[moved], change[moved], labels, steps)


class Aim(NamedTuple):
    """Which labels are wanted for a context: the best ones by their upper confidence.

    The score of a label is clip(margin, -R, R) + min(spread·sqrt(norm2), widest). Labels are
    ordered by rint(score·grid), the largest first, and then by `tie`: those from `turn` on, the
    smallest first, and then the others.
    """

    most: int  # how many of the best are wanted
    R: float
    spread: float
    tie: Floats  # by label
    without: Ints  # labels that may not be shown, sorted; often none
    grid: float
    cap: float | None = None  # what the second term is capped at; None for 2R
    turn: float = 0.0  # where the order among equal labels begins

    @property
    def widest(self) -> float:
        """What the second term of a score is capped at: infinity for labels to be probed."""
        return 2.0 * self.R if self.cap is None else self.cap

    def scores(self, margin: Floats, norm2: Floats) -> Floats:
        """The scores of labels, before they are put on the grid."""
        width = np.minimum(self.spread * np.sqrt(np.maximum(norm2, 0.0)), self.widest)
        inside = np.minimum(np.maximum(margin, -self.R), self.R)  # faster than np.clip
        return np.asarray(inside + width)


class Found(NamedTuple):
    """Labels among which the best are, and what the state says of them."""

    labels: Ints  # sorted; the `most` best are among them, or all labels that may be shown
    look: Look  # margins and norms of these labels
    looked: int  # at how many labels the state looked exactly; the others cannot be among the best
    missing: int = 0  # labels that could not be considered: they are of a shard that is lost


@runtime_checkable
class BestState(PartialState, Protocol):
    """A state that finds the best labels without looking exactly at all of them."""

    grid: float  # scores closer than 1/grid cannot be told apart: the numbers are no more exact

    def best(self, x: Vector, aim: Aim) -> Found:
        """The labels that are wanted: the very ones that a look at all of them would give."""
        ...

    def best_many(self, xs: Sequence[Vector], aims: Sequence[Aim]) -> list[Found]:
        """`best` for many contexts, each with its own aim."""
        ...


def prefers_best(state: State, contexts: int, most: int) -> bool:
    """Whether the best labels of so many contexts cost less by `best` than by a look at all.

    Parameters
    ----------
    state : State
        A `BestState` for which that is not always so says it by a method `prefers_best(contexts,
        most)`. Slates never depend on the answer.
    contexts, most : int
        How many contexts there are, and how many labels are wanted for each.
    """
    if not _finds_best(type(state)):
        return False
    ask = getattr(state, "prefers_best", None)
    return True if ask is None else bool(ask(contexts, most))


@cache
def _finds_best(kind: type[State]) -> bool:
    """Whether states of this class are `BestState`."""
    names = ("look_at", "margins_at", "look_at_many", "step_at", "best", "best_many")
    return all(hasattr(kind, name) for name in names)
