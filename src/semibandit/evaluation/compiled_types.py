"""What the compiled loops of this room take: arrays with names.

A label is its row of the model here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semibandit._util.arrays import Array, Bools, Floats, Ints
from semibandit.models.compiled_types import FadingArrays

__all__ = ["DiagonalArrays", "Entries", "Outcome", "RoundInput", "Untouched"]


class RoundInput(NamedTuple):
    """Rounds to be played, except their contexts."""

    labels: Ints  # the labels there are
    spread: Floats  # ε = spread·sqrt(x·A⁻¹x) in each round; empty if the loop uses no widths
    slots: Ints  # how many labels may be shown in each round
    probe: Bools  # whether one more label may be shown in each round; empty if never
    mask: Bools  # rounds × labels: who may be shown; empty if all may
    ptr: Ints  # the relevant labels of round t are indices[ptr[t]:ptr[t + 1]], sorted
    indices: Ints


class Outcome(NamedTuple):
    """What was shown in each round: labels padded with -1, which were relevant, how many."""

    slates: Array
    hits: Bools
    sizes: Ints

    @classmethod
    def empty(cls, rounds: int, most: int) -> Outcome:
        """Rounds that have shown nothing, with room for slates of up to `most` labels."""
        return cls(
            np.full((rounds, most), -1, dtype=np.int32),
            np.zeros((rounds, most), dtype=np.bool_),
            np.zeros(rounds, dtype=np.intp),
        )

    def part(self, first: int, end: int) -> Outcome:
        """Rounds first..end, to be written through."""
        return Outcome(self.slates[first:end], self.hits[first:end], self.sizes[first:end])


class Entries(NamedTuple):
    """Contexts by their nonzero entries; those of round t are number ptr[t] to ptr[t + 1]."""

    ptr: Ints
    feature: Ints
    value: Floats


class DiagonalArrays(NamedTuple):
    """A `DiagonalState`, feature by label."""

    w: Floats
    A: Floats
    A_inv: Floats
    fading: FadingArrays


class Untouched(NamedTuple):
    """Labels that were untouched when replay began, in the order in which equal labels come."""

    labels: Ints
    first: Ints  # one number: all labels before this place have been touched since
