"""One slate, or the same slate with one more label that is tried now and then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.labels import Label

__all__ = ["FixedSlate"]


@dataclass  # not frozen, which takes five times as long to make: ranking makes one each time
class FixedSlate(SlateDistribution):
    """A slate that is shown for certain; with probability `probing`, one more label comes last.

    Parameters
    ----------
    slate : sequence of labels
        What is shown, best first, without the label that is tried.
    probe : label, optional
        The label that is tried.
    probing : float
        How likely it is tried.

    Examples
    --------
    >>> FixedSlate(["tea", "juice"], "milk", 0.1).prefix_propensity(["tea", "juice", "milk"])
    array([1. , 1. , 0.1])
    """

    slate: Sequence[Label]
    probe: Label | None = None
    probing: float = 0.0

    def slate_propensity(self, labels: Sequence[Label]) -> float:
        if labels == self.slate:
            return 1.0 - self.probing
        n = len(self.slate)
        if list(labels[:n]) != list(self.slate):
            return 0.0
        if len(labels) == n:
            return 1.0 - self.probing
        return self.probing if list(labels[n:]) == [self.probe] else 0.0

    def prefix_propensity(self, labels: Sequence[Label]) -> Floats:
        return np.asarray(np.minimum.accumulate(self.item_propensity(labels)))

    def item_propensity(self, labels: Sequence[Label]) -> Floats:
        found = np.zeros(len(labels))
        for k, (shown, asked) in enumerate(zip(self.slate, labels, strict=False)):
            found[k] = shown == asked
        n = len(self.slate)
        if len(labels) > n and self.probing and labels[n] == self.probe:
            found[n] = self.probing
        return found

    def marginals(self, items: Sequence[Label], positions: int) -> Floats:
        found = np.zeros((len(items), positions))
        place = {item: i for i, item in enumerate(items)}
        for k, (label, chance) in enumerate(self._shown()):
            if k < positions and label in place:
                found[place[label], k] = chance
        return found

    def next_item(self, prefix: Sequence[Label], items: Sequence[Label]) -> Floats:
        k, shown = len(prefix), self._shown()
        begins = all(one == label for one, (label, _) in zip(prefix, shown, strict=False))
        if k >= len(shown) or not begins:
            return np.zeros(len(items))
        label, chance = shown[k]
        return np.array([chance if item == label else 0.0 for item in items])

    def lengths(self, positions: int) -> Floats:
        chances = [chance for _, chance in self._shown()][:positions]
        return np.array(chances + [0.0] * (positions - len(chances)))

    def sample(self, random: np.random.Generator, items: Sequence[Label]) -> list[Label]:
        extra = self.probing > 0 and random.random() < self.probing
        return [*self.slate, self.probe] if extra and self.probe is not None else [*self.slate]

    def json(self) -> Any:
        slate = self.slate if isinstance(self.slate, list) else list(self.slate)
        if not self.probing:
            return {"slate": slate}
        return {"slate": slate, "probe": self.probe, "probing": self.probing}

    def _shown(self) -> list[tuple[Label, float]]:
        """The labels in their order, and how likely the slate is so long."""
        shown: list[tuple[Label, float]] = [(label, 1.0) for label in self.slate]
        if self.probing and self.probe is not None:
            shown.append((self.probe, self.probing))
        return shown
