"""A visit: what was shown by a policy whose probabilities are known, and what was clicked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from semibandit._util.arrays import Bools, Floats
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.labels import Label
from semibandit.policies.request import Request

__all__ = ["LoggedVisit"]


@dataclass(slots=True, eq=False)
class LoggedVisit:
    """A decision with its feedback, as evaluation needs it.

    Parameters
    ----------
    request : Request
        What was asked: the context and what could be shown for it.
    shown : list of labels
        What was shown, best first.
    clicked : sequence of bool
        Which of them were clicked, by position.
    slate_propensity, prefix_propensity, item_propensity
        How likely what was shown was, as in `Slate`; None if the log does not know it.
    logging : SlateDistribution, optional
        How likely each slate was.
    group : str
        Visits of one group (of one visitor) are not independent of each other.
    seq : int
        The place in the log.
    at : float
        When, in seconds since 1970.
    first_position : int
        The position of the first label in `shown`, from 0; above 0 if the log has single items.
    """

    request: Request
    shown: list[Label]
    clicked: Sequence[bool] | Bools
    slate_propensity: float | None
    prefix_propensity: Sequence[float] | Floats | None
    item_propensity: Sequence[float] | Floats | None
    logging: SlateDistribution | None
    group: str
    seq: int = 0
    at: float = 0.0
    first_position: int = 0
