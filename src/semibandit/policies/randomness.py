"""Random numbers that follow from what is known: there is no hidden state to save."""

from __future__ import annotations

import hashlib

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.models.model import Sparse, Vector

__all__ = ["generator_for", "tie_order"]


def generator_for(seed: int, t: int, draw: int, x: Vector) -> np.random.Generator:
    """A generator that is a function of seed, round, draw number and context alone.

    A context gives the same generator whether it is dense or sparse.
    """
    index = x.index if isinstance(x, Sparse) else np.flatnonzero(x)
    value = x.value if isinstance(x, Sparse) else x[index]
    key = index[value != 0].tobytes() + value[value != 0].tobytes()
    digest = hashlib.blake2b(key, digest_size=16).digest()
    words = np.frombuffer(digest, dtype=np.uint32).tolist()
    return np.random.default_rng([seed, t, draw, *words])


def tie_order(seed: int, first: int, n: int) -> Floats:
    """A fixed random order among equal labels, for labels number first, first + 1, ..."""
    return np.random.default_rng([seed, 1, first]).random(n)
