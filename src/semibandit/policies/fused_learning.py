"""Learning by a state that does all of it in one call: margins, steps of the loss, the update."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

from semibandit._util.arrays import Floats, Ints
from semibandit.models.fused import FusedState, LossStep
from semibandit.models.model import State, Vector
from semibandit.theory.surrogate import Logistic, Square

if TYPE_CHECKING:
    from semibandit.policies.slate_ucb import SecondOrder

__all__ = ["learned_in_one_call"]


def learned_in_one_call(learner: SecondOrder, x: Vector, rows: Ints, signs: Floats) -> bool:
    """Have the state of a learner learn these rows; False if it cannot, and nothing was learned.

    It can if it has such a call, knows the loss, and projects the labels that learn alone.
    """
    state, loss = learner._state, learner.loss
    known = type(loss) in (Square, Logistic) and learner.project == "learned"
    if not known or not _is_fused(type(state)):
        return False
    step = LossStep(loss.R, loss.c_L2, type(loss) is Logistic)
    cast(FusedState, state).learn_at(x, rows, signs, step)
    return True


@cache
def _is_fused(state: type[State]) -> bool:
    """Whether states of this class have such a call."""
    return issubclass(state, FusedState)
