"""JSON as text: by orjson if it is installed, which takes a fifth of the time."""

from __future__ import annotations

import json
import math
from typing import Any

try:
    import orjson
except ImportError:  # without the `service` extra
    orjson = None  # type: ignore[assignment]

MOST_DIGITS = 300  # all such numbers are floats, too

__all__ = ["exact_json", "from_json", "to_json"]


def to_json(values: Any) -> bytes:
    """The values as short JSON in ASCII, which every database takes.

    Numbers that are not finite become null, as orjson has it.
    """
    if orjson is not None:
        try:
            text: bytes = orjson.dumps(values)
            if text.isascii():
                return text
        except TypeError:  # it takes no whole numbers beyond 64 bits, and no half of a character
            pass
    try:
        return json.dumps(values, separators=(",", ":"), allow_nan=False).encode()
    except ValueError:
        return json.dumps(_finite(values), separators=(",", ":"), allow_nan=False).encode()


def from_json(text: bytes | str) -> Any:
    """The values of a JSON text; `ValueError` if it is none.

    orjson refuses what it cannot hold, such as halves of characters: then the standard library
    reads it. It would make whole numbers beyond 64 bits floats; whoever needs them must check.
    """
    if orjson is not None:
        try:
            return orjson.loads(text)
        except ValueError:
            pass
    return exact_json(text)


def exact_json(text: bytes | str, *, bounded: bool = False) -> Any:
    """As `from_json`, with whole numbers as they are; `bounded` refuses those that no float holds.

    >>> exact_json("[" * 100_000)
    Traceback (most recent call last):
        ...
    ValueError: it is nested too deeply
    """
    try:
        return json.loads(text, parse_int=_bounded if bounded else None)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _bounded(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"it has a number of {len(digits)} digits")
    return int(digits)


def _finite(values: Any) -> Any:
    """The values with None for numbers that are not finite."""
    if isinstance(values, float):
        return values if math.isfinite(values) else None
    if isinstance(values, dict):
        return {key: _finite(value) for key, value in values.items()}
    return [*map(_finite, values)] if isinstance(values, list | tuple) else values
