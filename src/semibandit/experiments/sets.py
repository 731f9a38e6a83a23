"""Data sets for experiments: by name, by path, or a stand-in drawn from a synthetic world."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from semibandit.data.dataset import Dataset
from semibandit.data.read import read_dataset
from semibandit.worlds.synthetic import Synthetic

__all__ = ["STAND_INS", "dataset", "stand_in"]

STAND_INS = {  # rows, features, labels, density
    "sony-like": (16_452, 98, 632, 0.02),  # the size of Sony CSL Paris, which is proprietary
    "mediamill-like": (30_993, 120, 101, 0.043),  # if Mediamill cannot be fetched
}


@lru_cache(maxsize=4)
def dataset(name: str, columns: tuple[str, ...] | str | None = None) -> Dataset:
    """The data set of this name or path: a stand-in is drawn, others are read, or fetched once.

    `columns` of a table are read as they are; an .npz file holds what was read before.
    """
    if name in STAND_INS:
        return stand_in(name)
    table = Path(name).exists() and Path(name).suffix != ".npz"
    return read_dataset(name, columns=columns if table else None)


def stand_in(name: str, seed: int = 0) -> Dataset:
    """Rows of a synthetic world of that size: contexts in topics, labels by the square model."""
    T, d, K, density = STAND_INS[name]
    world = Synthetic(d, K, density=density, seed=seed)
    X, Y = np.empty((T, d)), np.zeros((T, K), dtype=np.uint8)
    for t in range(T):
        X[t] = world.context(t)
        Y[t, world.relevant(t, X[t])] = 1
    return Dataset(name, X, Y, source=f"a synthetic world, density {density:g}, seed {seed}")
