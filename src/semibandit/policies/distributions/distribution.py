"""The contract: how likely each slate is that a policy may show for one request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.policies.labels import Label

__all__ = ["SlateDistribution"]


class SlateDistribution(ABC):
    """How likely each slate is, for one request.

    A slate is an ordered list of labels without repeats; slates may differ in length. Positions
    count from 0. All probabilities are exact: those that a learner which draws at random gives are
    conditional on what it drew.
    """

    @abstractmethod
    def slate_propensity(self, labels: Sequence[Label]) -> float:
        """How likely exactly this slate is."""

    @abstractmethod
    def prefix_propensity(self, labels: Sequence[Label]) -> Floats:
        """For k = 1, ..., len(labels): how likely a slate begins with the first k of them."""

    @abstractmethod
    def item_propensity(self, labels: Sequence[Label]) -> Floats:
        """For each of these labels how likely it is shown at its position in this list."""

    @abstractmethod
    def marginals(self, items: Sequence[Label], positions: int) -> Floats:
        """How likely each item is at each position, (len(items), positions).

        `items` are all labels that may be shown for this request.
        """

    @abstractmethod
    def next_item(self, prefix: Sequence[Label], items: Sequence[Label]) -> Floats:
        """How likely each item comes next in a slate that begins with this prefix.

        The sum is less than 1 if the slate may end there; all are 0 if no slate begins so.
        `items` are all labels that may be shown for this request.
        """

    @abstractmethod
    def lengths(self, positions: int) -> Floats:
        """For k = 1, ..., positions: how likely a slate has at least k labels."""

    @abstractmethod
    def sample(self, random: np.random.Generator, items: Sequence[Label]) -> list[Label]:
        """A slate drawn by these probabilities."""

    @abstractmethod
    def json(self) -> Any:
        """The distribution as JSON can hold it; `read_distribution` reads it."""
