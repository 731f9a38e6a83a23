"""What a click is worth: the reward r_k of each position of a visit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Bools, Floats
from semibandit._util.checks import finite_number, shortened
from semibandit.errors import InputError, UnknownLabel
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.policies.labels import Label

__all__ = ["Reward", "read_reward"]


@dataclass(frozen=True)
class Reward:
    """The reward of a visit: the sum over positions k of r_k.

    Position k gives r_k = (1 if its click counts) · (discount of k) · (value of the label).

    Parameters
    ----------
    words : str
        The reward in words.
    discounted : bool
        Whether a click at position k = 1, 2, ... counts 1/log2(k + 1).
    cascade_only : bool
        Whether the first click alone counts, so that r_k depends on what is above position k.
    by_label : mapping, optional
        What a click on each label is worth; 1 if it is not given.

    Examples
    --------
    >>> read_reward("dcg").discounts(3)
    array([1.        , 0.63092975, 0.5       ])
    """

    words: str
    discounted: bool = False
    cascade_only: bool = False
    by_label: Mapping[Label, float] | None = None

    def per_position(self, visit: LoggedVisit) -> Floats:
        """The reward r_k of each label that was shown."""
        clicked = np.asarray(visit.clicked, dtype=np.bool_)
        discounts = self.discounts(visit.first_position + len(clicked))[visit.first_position :]
        return np.asarray(self.outcomes(clicked[None])[0] * discounts * self.values(visit.shown))

    def outcomes(self, clicked: Bools) -> Floats:
        """Which clicks count, 1 or 0, for clicks by visit and position."""
        if self.cascade_only:
            clicked = clicked & (np.cumsum(clicked, axis=1) == 1)
        return clicked.astype(np.float64)

    def discounts(self, positions: int) -> Floats:
        """What a click at each position counts, relative to one at the first."""
        if not self.discounted:
            return np.ones(positions)
        return np.asarray(1.0 / np.log2(np.arange(2.0, positions + 2.0)))

    def values(self, labels: Sequence[Label]) -> Floats:
        """What a click on each of these labels is worth; `UnknownLabel` if one has no value."""
        if self.by_label is None:
            return np.ones(len(labels))
        for label in labels:
            if label not in self.by_label:
                raise UnknownLabel(f"the reward has no value for the label {label!r}")
        return np.array([self.by_label[label] for label in labels], dtype=np.float64)

    @property
    def largest(self) -> float:
        """The most that one click is worth."""
        return max(self.by_label.values(), default=0.0) if self.by_label is not None else 1.0


def read_reward(given: str | Mapping[Label, float]) -> Reward:
    """The reward that is meant.

    Parameters
    ----------
    given : str or mapping
        "clicks" (how many labels were clicked), "dcg" (clicks weighted by position, 1/log2(k + 1)),
        "any" (whether any was clicked), or what a click on each label is worth.

    Returns
    -------
    Reward

    Raises
    ------
    InputError
        If it is none of these, or a value is negative: intervals rely on rewards >= 0.

    Examples
    --------
    >>> read_reward({"tea": 2.0, "milk": 0.5}).largest
    2.0
    """
    if isinstance(given, Mapping):
        values = {
            label: finite_number(f"the value of a click on {label!r}", value, least=0.0)
            for label, value in given.items()
        }
        if not values:
            raise InputError("reward = {}, but it must have a value for every label")
        return Reward("value of clicks", by_label=values)
    known = {
        "clicks": Reward("clicks"),
        "dcg": Reward("clicks weighted by position", discounted=True),
        "any": Reward("any clicked", cascade_only=True),
    }
    if not isinstance(given, str) or given not in known:
        raise InputError(
            f"reward = {shortened(given)}, but it must be one of {', '.join(known)} or a mapping "
            "of labels to what a click on them is worth"
        )
    return known[given]
