"""What is measured of a run."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import Any

import numpy as np

OFTEN, SHARE, HARDLY = 20, 0.02, 0.1  # of the rounds of the last fifth, and of OBR's showings


def share_of_the_way(got: Any, best: Any, random: Any) -> float:
    """How far the mean of `got` lies from that of random slates to that of the best ones."""
    low, high = float(np.mean(random)), float(np.mean(best))
    return (float(np.mean(got)) - low) / (high - low)


def last_fifth(T: int) -> slice:
    """The rounds of the last fifth of T."""
    return slice(T - T // 5, T)


def counts_of(slates: Any, K: int) -> Any:
    """How often each label was shown in these slates, which are padded with -1."""
    return np.bincount(slates[slates >= 0], minlength=K)


def value_of(values: Any, slates: Any, weights: Any = 1.0) -> Any:
    """The weighted sum of each round's values over the labels shown; slates are padded with -1."""
    taken = np.take_along_axis(values, slates.clip(0).astype(np.intp), axis=1)
    weights = np.broadcast_to(weights, (slates.shape[1],))
    return np.where(slates >= 0, taken, 0.0) @ weights


def lost(ours: Sequence[int], theirs: Sequence[int], rounds: int) -> int:
    """How many labels were shown often by them, and by us less than a tenth as often."""
    us, them = np.asarray(ours), np.asarray(theirs)
    often = (them >= OFTEN) & (them >= SHARE * rounds)
    return int(np.count_nonzero(often & (us < HARDLY * them)))


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of positive numbers."""
    return exp(sum(map(log, values)) / len(values))
