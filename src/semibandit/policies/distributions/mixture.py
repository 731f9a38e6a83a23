"""One of several distributions, each with its probability, chosen once per slate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.labels import Label

__all__ = ["Mixture"]


@dataclass  # not frozen, for the same reason as `FixedSlate`
class Mixture(SlateDistribution):
    """One of several distributions: the probabilities are the parts' own, weighted.

    Parameters
    ----------
    parts : sequence of (float, SlateDistribution)
        The probability of each part, which add up to 1, and the part.

    Examples
    --------
    >>> from semibandit.policies.distributions.fixed import FixedSlate
    >>> from semibandit.policies.distributions.uniform import UniformSlates
    >>> Mixture([(0.9, FixedSlate(["tea"])), (0.1, UniformSlates(4, 1))]).slate_propensity(["tea"])
    0.925
    """

    parts: Sequence[tuple[float, SlateDistribution]]

    def slate_propensity(self, labels: Sequence[Label]) -> float:
        return sum(weight * part.slate_propensity(labels) for weight, part in self.parts)

    def prefix_propensity(self, labels: Sequence[Label]) -> Floats:
        return _sum([weight * part.prefix_propensity(labels) for weight, part in self.parts])

    def item_propensity(self, labels: Sequence[Label]) -> Floats:
        return _sum([weight * part.item_propensity(labels) for weight, part in self.parts])

    def marginals(self, items: Sequence[Label], positions: int) -> Floats:
        return _sum([weight * part.marginals(items, positions) for weight, part in self.parts])

    def next_item(self, prefix: Sequence[Label], items: Sequence[Label]) -> Floats:
        found, whole = np.zeros(len(items)), 0.0
        for weight, part in self.parts:
            begins = weight * (float(part.prefix_propensity(prefix)[-1]) if prefix else 1.0)
            if begins:
                found += begins * part.next_item(prefix, items)
                whole += begins
        return found / whole if whole else found

    def lengths(self, positions: int) -> Floats:
        return _sum([weight * part.lengths(positions) for weight, part in self.parts])

    def sample(self, random: np.random.Generator, items: Sequence[Label]) -> list[Label]:
        weights = np.array([weight for weight, _ in self.parts])
        return self.parts[int(random.choice(len(weights), p=weights))][1].sample(random, items)

    def json(self) -> Any:
        return {"mixture": [[weight, part.json()] for weight, part in self.parts]}


def _sum(parts: list[Floats]) -> Floats:
    return np.asarray(sum(parts[1:], parts[0]))
