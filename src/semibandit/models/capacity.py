"""Arrays with spare capacity, so that appending to them rarely copies."""

from __future__ import annotations

import numpy as np

from semibandit._util.arrays import Array

__all__ = ["with_capacity"]


def with_capacity(array: Array, used: int, need: int, most: int | None = None) -> Array:
    """Return the array, or a larger copy of its used part if it has fewer than `need` entries.

    A copy has room for at least twice the used part, but never for more than `most` entries.
    """
    if most is not None:
        need = min(need, most)
    if need <= len(array):
        return array
    size = max(need, 2 * used, 4)
    larger = np.empty((size if most is None else min(size, most), *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger
