"""Values as JSON gives them back: what runs and their results are made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from semibandit.errors import InputError

__all__ = ["json_dict"]


def json_dict(value: Any, name: str) -> dict[str, Any]:
    """A dictionary as JSON gives it back: floats to the bit, tuples as lists, no NaN.

    Parameters
    ----------
    value : mapping
        The dictionary.
    name : str
        What the error message calls it.

    Raises
    ------
    InputError
        If it is not a dictionary, or holds something that JSON cannot.

    Examples
    --------
    >>> json_dict({"pair": (1, 0.5)}, "the result")
    {'pair': [1, 0.5]}
    """
    if not isinstance(value, Mapping):
        raise InputError(f"{name} is {value!r}: expected a dictionary")
    plain: dict[str, Any] = _json_value(value, name)
    return plain


def _json_value(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, list | tuple):
        return [_json_value(item, f"{name}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InputError(f"{name} has the key {key!r}: expected a string")
        return {key: _json_value(item, f"{name}[{key!r}]") for key, item in value.items()}
    raise InputError(
        f"{name} is {value!r}: expected what JSON can hold, that is strings, finite numbers, "
        "true, false, none, and lists and dictionaries of them"
    )
