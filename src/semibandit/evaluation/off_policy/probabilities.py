"""How likely what was shown is, by the distributions of many visits at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit.evaluation.off_policy.chunk import Chunk, Codes, padded
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import LEAST, UniformSlates
from semibandit.policies.labels import Label

__all__ = [
    "Distributions",
    "FixedSlates",
    "Other",
    "Propensities",
    "Uniforms",
    "read_distributions",
]

NOWHERE = -2  # a code that no shown label has


@dataclass(eq=False)
class Propensities:
    """How likely what was shown is: the whole slate, each prefix, each label at its position."""

    slate: Floats
    prefix: Floats
    item: Floats

    def select(self, rows: Ints) -> Propensities:
        """Those of some of the visits."""
        return Propensities(self.slate[rows], self.prefix[rows], self.item[rows])

    def widened(self, positions: int) -> Propensities:
        """The same with at least so many positions, at which nothing was shown."""
        return Propensities(
            self.slate, padded(self.prefix, positions), padded(self.item, positions)
        )


@dataclass(eq=False)
class FixedSlates:
    """Fixed slates, at most one for each visit.

    Parameters
    ----------
    rows : array of int
        The visit of each.
    weight : array
        How likely the visit's distribution is this slate.
    codes : array of int
        The codes of its labels, then of its probe, then `NOWHERE`.
    chance : array
        How likely the slate is so long: 1, then the probability of the probe, then 0.
    length : array of int
        Its length without the probe.
    """

    rows: Ints
    weight: Floats
    codes: Ints
    chance: Floats
    length: Ints

    def item(self, chunk: Chunk) -> Floats:
        """How likely each label shown is at its position, by this slate alone."""
        positions = chunk.positions
        same = self.codes[:, :positions] == chunk.shown[self.rows, : self.codes.shape[1]]
        found = np.zeros((len(self.rows), positions))
        found[:, : same.shape[1]] = same * self.chance[:, :positions]
        return found

    def slate(self, chunk: Chunk, prefix: Floats) -> Floats:
        """How likely exactly what was shown is, given the probabilities of its prefixes."""
        n, shown = self.length, chunk.length[self.rows]
        each = np.arange(len(n))
        begins = np.concatenate([np.ones((len(n), 1)), prefix], axis=1)
        alone = 1.0 - np.where(n < self.chance.shape[1], _at(self.chance, each, n), 0.0)
        whole = begins[each, np.minimum(n, chunk.positions)] * alone
        probed = begins[each, np.minimum(n + 1, chunk.positions)]
        return np.where(shown == n, whole, np.where(shown == n + 1, probed, 0.0))


@dataclass(eq=False)
class Uniforms:
    """Uniform slates of `length` out of n labels, at most one for each visit; see `FixedSlates`."""

    rows: Ints
    weight: Floats
    n: Ints
    length: Ints

    def has(self, positions: int) -> Bools:
        """Which positions the slates have."""
        return np.arange(positions) < self.length[:, None]

    def prefix(self, positions: int) -> Floats:
        """(n-k)!/n! for k = 1, ..., positions; 0 beyond the length."""
        left = np.maximum(self.n[:, None] - np.arange(positions), 1)
        return np.asarray(np.maximum(np.cumprod(1.0 / left, axis=1), LEAST) * self.has(positions))


@dataclass(eq=False)
class Other:
    """A distribution that is asked visit by visit."""

    row: int
    weight: float
    distribution: SlateDistribution


@dataclass(eq=False)
class Distributions:
    """The distributions of a chunk of visits: mixtures are taken apart.

    Parameters
    ----------
    fixed : list of FixedSlates
        Fixed slates; no visit is twice in the same group of them.
    uniform : list of Uniforms
        Uniform slates likewise.
    other : list of Other
        All others.
    size : int
        How many visits there are.
    allowed : array of bool, optional
        By code, which labels uniform slates consist of; all if it is None.
    """

    fixed: list[FixedSlates]
    uniform: list[Uniforms]
    other: list[Other]
    size: int
    allowed: Bools | None = None

    def lengths(self, positions: int) -> Floats:
        """For k = 1, ..., positions: how likely each visit's slate has at least k labels."""
        found = np.zeros((self.size, positions))
        for fixed in self.fixed:
            width = min(positions, fixed.chance.shape[1])
            found[fixed.rows, :width] += fixed.weight[:, None] * fixed.chance[:, :width]
        for uniform in self.uniform:
            found[uniform.rows] += uniform.weight[:, None] * uniform.has(positions)
        for one in self.other:
            found[one.row] += one.weight * one.distribution.lengths(positions)
        return found

    def propensities(self, chunk: Chunk, items: bool = True) -> Propensities:
        """How likely what was shown is; without `items`, those of others' labels are 0."""
        found = Propensities(
            np.zeros(self.size), np.zeros(chunk.shown.shape), np.zeros(chunk.shown.shape)
        )
        for fixed in self.fixed:
            item = fixed.item(chunk)
            prefix = np.minimum.accumulate(item, axis=1)
            _add(found, fixed.rows, fixed.weight, fixed.slate(chunk, prefix), prefix, item)
        for uniform in self.uniform:
            self._add_uniform(found, uniform, chunk)
        for one in self.other:
            _add_other(found, one, chunk, items)
        return found

    def uniform_prefix(self, uniform: Uniforms, chunk: Chunk) -> Floats:
        """How likely what was shown is as a prefix of these uniform slates."""
        begins = np.logical_and.accumulate(self._possible(uniform, chunk), axis=1)
        return np.asarray(uniform.prefix(chunk.positions) * begins)

    def _add_uniform(self, found: Propensities, uniform: Uniforms, chunk: Chunk) -> None:
        rows, length = uniform.rows, chunk.length[uniform.rows]
        prefix = self.uniform_prefix(uniform, chunk)
        possible = uniform.has(chunk.positions) & self._possible(uniform, chunk)
        item = possible / np.maximum(uniform.n, 1)[:, None]
        whole = np.concatenate([np.ones((len(rows), 1)), prefix], axis=1)
        slate = whole[np.arange(len(rows)), length] * (length == uniform.length)
        _add(found, rows, uniform.weight, slate, prefix, item)

    def _possible(self, uniform: Uniforms, chunk: Chunk) -> Bools:
        """Where a label is shown that uniform slates may have."""
        present = chunk.present[uniform.rows]
        if self.allowed is None:
            return present
        return np.asarray(present & self.allowed[chunk.shown[uniform.rows]])

    def longest(self) -> int:
        """The most labels that a fixed or uniform slate has."""
        widths = [one.codes.shape[1] for one in self.fixed]
        lengths = [int(one.length.max(initial=0)) for one in self.uniform]
        return max(widths + lengths, default=0)


