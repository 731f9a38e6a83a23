"""Durations as people write them: 30s, 15m, 12h, 90d, 2w."""

from __future__ import annotations

import math
import re

from semibandit.errors import InputError

__all__ = ["parse_duration"]

SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def parse_duration(name: str, text: str) -> float:
    """The seconds of a duration; `name` is what it is for, in the error's text.

    >>> parse_duration("keep", "90d"), parse_duration("keep", "1.5h")
    (7776000.0, 5400.0)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([smhdw])", text.strip().lower())
    seconds = float(found[1]) * SECONDS[found[2]] if found else math.nan
    if not 0 < seconds < math.inf:
        raise InputError(
            f"{name} = {text!r}, expected a duration with its unit, above 0: 30s, 15m, 12h, 90d, 2w"
        )
    return seconds
