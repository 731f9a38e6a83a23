"""Every slate of a length equally likely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.labels import Label

__all__ = ["LEAST", "UniformSlates", "uniform_slates"]

# Slates of more than 100 labels have probabilities that no float holds. They count as this, which
# is above 0 also as a part of a mixture: ratios of two such probabilities stay right.
LEAST = 1e-300


@dataclass(frozen=True)
class UniformSlates(SlateDistribution):
    """Slates of `length` labels, drawn without replacement from n.

    The labels that are asked for must be among these n.

    Examples
    --------
    >>> UniformSlates(n=4, length=2).prefix_propensity(["tea", "milk"])
    array([0.25      , 0.08333333])
    """

    n: int
    length: int

    def slate_propensity(self, labels: Sequence[Label]) -> float:
        return _slate(self.n, self.length) if len(labels) == self.length else 0.0

    def prefix_propensity(self, labels: Sequence[Label]) -> Floats:
        return self._padded(_prefixes(self.n, self.length), len(labels))

    def item_propensity(self, labels: Sequence[Label]) -> Floats:
        return self._padded(np.full(self.length, 1.0 / max(self.n, 1)), len(labels))

    def marginals(self, items: Sequence[Label], positions: int) -> Floats:
        return np.tile(self.item_propensity(range(positions)), (len(items), 1))

    def next_item(self, prefix: Sequence[Label], items: Sequence[Label]) -> Floats:
        if len(prefix) >= self.length:
            return np.zeros(len(items))
        before = set(prefix)
        chance = 1.0 / (self.n - len(prefix))
        return np.array([0.0 if item in before else chance for item in items])

    def lengths(self, positions: int) -> Floats:
        return self._padded(np.ones(self.length), positions)

    def sample(self, random: np.random.Generator, items: Sequence[Label]) -> list[Label]:
        return [items[i] for i in random.permutation(len(items))[: self.length].tolist()]

    def json(self) -> Any:
        return _json(self.n, self.length)

    def _padded(self, values: Floats, size: int) -> Floats:
        found = np.zeros(size)
        found[: self.length] = values[:size]
        return found


@lru_cache(maxsize=4096)
def uniform_slates(n: int, length: int) -> UniformSlates:
    """`UniformSlates`, the same object for all requests alike: logs have a million of them."""
    return UniformSlates(n, length)


@lru_cache(maxsize=4096)
def _json(n: int, length: int) -> dict[str, list[int]]:
    """One object for all decisions: fewer for the garbage collector to look through."""
    return {"uniform": [n, length]}


@lru_cache(maxsize=4096)
def _slate(n: int, length: int) -> float:
    """(n-length)!/n!, but at least `LEAST`."""
    return float(_prefixes(n, length)[-1]) if length else 1.0


@lru_cache(maxsize=4096)
def _prefixes(n: int, length: int) -> Floats:
    """(n-k)!/n! for k = 1, ..., length, but at least `LEAST`."""
    each = 1.0 / np.arange(n, n - length, -1.0)
    found: Floats = np.maximum(np.cumprod(each, dtype=np.float64), LEAST)
    found.flags.writeable = False
    return found
