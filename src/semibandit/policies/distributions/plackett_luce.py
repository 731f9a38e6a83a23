"""Plackett-Luce: labels drawn one after the other by a softmax, without replacement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.race import Race, log_sum_exp
from semibandit.policies.labels import Label

__all__ = ["PlackettLuceSlates"]


@dataclass(frozen=True)
class PlackettLuceSlates(SlateDistribution):
    """The label at each position is drawn by a softmax of the scores of those that are left.

    Parameters
    ----------
    scores : mapping of labels to float
        log λ of every label that may be shown: its score divided by the temperature.
    length : int
        How many labels a slate has, at most as many as there are.
    probing : float
        How likely a slate has one label more, drawn like the others; 0 if there is none left.

    Examples
    --------
    >>> import math
    >>> slates = PlackettLuceSlates({"tea": math.log(3), "milk": 0.0, "juice": 0.0}, length=2)
    >>> slates.prefix_propensity(["tea", "milk"]).round(3)
    array([0.6, 0.3])
    >>> slates.item_propensity(["milk", "tea"]).round(3)  # P(milk first), P(tea second)
    array([0.2, 0.3])
    """

    scores: Mapping[Label, float]
    length: int
    probing: float = 0.0

    def slate_propensity(self, labels: Sequence[Label]) -> float:
        extra = len(labels) - self.length
        if extra not in (0, 1):
            return 0.0
        chance = self.probing if extra else 1.0 - self.probing
        return chance * (float(self._drawn_first(labels)[-1]) if labels else 1.0)

    def prefix_propensity(self, labels: Sequence[Label]) -> Floats:
        return self._drawn_first(labels) * self.lengths(len(labels))

    def item_propensity(self, labels: Sequence[Label]) -> Floats:
        found, most = np.zeros(len(labels)), self._longest
        known = [(k, self._row[one]) for k, one in enumerate(labels[:most]) if one in self._row]
        if not known:
            return found
        positions, rows = (np.array(column) for column in zip(*known, strict=True))
        found[positions] = self._race.marginals_at(rows, positions)
        return found * self.lengths(len(labels))

    def marginals(self, items: Sequence[Label], positions: int) -> Floats:
        found, most = np.zeros((len(items), positions)), min(self._longest, positions)
        there = [(i, self._row[item]) for i, item in enumerate(items) if item in self._row]
        if not there or not most:
            return found
        places, rows = (np.array(column) for column in zip(*there, strict=True))
        found[places, :most] = self._race.marginals()[rows, :most]
        return found * self.lengths(positions)

    def next_item(self, prefix: Sequence[Label], items: Sequence[Label]) -> Floats:
        k = len(prefix)
        chance = self.lengths(k + 1)[k]
        if not chance or (k and not self.prefix_propensity(prefix)[-1]):
            return np.zeros(len(items))
        rest = np.ones(len(self._log), dtype=np.bool_)
        rest[[self._row[label] for label in prefix]] = False
        whole, out = log_sum_exp(self._log[rest]), set(prefix)
        left = [-np.inf if one in out else self.scores.get(one, -np.inf) for one in items]
        return np.asarray(chance * np.exp(np.array(left, dtype=np.float64) - whole))

    def lengths(self, positions: int) -> Floats:
        found = np.zeros(positions)
        found[: self.length] = 1.0
        found[self.length : self.length + 1] = self.probing
        return found

    def sample(self, random: np.random.Generator, items: Sequence[Label]) -> list[Label]:
        size = self.length + (self.probing > 0 and random.random() < self.probing)
        labels, noise = list(self.scores), random.gumbel(size=len(self._log))
        return [labels[row] for row in best_first(self._log + noise, size).tolist()]

    def json(self) -> Any:
        told = {"plackett_luce": [list(self.scores), list(self.scores.values())]}
        more = {"probing": self.probing} if self.probing else {}
        return {**told, "length": self.length, **more}

    @cached_property
    def _log(self) -> Floats:
        return np.fromiter(self.scores.values(), np.float64, len(self.scores))

    @cached_property
    def _row(self) -> dict[Label, int]:
        return {label: row for row, label in enumerate(self.scores)}

    @cached_property
    def _race(self) -> Race:
        return Race(self._log, self._longest)

    @property
    def _longest(self) -> int:
        """The most labels that a slate may have."""
        return self.length + (self.probing > 0)

    def _drawn_first(self, labels: Sequence[Label]) -> Floats:
        """For each k how likely the first k labels are drawn first; lengths do not matter.

        The k-th factor is λ of the label over the sum of those that are left, and that is summed
        from the end: subtracting the labels before from the whole would lose all digits.
        """
        rows = self._known_rows(labels)
        rest = np.ones(len(self._log), dtype=np.bool_)
        rest[rows] = False
        chosen = self._log[rows]
        after = np.concatenate([[log_sum_exp(self._log[rest])], chosen[::-1]])
        left = np.logaddexp.accumulate(after)[:0:-1]
        found = np.zeros(len(labels))
        found[: len(rows)] = np.exp(np.cumsum(chosen - left))
        return found

    def _known_rows(self, labels: Sequence[Label]) -> list[int]:
        """The rows of the first labels, up to one that cannot come there."""
        rows: list[int] = []
        for label in labels:
            row = self._row.get(label)
            if row is None or row in rows:
                break
            rows.append(row)
        return rows


def best_first(scores: Floats, size: int) -> Ints:
    """The rows of the `size` largest scores, largest first."""
    rows = np.arange(len(scores))
    if size < len(scores):
        rows = np.argpartition(-scores, size)[:size]
    return rows[np.argsort(-scores[rows], kind="stable")]
