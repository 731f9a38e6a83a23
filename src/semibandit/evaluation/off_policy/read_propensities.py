"""LoggedPropensities out of a log: how likely what was shown was, or why that cannot be used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import le
from typing import Any, NamedTuple

from semibandit.errors import FileError
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.propensities import known_propensities
from semibandit.policies.distributions.read import read_distribution
from semibandit.policies.labels import Label

__all__ = ["NOT_LOGGED", "LoggedPropensities", "read_propensities"]

NOT_LOGGED = "decisions without propensities"
ZERO = "decisions with a propensity of 0 for what was shown"
NO_PROBABILITY = "decisions with propensities that are not probabilities"
ANOTHER_LENGTH = "decisions with propensities for another number of labels"
NOT_FALLING = "decisions with propensities that contradict each other"
CONTRADICTION = "decisions with propensities that contradict the distribution"
DAMAGED = "decisions with a damaged distribution"
REPEATED = "decisions with a label shown twice"

LARGEST = 1 + 1e-9  # of a probability, or of the ratio of two: sums are rounded
NUMBERS = {float, int}
AGREE = 1e-6  # relative difference between a logged propensity and that of the distribution


class LoggedPropensities(NamedTuple):
    """How likely what was shown was, as in `LoggedVisit`."""

    slate: float | None
    prefix: list[float] | None
    item: list[float] | None
    logging: SlateDistribution | None


def read_propensities(body: Mapping[str, Any], shown: list[Label]) -> LoggedPropensities | str:
    """The propensities of a decision; or the reason why they cannot be used.

    Parameters
    ----------
    body : mapping
        The decision's fields, as the log has them.
    shown : list of labels
        What was shown.
    """
    slate: Any = body.get("slate_propensity")
    given = body.get("distribution")
    prefix, item = body.get("prefix_propensity"), body.get("item_propensity")
    if slate is None and prefix is None and item is None and given is None:
        return NOT_LOGGED
    if len(set(shown)) < len(shown):
        return REPEATED
    logging = None
    if given is not None:
        try:
            logging = read_distribution(given)
        except FileError:
            return DAMAGED
        known = known_propensities(logging, shown)
        if known is not None and known.slate > 0 and known == (slate, prefix, item):
            return LoggedPropensities(*known, logging)  # what the log says is what follows
        if slate is None:
            slate = logging.slate_propensity(shown)
        if prefix is None:
            prefix = logging.prefix_propensity(shown).tolist()
    wrong = _wrong(slate, prefix, item, len(shown))
    if wrong:
        return wrong
    if logging is not None:
        true = logging.slate_propensity(shown)
        if not math.isclose(true, float(slate), rel_tol=AGREE, abs_tol=0.0):
            return CONTRADICTION
    return LoggedPropensities(None if slate is None else float(slate), prefix, item, logging)


def _wrong(slate: Any, prefix: Any, item: Any, n: int) -> str | None:
    """Why these numbers are not propensities of one slate of n labels; None if they may be."""
    numbers = [] if slate is None else [slate]
    for row in (prefix, item):
        if row is not None:
            if type(row) is not list or len(row) != n:
                return ANOTHER_LENGTH
            numbers += row
    if not NUMBERS.issuperset(map(type, numbers)):
        return NO_PROBABILITY
    if 0 in numbers:
        return ZERO
    if numbers and not (min(numbers) > 0 and max(numbers) <= LARGEST and sum(numbers) > 0):
        return NO_PROBABILITY  # the sum is not, if there is a nan
    if prefix is None:
        return None
    longer = prefix[1:] if slate is None else [*prefix[1:], slate]
    falls = _at_most(longer, prefix)
    return None if falls and (item is None or _at_most(prefix, item)) else NOT_FALLING


def _at_most(one: list[float], other: list[float]) -> bool:
    """Whether numbers are no larger than others, but for rounding."""
    return all(map(le, one, other)) or all(
        p <= q * LARGEST for p, q in zip(one, other, strict=False)
    )
