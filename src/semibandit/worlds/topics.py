"""Worlds of a given density: contexts are mixtures of topics, and each label has a few topics."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.errors import InputError
from semibandit.theory.surrogate import Surrogate

__all__ = ["topic_contexts", "topic_weights"]

SAMPLE = 4096  # contexts over which the density is measured


def topic_contexts(random: np.random.Generator, n: int, n_features: int) -> Floats:
    """Return n contexts (1, v)/sqrt(2): v >= 0 with ||v|| = 1 says how much of each topic there is.

    Few topics of a context are strong.
    """
    v = random.gamma(0.08, size=(n, n_features - 1)) + 1e-12
    v /= np.linalg.norm(v, axis=1)[:, None]
    return np.asarray(np.concatenate([np.ones((n, 1)), v], axis=1) / math.sqrt(2.0))


def topic_weights(
    random: np.random.Generator, n_labels: int, n_features: int, loss: Surrogate, density: float
) -> Floats:
    """Return weights u_i for which the mean probability over contexts and labels is `density`.

    The margins are Δ_i = -B + z_i (R+B) q_i·v, with v the topics of the context and q_i >= 0 those
    of label i. z_i = min(1, z/rank_i) makes some labels popular and many rare; z sets the density.
    Each label gets as few topics as reach the density.
    """
    K, M, R, p = n_labels, n_features - 1, loss.R, loss.prob
    B = _offset(loss, density)
    v = topic_contexts(random, SAMPLE, n_features)[:, 1:] * math.sqrt(2.0)
    rank = 1.0 + random.permutation(K)
    position = np.argsort(random.random((K, M)), axis=1).argsort(axis=1)  # of a topic, per label
    strength = random.uniform(0.5, 1.0, size=(K, M))
    highest = 0.0
    for n_topics in range(1, M + 1):
        q = np.where(position < n_topics, strength, 0.0)
        similarity = v @ (q / np.linalg.norm(q, axis=1)[:, None]).T

        def mean(z: float, similarity: Floats = similarity) -> float:
            margin = -B + np.minimum(1.0, z / rank) * (R + B) * similarity
            return float(p(np.minimum(margin, R)).mean())

        highest = mean(K)
        if highest >= density:
            z = np.minimum(1.0, _bisect(mean, density, 0.0, K) / rank)
            q *= (z * (R + B) / np.linalg.norm(q, axis=1))[:, None]
            return np.concatenate([np.full((K, 1), -B), q], axis=1) * math.sqrt(2.0)
    raise InputError(
        f"density = {density} is more than this world can reach, {highest:.3g}; "
        "take a smaller one, or leave it out"
    )


def _offset(loss: Surrogate, density: float) -> float:
    """Return B, the margin -B of a label without the context's topics: p(-B) is density/2."""
    R = loss.R
    lowest, highest = float(loss.prob(-R)), float(loss.prob(R))
    if not lowest < density < highest:
        raise InputError(
            f"density = {density}, but {loss!r} gives probabilities in "
            f"({lowest:.3g}, {highest:.3g})"
        )
    if density / 2 <= lowest:
        return R
    return -_bisect(lambda m: float(loss.prob(m)), density / 2, -R, R)


def _bisect(f: Callable[[float], float], value: float, low: float, high: float) -> float:
    """Return the point in [low, high] at which the increasing function f takes the value."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if f(middle) < value else (low, middle)
    return 0.5 * (low + high)
