"""A simulated shop for pictures: how likely each item is clicked in each visit is known."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Shop:
    """Items that are clicked with probability 1/(1 + exp(-(b_i + u_i·x))) if they are shown."""

    items: int = 40
    features: int = 8

    def tastes(self, seed):
        """b_i, how popular an item is, and u_i, who likes it; a row for each item."""
        random = np.random.default_rng([seed, 1])
        popular = random.normal(-3.0, 0.7, size=(self.items, 1))
        return np.hstack([popular, random.normal(0.0, 0.7, size=(self.items, self.features))])

    def visits(self, n, seed, tastes=None):
        """Contexts, how likely each item is clicked, and whether it would be."""
        random = np.random.default_rng([seed, 2])
        X = random.normal(size=(n, self.features))
        tastes = self.tastes(seed) if tastes is None else tastes
        P = 1 / (1 + np.exp(-(tastes[:, 0] + X @ tastes[:, 1:].T)))
        return X, P, random.random(P.shape) < P


def share_of_the_way(P, slates, slots):
    """For each visit: clicks expected beyond random slates ÷ those of the best slates on average.

    `slates` has items in each line, -1 for an empty slot; a single line is shown to everybody.
    """
    slates = np.broadcast_to(slates, (len(P), slates.shape[-1]))
    shown = np.where(slates >= 0, np.take_along_axis(P, np.maximum(slates, 0), 1), 0).sum(1)
    random = P.mean(1) * slots
    best = np.sort(P, axis=1)[:, -slots:].sum(1)
    return (shown - random) / (best - random).mean()
