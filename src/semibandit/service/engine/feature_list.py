"""The features of a service, for those who fill in a form or simulate a world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semibandit.policies.features.hashed import Hashed
from semibandit.policies.learner import Learner

__all__ = ["describe_features"]

MOST = 100  # values of a feature that are listed


def describe_features(learner: Learner, names: Sequence[str] | None) -> list[dict[str, Any]] | None:
    """Each feature with its kind, its values and its limit, as JSON can hold it.

    None if contexts are numbers without names; `names` are those that a store has for the numbers
    of a learner that was made without any.

    Of a category or set, `values` are the declared ones, or those learned so far if it is `open`,
    at most 100 of them; `limit` is how many distinct ones it may have. `Hashed` is one feature
    without a name, whose limit is the number of its columns.
    """
    features = learner.features
    if features is None:
        return None if names is None else [_entry(name, "number") for name in names]
    if isinstance(features, Hashed):
        return [_entry(None, "hashed", limit=features.size)]
    learned = learner.known_values()
    found = []
    for name, one in features.declared:
        if one.kind == "number":
            found.append(_entry(name, "number"))
            continue
        values = sorted(learned[name]) if one.values is None else list(one.values)
        entry = _entry(name, one.kind, values[:MOST], one.size)
        found.append({**entry, "open": one.values is None})
    return found


def _entry(
    name: str | None, kind: str, values: list[str] | None = None, limit: int | None = None
) -> dict[str, Any]:
    return {"name": name, "kind": kind, "values": values, "limit": limit, "open": kind == "hashed"}
