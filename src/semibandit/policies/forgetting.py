"""The half-life of feedback, as users give it."""

from __future__ import annotations

import math
import sys

from semibandit._util.checks import is_number, shortened
from semibandit.errors import InputError

__all__ = ["read_half_life"]


def read_half_life(forget: float | None) -> float | None:
    """The half-life in rounds, or None; an `InputError` if it is neither.

    Whoever gives the weight that is kept in a round, as other libraries want it, is told so.

    >>> read_half_life(3000)
    3000.0
    """
    if forget is None:
        return None
    if not is_number(forget) or not 0 < forget <= sys.float_info.max:
        raise InputError(
            f"forget = {shortened(forget)}, but it must be a half-life in rounds, at least 1, "
            "or None"
        )
    if forget < 1:
        rounds = math.log(0.5) / math.log(forget)
        raise InputError(
            f"forget = {forget}, but it is a half-life in rounds, at least 1: feedback that keeps "
            f"{forget} of its weight a round has one of {rounds:.3g}"
        )
    return float(forget)
