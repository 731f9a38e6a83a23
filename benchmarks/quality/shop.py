"""A shop whose truth is known: visitors, items, and the probability of every click.

An item's click probability is logistic in the visitor's features, with weights drawn per item. The
mean over items and visits is 3%, and half of the items lie between 1.7 and 3.8%; a slate of five at
random gets a click in one visit of seven. All of a stream follows from its seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.quality.measures import value_of

SLOTS, VISITS, ITEMS = 5, 20_000, 200
BEFORE, AFTER = 40_000, 10_000  # visits before and after a change of all tastes
MEAN = 0.03  # the click probability, over items and visitors
POPULARITY = 0.6  # the standard deviation of the logarithms of the items' mean probabilities
SPREAD = 1.0  # the standard deviation of an item's log-odds over visitors
EXAMINED = np.array([1.0, 0.7, 0.5, 0.4, 0.3])  # how probably a visitor looks at each position


@dataclass(frozen=True)
class Stream:
    """The visits of a shop: contexts as the learner sees them, click probabilities, clicks."""

    X: Any  # T×12
    P: Any  # T×200: the probability of a click on the item, once it is looked at
    Y: Any  # T×200: whether it would be clicked

    def expected(self, slates: Any, looks: Any) -> Any:
        """The expected clicks of each visit's slate, if position j is looked at with looks[j]."""
        return value_of(self.P, slates, looks)

    def best(self, looks: Any) -> Any:
        """The expected clicks of the best slate of each visit."""
        return -np.sort(-self.P, axis=1)[:, :SLOTS] @ looks

    def random(self, looks: Any) -> Any:
        """The expected clicks of a slate drawn at random."""
        return self.P.mean(axis=1) * looks.sum()


def visitors(random: np.random.Generator, n: int) -> Any:
    """Twelve features of n visitors on the scales that such numbers have."""
    return np.column_stack(
        [
            random.normal(42.0, 14.0, n).clip(18, 90).round(),  # age, years
            random.gamma(2.0, 150.0, n),  # value of the basket, euros
            random.gamma(1.5, 1200.0, n),  # spent last year, euros
            2000.0 + random.integers(0, 25, n),  # customer since
            random.beta(2.0, 8.0, n),  # share of orders returned
            random.beta(2.0, 2.0, n),  # share of visits by phone
            random.poisson(4.0, n),  # visits in the last month
            random.poisson(10.0, n),  # items seen in this visit
            random.integers(0, 24, n),  # hour of the day
            random.normal(12.0, 8.0, n),  # temperature outside, degrees
            random.random(n) < 0.4,  # reads the newsletter
            random.beta(2.0, 5.0, n),  # share of orders at a discount
        ]
    ).astype(np.float64)


@lru_cache(maxsize=1)
def _moments() -> tuple[Any, Any]:
    """The mean and the deviation of each feature, for tastes that do not depend on scales."""
    many = visitors(np.random.default_rng(0), 200_000)
    return many.mean(axis=0), many.std(axis=0)


def tastes(random: np.random.Generator) -> tuple[Any, Any]:
    """Weights per item, and the log-odds that give each item its mean click probability."""
    mean, deviation = _moments()
    W = random.standard_normal((ITEMS, len(mean))) * SPREAD / np.sqrt(len(mean))
    aim = np.exp(POPULARITY * random.standard_normal(ITEMS))
    aim *= MEAN / aim.mean()
    part = (visitors(np.random.default_rng(1), 4_000) - mean) / deviation @ W.T
    low, high = np.full(ITEMS, -12.0), np.zeros(ITEMS)
    for _ in range(40):
        middle = 0.5 * (low + high)
        below = _logistic(part + middle).mean(axis=0) < aim
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return W, 0.5 * (low + high)


def stream(seed: int, *, raw: bool, change: bool = False) -> Stream:
    """All visits of one shop; `change` draws new tastes for all items after 40,000 of them."""
    random = np.random.default_rng([seed, 12])
    mean, deviation = _moments()
    sizes = (BEFORE, AFTER) if change else (VISITS,)
    X, P = [], []
    for n in sizes:
        W, offset = tastes(random)
        given = visitors(random, n)
        Z = (given - mean) / deviation
        X.append(given if raw else Z)
        P.append(_logistic(Z @ W.T + offset))
    X, P = np.concatenate(X), np.concatenate(P)
    return Stream(X, P, (random.random(P.shape) < P).astype(np.uint8))


def _logistic(m: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-m))
