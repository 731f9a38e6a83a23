"""What this machine can do, measured beside everything else."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np


def seconds(work: Callable[[], object], repeat: int = 3) -> float:
    """The least of a few runs."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def dgemm_rate(n: int = 4096) -> float:
    """Floating-point operations a second of a large matrix product, one BLAS thread."""
    a, b, out = (np.random.default_rng(0).random((n, n)) for _ in range(3))
    return 2 * n**3 / seconds(lambda: np.dot(a, b, out=out), 2)


def bandwidth() -> float:
    """Bytes a second read and written by a large copy."""
    a = np.ones(2**25)
    out = np.empty_like(a)
    return 2 * a.nbytes / seconds(lambda: np.copyto(out, a), 5)
