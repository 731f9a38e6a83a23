"""Importance weights e/b: how much likelier the target policy was to show what was shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Bools, Floats
from semibandit.evaluation.off_policy.chunk import Chunk
from semibandit.evaluation.off_policy.probabilities import (
    Distributions,
    Propensities,
    read_distributions,
)
from semibandit.policies.distributions.distribution import SlateDistribution

__all__ = ["KINDS", "SlowVisits", "Weights", "impossible", "logged_propensities", "weights"]

KINDS = ("slate", "prefix", "item")  # what propensities, and so weights, are of


@dataclass(eq=False)
class Weights:
    """The weights of a chunk of visits.

    Parameters
    ----------
    slate : array
        e(s)/b(s) of the whole slate, (visits,).
    prefix, item : arrays
        Those of the labels up to each position, and of the label at each position: (visits,
        positions), 0 if nothing was shown there.
    expected : array
        What the prefix and the item weight are in expectation: how likely the target shows a label
        at this position. Logs of single items have it for the positions in the log.
    known : mapping of arrays of bool
        For which visits the log knows the propensities, by kind; the weights of others are 0.
    target : Propensities
        How likely the target was to show what was shown.
    logged : Propensities
        How likely the log was.
    """

    slate: Floats
    prefix: Floats
    item: Floats
    expected: Floats
    known: dict[str, Bools]
    target: Propensities
    logged: Propensities


class SlowVisits:
    """Counts visits whose item propensities take milliseconds each (those of Plackett-Luce).

    Parameters
    ----------
    most : int
        After so many no more are computed, so that a long log is evaluated in bounded time.
    """

    def __init__(self, most: int = 10_000) -> None:
        self.most = most
        self.count = 0

    @property
    def exceeded(self) -> bool:
        """Whether there were too many."""
        return self.count > self.most

    @property
    def why(self) -> str:
        """Why there are no such propensities if there were too many."""
        return (
            "how likely each label is at each position takes long to compute for Plackett-Luce, so "
            f"it is done for {self.most:,} visits at most: read snRIPS or Cascade-DR"
        )

    def allow(self, visits: int) -> bool:
        """Count these visits, and say whether theirs are to be computed."""
        self.count += visits
        return not self.exceeded


def weights(
    chunk: Chunk, targets: Distributions, logged: Propensities, slow: SlowVisits | None = None
) -> Weights:
    """The weights of visits whose logged propensities are known and above 0, or nan if unknown."""
    present = chunk.present
    target = targets.propensities(chunk, slow is None or slow.allow(len(targets.other)))
    known = _known(chunk, logged)
    single = ~known["slate"] & ~known["prefix"]
    expected = targets.lengths(chunk.positions)
    expected[single] *= present[single]
    return Weights(
        _ratio(target.slate, logged.slate),
        _ratio(target.prefix, logged.prefix) * present,
        _ratio(target.item, logged.item) * present,
        expected, known, target, logged,
    )  # fmt: skip


def logged_propensities(chunk: Chunk, slow: SlowVisits | None = None) -> Propensities:
    """How likely what was shown was by the log: nan if the log does not know it.

    What a visit does not say follows from its distribution, if the log has it.
    """
    visits = chunk.visits
    slate = np.array([np.nan if v.slate_propensity is None else v.slate_propensity for v in visits])
    found = Propensities(
        slate,
        chunk.spread([v.prefix_propensity for v in visits]),
        chunk.spread([v.item_propensity for v in visits]),
    )
    incomplete = np.flatnonzero(
        [
            v.logging is not None
            and (v.slate_propensity is None or v.prefix_propensity is None
                 or v.item_propensity is None)
            for v in visits
        ]
    )  # fmt: skip
    if len(incomplete):
        logging = [_logging(visits[i].logging) for i in incomplete.tolist()]
        part = chunk.select(incomplete)
        distributions = read_distributions(logging, chunk.codes)
        items = slow is None or slow.allow(len(distributions.other))
        follows = distributions.propensities(part, items)
        for kind in KINDS if items else KINDS[:2]:
            mine = getattr(found, kind)
            values = mine[incomplete]
            mine[incomplete] = np.where(np.isnan(values), getattr(follows, kind), values)
    return found


def impossible(chunk: Chunk, logged: Propensities) -> Bools:
    """Visits that show what has probability 0 by their own log: no weight can make up for them."""
    present = chunk.present
    return np.asarray(
        (logged.slate <= 0)
        | np.any(present & (logged.prefix <= 0), axis=1)
        | np.any(present & (logged.item <= 0), axis=1)
    )


def _known(chunk: Chunk, logged: Propensities) -> dict[str, Bools]:
    return {
        "slate": ~np.isnan(logged.slate),
        "prefix": ~np.isnan(logged.prefix).any(axis=1) & _has_prefix(chunk),
        "item": np.asarray(~np.isnan(logged.item).any(axis=1)),
    }


def _has_prefix(chunk: Chunk) -> Bools:
    """Visits without labels know their prefixes only if the log knows any."""
    given: Sequence[bool] = [
        v.prefix_propensity is not None or v.logging is not None for v in chunk.visits
    ]
    return np.array(given, dtype=np.bool_)


def _logging(distribution: SlateDistribution | None) -> SlateDistribution:
    assert distribution is not None
    return distribution


def _ratio(target: Floats, logged: Floats) -> Floats:
    """target/logged, 0 if the log does not know."""
    usable = logged > 0  # false for nan
    return np.asarray(np.divide(target, logged, out=np.zeros_like(target), where=usable))
