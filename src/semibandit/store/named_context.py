"""A context with names as the log keeps it, so that the same request is known again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from semibandit.policies.features.value import is_bool, is_set, read_members

__all__ = ["key_of", "normalised"]

EXACT = 2.0**53  # whole floats up to here are written as whole numbers


def normalised(context: Mapping[str, Any]) -> dict[str, Any]:
    """The context as JSON can hold it: what is unknown left out, sets in order, 9.0 as 9.

    It is encoded as the context itself would be; what no feature takes stays as it is.

    >>> normalised({"hour": 9.0, "tags": ["new", "sale", "new"], "device": None})
    {'hour': 9, 'tags': ['new', 'sale']}
    """
    return {name: _value(name, value) for name, value in context.items() if value is not None}


def key_of(named: Mapping[str, Any]) -> str:
    """A text that is the same for equal contexts: 1 is not true, and the order does not count."""
    return json.dumps(named, sort_keys=True)


def _value(name: str, value: Any) -> Any:
    if is_set(value):
        return sorted(set(read_members(name, value)))
    if isinstance(value, np.generic):
        value = value.item()
    if is_bool(value) or not isinstance(value, float):
        return value
    return int(value) if value.is_integer() and abs(value) <= EXACT else value