def _add(
    found: Propensities, rows: Ints, weight: Floats, slate: Floats, prefix: Floats, item: Floats
) -> None:
    """Add a part of mixtures; a visit is in `rows` once at most."""
    found.slate[rows] += weight * slate
    found.prefix[rows] += weight[:, None] * prefix
    found.item[rows] += weight[:, None] * item


def _add_other(found: Propensities, one: Other, chunk: Chunk, items: bool) -> None:
    visit = chunk.visits[one.row]
    shown, first = visit.shown, visit.first_position
    if not first:
        found.slate[one.row] += one.weight * one.distribution.slate_propensity(shown)
        prefix = one.distribution.prefix_propensity(shown)
        found.prefix[one.row, : len(shown)] += one.weight * prefix
    if not items:
        return
    # The labels above a single item are not known, and make no difference to it.
    before = [item for item in chunk.items if item not in shown][:first]
    item = one.distribution.item_propensity([*before, *shown])[first:]
    found.item[one.row, first : first + len(shown)] += one.weight * item


def read_distributions(
    given: Sequence[SlateDistribution], codes: Codes, items: Sequence[Label] | None = None
) -> Distributions:
    """The distributions of a chunk of visits as arrays.

    Parameters
    ----------
    given : sequence of SlateDistribution
        One for each visit.
    codes : Codes
        The numbers of labels; all that were shown have one.
    items : sequence of labels, optional
        Uniform slates consist of these.
    """
    found = Distributions([], [], [], len(given))
    _read(found, np.arange(len(given)), np.ones(len(given)), given, codes)
    if items is not None:
        found.allowed = np.zeros(len(codes), dtype=np.bool_)
        found.allowed[codes.codes(items)] = True
    return found


def _read(
    found: Distributions,
    rows: Ints,
    weight: Floats,
    given: Sequence[SlateDistribution],
    codes: Codes,
) -> None:
    """Add distributions of these visits, which are theirs with probability `weight`.

    Distributions of one type are read at once: looking at each of them would take most of the time.
    """
    kinds = dict.fromkeys(map(type, given))
    if len(kinds) > 1:
        for kind in kinds:
            index = [i for i, one in enumerate(given) if type(one) is kind]
            _read(found, rows[index], weight[index], [given[i] for i in index], codes)
        return
    alike: Sequence[Any] = given
    if FixedSlate in kinds:
        found.fixed.append(_fixed(rows, weight, alike, codes))
    elif UniformSlates in kinds:
        found.uniform.append(_uniforms(rows, weight, alike))
    elif Mixture in kinds:
        _read_mixtures(found, rows, weight, alike, codes)
    else:
        found.other += map(Other, rows.tolist(), weight.tolist(), alike)


def _read_mixtures(
    found: Distributions, rows: Ints, weight: Floats, mixtures: Sequence[Mixture], codes: Codes
) -> None:
    each = [one.parts for one in mixtures]
    sizes = np.array([*map(len, each)])
    for j in range(int(sizes.max())):
        index = np.flatnonzero(sizes > j)
        shares, parts = zip(*[each[i][j] for i in index.tolist()], strict=True)
        _read(found, rows[index], weight[index] * np.array(shares), parts, codes)


def _fixed(rows: Ints, weight: Floats, slates: Sequence[FixedSlate], codes: Codes) -> FixedSlates:
    length = np.array([len(one.slate) for one in slates], dtype=np.intp)
    probing = np.array([0.0 if one.probe is None else one.probing for one in slates])
    width = max(int((length + (probing > 0)).max()), 1)
    found = np.full((len(length), width), NOWHERE)
    chance = (np.arange(width) < length[:, None]).astype(np.float64)
    found[chance > 0] = codes.codes(*[one.slate for one in slates])
    for i in np.flatnonzero(probing).tolist():
        probe = slates[i].probe
        assert probe is not None
        found[i, length[i]] = codes.codes([probe])[0]
        chance[i, length[i]] = probing[i]
    return FixedSlates(rows, weight, found, chance, length)


def _uniforms(rows: Ints, weight: Floats, slates: Sequence[UniformSlates]) -> Uniforms:
    n = np.array([one.n for one in slates], dtype=np.intp)
    return Uniforms(rows, weight, n, np.array([one.length for one in slates], dtype=np.intp))


def _at(values: Floats, rows: Ints, columns: Ints) -> Floats:
    """values[rows, columns], or the last column if there are fewer."""
    return np.asarray(values[rows, np.minimum(columns, values.shape[1] - 1)])
