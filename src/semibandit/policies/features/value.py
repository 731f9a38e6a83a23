"""Values of named features as users give them: numbers, categories and sets.

A category's value is compared by its text, so that 1 and "1" are the same value wherever it comes
from: JSON, a CSV file or a command line. True is "true", as in JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from semibandit._util.checks import is_number, is_whole, shortened
from semibandit.errors import InputError

__all__ = [
    "check_mapping",
    "is_bool",
    "is_set",
    "read_member",
    "read_members",
    "read_number",
    "read_text",
]

# types to test for, made once: `bool | np.bool_` within a call takes longer than the test
BOOLS = (bool, np.bool_)
SETS = (list, tuple, set, frozenset)
TEXTS = "a string, a whole number, or true or false"


def check_mapping(context: object) -> None:
    """Refuse a context that is not {name: value}."""
    if not isinstance(context, Mapping):
        raise InputError(
            f"context = {shortened(context)}, but its features have names: give {{name: value}}"
        )


def is_bool(value: object) -> bool:
    """Whether the value is True or False, Python's or NumPy's."""
    return isinstance(value, BOOLS)


def is_set(value: object) -> bool:
    """Whether the value could be that of a set: a list, for instance."""
    return isinstance(value, SETS) or (isinstance(value, np.ndarray) and value.ndim == 1)


def read_number(name: str, value: Any) -> float:
    """The value of a number feature; True and False are 1 and 0.

    >>> read_number("hour", 7)
    7.0
    """
    if type(value) is float and math.isfinite(value):  # by far the most, and quick
        return value
    try:
        number = float(value) if is_number(value) or is_bool(value) else math.nan
    except OverflowError:  # an int beyond all floats
        number = math.inf
    if not math.isfinite(number):
        raise InputError(
            f"feature {name!r} = {shortened(value)}, but it must be a finite number; "
            "leave it out if it is unknown"
        )
    return number


def read_text(name: str, value: Any) -> str:
    """The text that the value of a category is compared by.

    >>> read_text("device", "phone"), read_text("level", 3), read_text("member", True)
    ('phone', '3', 'true')
    """
    text = value if type(value) is str else _text(value)
    if text is None:
        raise InputError(f"feature {name!r} = {shortened(value)}, but it must be {TEXTS}")
    return text


def read_members(name: str, value: Any) -> list[str]:
    """The texts of the members of a set, as they come.

    >>> read_members("tags", ["new", 3])
    ['new', '3']
    """
    if not is_set(value):
        raise InputError(
            f"feature {name!r} = {shortened(value)}, but it must be a list of values, "
            f"each {TEXTS}; an empty list if it has none"
        )
    members = value.tolist() if isinstance(value, np.ndarray) else value
    return [member if type(member) is str else read_member(name, member) for member in members]


def read_member(name: str, value: Any) -> str:
    """The text of one member of a set."""
    text = _text(value)
    if text is None:
        raise InputError(f"feature {name!r} has {shortened(value)}, but a member must be {TEXTS}")
    return text


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return str(value)
    if is_bool(value):
        return "true" if value else "false"
    return str(int(value)) if is_whole(value) else None
