"""Data sets for experiments: by name, by path, projected, or drawn from a synthetic world."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.data.dataset import Dataset
from semibandit.data.read import read_dataset
from semibandit.theory.surrogate import Square
from semibandit.worlds.synthetic import Synthetic

__all__ = ["PROJECTED", "STAND_INS", "dataset", "needs", "probabilities", "stand_in"]

STAND_INS = {  # rows, features, labels, density
    "sony-like": (16_452, 98, 632, 0.02),  # the size of Sony CSL Paris, which is proprietary
    "mediamill-like": (30_993, 120, 101, 0.043),  # if Mediamill cannot be fetched
    "tags-world": (16_452, 98, 632, 0.02),  # Sony's size, with labels that can be predicted
}
PROJECTED = {"delicious-98": ("delicious", 98)}  # a set of the catalogue, and the features left
TOPIC_MIX = 0.02  # of `tags-world`: the shape of the gamma variables that mix topics
NO_TOPIC = 0.998  # of `tags-world`: a label without the topic has the margin -0.998


@lru_cache(maxsize=4)
def dataset(name: str, columns: tuple[str, ...] | str | None = None) -> Dataset:
    """The data set of this name or path: a stand-in is drawn, others are read, or fetched once.

    `columns` of a table are read as they are; an .npz file holds what was read before.
    """
    if name in STAND_INS:
        return stand_in(name)
    if name in PROJECTED:
        return _projected(name)
    table = Path(name).exists() and Path(name).suffix != ".npz"
    return read_dataset(name, columns=columns if table else None)


def needs(name: str) -> str:
    """The set of the catalogue that this one is made of; its own name if it is none of ours.

    >>> needs("delicious-98"), needs("yeast")
    ('delicious', 'yeast')
    """
    return PROJECTED[name][0] if name in PROJECTED else name


def stand_in(name: str, seed: int = 0) -> Dataset:
    """Rows of a synthetic world of that size; labels are drawn by the square model, eq. (2)."""
    if name == "tags-world":
        X, prob = _tags_world(seed)
        Y = np.random.default_rng([seed, 1]).random(prob.shape) < prob
        source = f"one topic a label, a few topics a context, seed {seed}"
        return Dataset(name, X, Y, source=f"a synthetic world: {source}")
    T, d, K, density = STAND_INS[name]
    world = Synthetic(d, K, density=density, seed=seed)
    X, Y = np.empty((T, d)), np.zeros((T, K), dtype=np.uint8)
    for t in range(T):
        X[t] = world.context(t)
        Y[t, world.relevant(t, X[t])] = 1
    return Dataset(name, X, Y, source=f"a synthetic world, density {density:g}, seed {seed}")


def probabilities(name: str) -> Floats:
    """How likely each label of each row of a stand-in is relevant, rows × labels."""
    if name == "tags-world":
        return _tags_world(0)[1]
    _, d, K, density = STAND_INS[name]
    world = Synthetic(d, K, density=density, seed=0)
    return np.array([world.prob(x) for x in _array(dataset(name).X_train)])


def _tags_world(seed: int) -> tuple[Floats, Floats]:
    """Contexts (1, v)/√2, where v >= 0 with ||v|| = 1 mixes topics, and the probabilities.

    Each label has one topic, k: its margin is -B + (1 + B)·v_k, with B = `NO_TOPIC`. Contexts have
    one strong topic, mostly, so that most relevant labels have a probability above 1/2.
    """
    T, d, K, _ = STAND_INS["tags-world"]
    random = np.random.default_rng([seed, 0])
    v = random.gamma(TOPIC_MIX, size=(T, d - 1)) + 1e-12
    v /= np.linalg.norm(v, axis=1)[:, None]
    topic = random.integers(d - 1, size=K)
    margin = -NO_TOPIC + (1.0 + NO_TOPIC) * v[:, topic]
    X = np.concatenate([np.ones((T, 1)), v], axis=1) / np.sqrt(2.0)
    return X, Square().prob(np.clip(margin, -1.0, 1.0))


def _projected(name: str) -> Dataset:
    """A constant, and the projections of unit contexts on d - 1 directions, to unit length.

    The directions are the singular vectors of the test part, which is not replayed.
    """
    original, d = PROJECTED[name]
    full = read_dataset(original)
    assert full.X_test is not None
    train, test = (_unit(_array(X)) for X in (full.X_train, full.X_test))
    _, _, directions = np.linalg.svd(test, full_matrices=False)
    X = _unit(train @ directions[: d - 1].T)
    X = np.concatenate([np.ones((len(X), 1)), X], axis=1) / np.sqrt(2.0)
    what = f"{original}: a constant, and {d - 1} directions of its test part"
    return Dataset(name, X, full.Y_train, source=f"{what}; {full.source}")


def _array(X: object) -> Floats:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def _unit(X: Floats) -> Floats:
    return np.asarray(X / np.maximum(np.linalg.norm(X, axis=1), 1e-12)[:, None])
