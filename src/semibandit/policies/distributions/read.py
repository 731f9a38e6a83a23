"""A distribution out of the JSON that a log keeps."""

from __future__ import annotations

import math
from typing import Any

from semibandit._util.checks import shortened
from semibandit.errors import FileError
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.plackett_luce import PlackettLuceSlates
from semibandit.policies.distributions.uniform import uniform_slates
from semibandit.policies.labels import Label

__all__ = ["read_distribution"]


def read_distribution(given: Any) -> SlateDistribution:
    """The distribution whose `json` this is; `FileError` if it is none.

    Examples
    --------
    >>> read_distribution({"uniform": [4, 2]})
    UniformSlates(n=4, length=2)
    """
    try:
        if not isinstance(given, dict):
            raise TypeError
        if "mixture" in given:
            return _mixture(given["mixture"])
        if "uniform" in given:
            n, length = map(int, given["uniform"])
            if not 0 <= length <= n:
                raise ValueError
            return uniform_slates(n, length)
        probing = float(given.get("probing", 0.0))
        if not 0 <= probing <= 1:
            raise ValueError
        if "slate" in given:
            return FixedSlate(list(given["slate"]), given.get("probe"), probing)
        labels, scores = given["plackett_luce"]
        return _plackett_luce(labels, scores, int(given["length"]), probing)
    except (KeyError, TypeError, ValueError):
        raise FileError(f"{shortened(given)} is no distribution of slates") from None


def _mixture(given: list[tuple[float, Any]]) -> Mixture:
    parts = [(float(weight), read_distribution(part)) for weight, part in given]
    weights = [weight for weight, _ in parts]
    if not math.isclose(sum(weights), 1.0) or min(weights) < 0:
        raise ValueError
    return Mixture(parts)


def _plackett_luce(
    labels: list[Label], scores: list[float], length: int, probing: float
) -> PlackettLuceSlates:
    by_label = {label: float(score) for label, score in zip(labels, scores, strict=True)}
    longest = length + (probing > 0)
    finite = all(math.isfinite(score) for score in by_label.values())
    if not 0 <= length <= longest <= len(by_label) == len(labels) or not finite:
        raise ValueError
    return PlackettLuceSlates(by_label, length, probing)
