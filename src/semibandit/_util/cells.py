"""Cells of a table that are text: as numbers, and as sets."""

from __future__ import annotations

__all__ = ["BAR", "parse_number", "split_members"]

BAR = "|"  # between the members of a set
TRUTH_VALUES = {"true": 1.0, "false": 0.0}


def parse_number(text: str) -> float:
    """The number that a text spells, true and false being 1 and 0; `ValueError` if it is none.

    >>> parse_number(" 7.5 "), parse_number("TRUE")
    (7.5, 1.0)
    """
    word = text.strip().lower()
    return TRUTH_VALUES[word] if word in TRUTH_VALUES else float(word)


def split_members(text: str) -> list[str]:
    """The members of a set that is written in one cell: a|b.

    >>> split_members("new | sale"), split_members("|")
    (['new', 'sale'], [])
    """
    return [member.strip() for member in text.split(BAR) if member.strip()]
