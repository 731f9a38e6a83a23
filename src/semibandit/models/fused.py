"""States that learn in one call: margins, the steps of a known loss, and the update.

On a device this saves the wait for the margins.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from semibandit._util.arrays import Floats, Ints
from semibandit.models.model import Vector
from semibandit.models.partial import PartialState

__all__ = ["FusedState", "LossStep"]


class LossStep(NamedTuple):
    """How far a label moves by its margin m: s·g(s·clip(m, -R, R))/c''_L, s = ±1."""

    R: float
    c_L2: float
    logistic: bool  # g(m) = 1/(1 + exp(m)); otherwise the square loss, g(m) = 1 - m


@runtime_checkable
class FusedState(PartialState, Protocol):
    """A state that learns from a context and signs, without telling margins first."""

    def learn_at(self, x: Vector, labels: Ints, signs: Floats, step: LossStep) -> None:
        """`margins_at`, the steps of a loss, and `step_at`, in one call.

        Parameters
        ----------
        x : array or Sparse
            A context, which was checked and scaled already.
        labels, signs : arrays
            The labels that learn, each once; 1 for those that were relevant, -1 for the others.
        step : LossStep
            The loss.
        """
        ...
