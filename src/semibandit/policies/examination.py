"""Examination: which of the labels shown a visitor looked at, if only the clicks are known.

A label low on the page is often not clicked because nobody looked at it. With θ_k, the probability
that the label at position k is looked at, and p, the probability that it is relevant, a click has
the probability θ_k p (the position-based click model), and a label that was not clicked was looked
at with probability

    w = θ_k (1 - p) / (1 - θ_k p).

If an unclicked label is learned with probability w, and a clicked one always, then of the lessons
on it the share θ_k p / (θ_k p + (1 - θ_k p) w) is positive. With the learner's own estimate in w
that is the estimate itself if and only if it is p (or 1, from which it is driven away): learning
settles at the relevance, not at the click rate of the position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import is_number, shortened
from semibandit.errors import InputError
from semibandit.policies.labels import Label, read_labels

__all__ = [
    "EXAMINATION_WORDS",
    "LAST_CLICK",
    "Examination",
    "at_positions",
    "examination_words",
    "looked_at",
    "read_examination",
    "read_examined",
    "up_to_last_click",
]

LAST_CLICK = "up to the last click"
LAST_CLICK_WORD = "last-click"  # the same, without spaces
EXAMINATION_WORDS = "1,0.7,0.5 | last-click"

Examination: TypeAlias = tuple[float, ...] | str  # θ_1, θ_2, ..., or LAST_CLICK


def read_examination(given: Sequence[float] | str | None) -> Examination | None:
    """What a learner is told about examination, checked.

    Parameters
    ----------
    given : sequence of float, str or None
        How likely the label at each position is looked at, above 0 and at most 1; the last number
        holds for all further positions. Or "up to the last click", also "last-click". Or the
        numbers in words, "1,0.7,0.5". None if all labels shown are looked at.

    Raises
    ------
    InputError
        If it is none of these.

    Examples
    --------
    >>> read_examination([1, 0.5]), read_examination("1,0.5"), read_examination("last-click")
    ((1.0, 0.5), (1.0, 0.5), 'up to the last click')
    """
    if given is None:
        return None
    if isinstance(given, str) and given in (LAST_CLICK, LAST_CLICK_WORD):
        return LAST_CLICK
    numbers = [*map(_number, given.split(","))] if isinstance(given, str) else given
    flat = isinstance(numbers, Sequence) or (isinstance(numbers, np.ndarray) and numbers.ndim == 1)
    if not flat or not len(numbers) or not all(is_number(one) and 0 < one <= 1 for one in numbers):
        last_click = LAST_CLICK_WORD if isinstance(given, str) else repr(LAST_CLICK)
        raise InputError(
            f"examination = {shortened(given)}, but it must be a probability for each position, "
            f"above 0 and at most 1, such as 1,0.7,0.5, or {last_click}"
        )
    return tuple(map(float, numbers))


def examination_words(examination: Examination | None) -> str | None:
    """The words that `read_examination` turns back into it.

    Examples
    --------
    >>> examination_words((1.0, 0.7)), examination_words("up to the last click")
    ('1,0.7', 'last-click')
    """
    if examination is None:
        return None
    if isinstance(examination, str):
        return LAST_CLICK_WORD
    return ",".join(str(int(one)) if one == 1 else repr(one) for one in examination)


def read_examined(
    examined: Iterable[Label] | str, shown: list[Label], clicked: Iterable[Label]
) -> list[Label]:
    """The labels that feedback says were looked at: a list of labels, or `LAST_CLICK`.

    Raises
    ------
    InputError
        If it is neither.
    """
    if isinstance(examined, str) and examined == LAST_CLICK:
        return up_to_last_click(shown, clicked)
    if isinstance(examined, str):
        raise InputError(
            f"examined = {shortened(examined)}, but it must be a list of labels or {LAST_CLICK!r}"
        )
    return read_labels(examined, "examined")


def up_to_last_click(shown: list[Label], clicked: Iterable[Label]) -> list[Label]:
    """The labels shown, up to the last that was clicked; without a click all of them.

    Whoever clicks nothing has come to the end of the slate, as in the cascade click model: there is
    no click to stop at.

    Examples
    --------
    >>> up_to_last_click(["tea", "milk", "juice"], ["milk"]), up_to_last_click(["tea"], [])
    (['tea', 'milk'], ['tea'])
    """
    hits = set(clicked)
    last = max((k for k, label in enumerate(shown) if label in hits), default=len(shown) - 1)
    return shown[: last + 1]


def at_positions(examination: tuple[float, ...], n: int) -> Floats:
    """θ of the first n positions."""
    known = examination[:n]
    return np.array(known + (examination[-1],) * (n - len(known)))


def looked_at(theta: Floats, estimate: Floats) -> Floats:
    """w: how likely a label that was not clicked was looked at.

    Examples
    --------
    >>> looked_at(np.array([1.0, 0.5]), np.array([0.2, 0.2]))
    array([1.        , 0.44444444])
    """
    p = np.clip(estimate, 0.0, 1.0)
    sure = theta >= 1.0
    return np.where(sure, 1.0, theta * (1.0 - p) / np.where(sure, 1.0, 1.0 - theta * p))


def _number(text: str) -> float:
    """A number of the words; nan, which is refused later, if it is none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
