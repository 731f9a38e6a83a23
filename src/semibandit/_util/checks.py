"""Checks of what users give, each written once; every refusal is an `InputError`."""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from semibandit.errors import InputError, UnknownKeyword

__all__ = [
    "check_keywords",
    "finite_number",
    "is_number",
    "is_whole",
    "listed",
    "nearest",
    "shortened",
    "whole_number",
]


def is_whole(value: object) -> bool:
    """Whether the value is a whole number, and not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether the value is a real number, and not a bool."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def whole_number(name: str, value: object, *, least: int) -> int:
    """The value as an int, or an error if it is not a whole number of at least `least`.

    >>> whole_number("seed", 3, least=0)
    3
    """
    if not is_whole(value) or value < least:  # type: ignore[operator]
        raise InputError(f"{name} = {value!r}, but it must be a whole number of at least {least}")
    return int(value)  # type: ignore[call-overload, no-any-return]


def finite_number(name: str, value: object, *, least: float = -math.inf) -> float:
    """The value as a float, or an error if it is not a finite number of at least `least`."""
    try:
        number = float(value) if is_number(value) else math.nan  # type: ignore[arg-type]
    except OverflowError:  # an int beyond all floats
        number = math.inf
    if not least <= number < math.inf:
        bound = "" if least == -math.inf else f" of at least {least:g}"
        raise InputError(f"{name} = {shortened(value)}, but it must be a finite number{bound}")
    return number


def shortened(value: object, most: int = 80) -> str:
    """The value's repr, cut off after `most` characters.

    >>> shortened(list(range(100)), 12)
    '[0, 1, 2,...'
    """
    text = repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."


def listed(values: Iterable[object], most: int = 20) -> str:
    """The values separated by commas; beyond `most` of them only how many there are.

    >>> listed("abcdef", 2)
    'a, b, ... (6 in all)'
    """
    texts = [str(value) for value in values]
    more = f", ... ({len(texts)} in all)" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def nearest(name: str, known: Iterable[str]) -> str:
    """A suggestion to append to an error message: the known name most like this one, if any.

    >>> nearest("widht", ["width", "model"])
    "; did you mean 'width'?"
    """
    found = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def check_keywords(cls: type, given: Iterable[str]) -> None:
    """Raise `UnknownKeyword` if a keyword is not a parameter of the class's constructor.

    A constructor with `**keywords` hands them on, so those of the class above it count as well.
    """
    names = list(given)
    if not names:  # a signature takes 50 µs to read, and a service makes a policy for every group
        return
    parameters: dict[str, inspect.Parameter] = {}
    for base in cls.__mro__:
        if "__init__" in vars(base):
            own: Any = inspect.signature(vars(base)["__init__"]).parameters
            parameters |= {name: one for name, one in own.items() if name != "self"}
            if all(one.kind is not one.VAR_KEYWORD for one in own.values()):
                break
    for name in names:
        if name not in parameters:
            raise UnknownKeyword(
                f"{cls.__name__} has no parameter {name!r}{nearest(name, parameters)} "
                f"(it takes {', '.join(parameters)})"
            )
