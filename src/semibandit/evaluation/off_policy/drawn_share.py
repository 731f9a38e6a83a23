"""How many slates of a log are not the learner's own."""

from __future__ import annotations

from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates

__all__ = ["DrawnShare"]


class DrawnShare:
    """The share of visits whose slate was drawn at random, or is that of the holdout.

    A mixture names the learner's own policy first, then what is shown instead of it.
    """

    def __init__(self) -> None:
        self._visits = 0
        self._drawn: float | None = 0.0

    def add(self, logging: SlateDistribution | None) -> None:
        """Add a visit whose slates were this likely."""
        share = None if logging is None else _drawn(logging)
        self._visits += 1
        self._drawn = None if share is None or self._drawn is None else self._drawn + share

    @property
    def value(self) -> float | None:
        """The share; None if the log does not say it."""
        return None if self._drawn is None or not self._visits else self._drawn / self._visits


def _drawn(logging: SlateDistribution) -> float | None:
    kind = type(logging)  # isinstance takes ten times as long, since their base class is abstract
    if kind is FixedSlate:
        return 0.0
    if kind is UniformSlates:
        return 1.0
    if not isinstance(logging, Mixture):
        return None
    weight, own = logging.parts[0]
    share = _drawn(own)
    return None if share is None else 1.0 - weight * (1.0 - share)
