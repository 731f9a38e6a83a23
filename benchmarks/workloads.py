"""The workloads: contexts and answers of four shapes, the same for everyone who is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

import semibandit as sb
from semibandit.data.download import cache
from semibandit.experiments.sets import stand_in

SLOTS = 10


@dataclass(frozen=True)
class Workload:
    name: str
    X: Any  # T×d
    Y: Any  # T×K
    source: str

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.X.shape[0], self.X.shape[1], self.Y.shape[1]


def standing_in(name: str, shape: str) -> Workload:
    """A synthetic world of the shape of a real set."""
    data = stand_in(shape)
    return Workload(name, data.X_train, data.Y_train, data.source)


def even(name: str, T: int, d: int, K: int, relevant: int = 20, seed: int = 0) -> Workload:
    """Even contexts and a few relevant labels a round, kept sparse: for very many labels."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((T, d))
    rows, columns = np.repeat(np.arange(T), relevant), random.integers(0, K, T * relevant)
    Y = sparse.csr_array((np.ones(T * relevant, np.uint8), (rows, columns)), shape=(T, K))
    Y.sum_duplicates()
    Y.data[:] = 1
    return Workload(name, X, Y, f"synthetic, {relevant} relevant labels a round")


def M() -> Workload:
    if cache.cached_path("mediamill") is not None:
        data = sb.read_dataset("mediamill")
        return Workload("M", np.asarray(data.X_train, dtype=np.float64), data.Y_train, "Mediamill")
    return standing_in("M", "mediamill-like")


def Y() -> Workload:
    return standing_in("Y", "sony-like")


def L() -> Workload:
    return even("L", 2_000, 64, 10_000)


def L100() -> Workload:
    return even("L at K=100", 2_000, 64, 100, relevant=5)


def XL() -> Workload:
    return even("XL", 2_000, 128, 1_000_000)
