"""A ranking in the making: labels that were looked at, and whether any other can be among the best.

Scores are compared as everywhere: on a grid, and then by tie.
"""

from __future__ import annotations

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.models.gpu.search import Candidates
from semibandit.models.model import Look
from semibandit.models.partial import Aim, Found

__all__ = ["Ranking"]

EQUAL = 1e-12  # scores this close are equal: those of labels with the same history


class Ranking:
    """The best labels for an aim, of those without a row (`cold`) and of candidates with one."""

    def __init__(self, aim: Aim, xx: float, cold: Ints) -> None:
        self.aim = aim
        self.cold, self.zeros, self.norms = cold, np.zeros(len(cold)), np.full(len(cold), xx)
        self._take(cold, self.zeros, self.norms)
        self.looked = 0

    def complete(self, found: Candidates) -> bool:
        """Take these candidates instead of those before; whether no other label can be better."""
        if len(self.cold):
            labels = np.concatenate([self.cold, found.labels])
            margin = np.concatenate([self.zeros, found.margin])
            self._take(labels, margin, np.concatenate([self.norms, found.norm2]))
        else:
            self._take(found.labels, found.margin, found.norm2)
        self.looked = len(found.labels)
        if found.rest == -np.inf:
            return True
        most, grid = self.aim.most, self.aim.grid
        enough = len(self.labels) >= most
        return enough and round(found.rest * grid) < round(float(self.best_scores[most - 1]) * grid)

    def is_undecided(self, error: float) -> bool:
        """Whether two of the best, or the last of them and the next, are too close to tell."""
        score = self.best_scores
        gap = score[:-1] - score[1:]
        return bool(((gap > EQUAL) & (gap < error)).any())

    def found(self, x: Floats) -> Found:
        """All labels that were looked at, sorted."""
        order = self.labels.argsort()
        look = Look(x, self.margin[order], self.norm2[order])
        return Found(self.labels[order], look, self.looked)

    def _take(self, labels: Ints, margin: Floats, norm2: Floats) -> None:
        """These are the labels; `best_scores` are the best, and the next, from the largest on."""
        self.labels, self.margin, self.norm2 = labels, margin, norm2
        score = self.aim.scores(margin, norm2)
        score.sort()
        self.best_scores: Floats = score[::-1][: self.aim.most + 1]
