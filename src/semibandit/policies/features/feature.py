r"""One declared feature: a number, a category or a set, and its words.

    number                       one column
    category | category:50       one column for each value, of which there may be 16, or 50
    set | set:50                 the same, but several values at once
    free|pro                     a category with these values alone (a single one is "free|")
    set:new|sale                 a set with these members alone

A comma, colon, bar or backslash in a name or value has a backslash before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from semibandit._util.checks import nearest, shortened
from semibandit.errors import InputError
from semibandit.policies.features.value import read_member

__all__ = ["Feature", "escape", "split", "unescape"]

Kind = Literal["number", "category", "set"]

DEFAULT_LIMIT = 16  # distinct values of an open category or set
LARGEST_LIMIT = 100_000  # beyond it a dense column for each value makes no sense
EXPECTED = "number, category, category:N, set, set:N, or values such as free|pro or set:new|sale"


@dataclass(frozen=True)
class Feature:
    """What may be given for a feature, and how many columns it has.

    Parameters
    ----------
    kind : {"number", "category", "set"}
        A number; one value of several; or any number of them at once.
    values : tuple of str, optional
        The values of a closed category or set. None if it is open: values are learned as they come.
    limit : int
        How many distinct values an open category or set may have.
    """

    kind: Kind
    values: tuple[str, ...] | None = None
    limit: int = DEFAULT_LIMIT

    @property
    def size(self) -> int:
        """How many columns it has."""
        if self.kind == "number":
            return 1
        return self.limit if self.values is None else len(self.values)

    @property
    def words(self) -> str:
        """The words that `read` turns back into it.

        >>> Feature("category", ("free", "pro")).words, Feature("set", limit=50).words
        ('free|pro', 'set:50')
        """
        if self.values is None:
            return self.kind if self.limit == DEFAULT_LIMIT else f"{self.kind}:{self.limit}"
        values = "|".join(map(escape, self.values)) + ("|" if len(self.values) == 1 else "")
        return values if self.kind == "category" else f"set:{values}"

    def columns(self, name: str) -> list[str]:
        """A name for each of its columns.

        >>> Feature("category", ("free", "pro")).columns("plan")
        ['plan=free', 'plan=pro']
        """
        if self.kind == "number":
            return [name]
        if self.values is None:
            return [f"{name}[{i}]" for i in range(self.limit)]
        return [f"{name}={value}" for value in self.values]

    def __repr__(self) -> str:
        """As `Features` takes it."""
        if self.values is None:
            return repr(self.words)
        values = ", ".join(map(repr, self.values))
        return f"[{values}]" if self.kind == "category" else f"{{{values}}}"

    @classmethod
    def read(cls, name: str, kind: Any) -> Feature:
        """The feature that a user declares: by words, or by the values it may have.

        Raises
        ------
        InputError
            If there is no such kind of feature.

        Examples
        --------
        >>> Feature.read("device", ["phone", "desktop"]).words
        'phone|desktop'
        """
        if isinstance(kind, str):
            return _parse(name, kind)
        if isinstance(kind, list | tuple):
            return cls("category", _closed(name, kind))
        if isinstance(kind, set | frozenset):
            return cls("set", _closed(name, kind, ordered=False))
        raise InputError(f"feature {name!r} is declared as {shortened(kind)}, expected {EXPECTED}")


def _parse(name: str, words: str) -> Feature:
    head, *rest = split(words.strip(), ":")
    if not rest and len(split(head, "|")) > 1:
        return Feature("category", _closed(name, _values(head)))
    if head == "number" and not rest:
        return Feature("number")
    if head in ("category", "set") and len(rest) <= 1:
        kind: Kind = "category" if head == "category" else "set"
        if not rest:
            return Feature(kind)
        if len(split(rest[0], "|")) > 1:
            return Feature(kind, _closed(name, _values(rest[0]), ordered=kind == "category"))
        return Feature(kind, limit=_limit(name, words, rest[0]))
    suggestion = nearest(head, ("number", "category", "set"))
    raise InputError(
        f"feature {name!r} is declared as {shortened(words)}, expected {EXPECTED}{suggestion}"
    )


def _limit(name: str, words: str, text: str) -> int:
    limit = int(text) if text.strip().isdecimal() else 0
    if not limit:
        raise InputError(f"feature {name!r} is declared as {shortened(words)}, expected {EXPECTED}")
    if limit > LARGEST_LIMIT:
        raise InputError(
            f"feature {name!r} may have at most {LARGEST_LIMIT} values, not {limit}: "
            "for open vocabularies there is sb.Hashed"
        )
    return limit


def _closed(name: str, values: Iterable[Any], ordered: bool = True) -> tuple[str, ...]:
    """The texts of declared values: each once, and such that words can hold them."""
    texts = [read_member(name, value) for value in values]
    if not texts:
        raise InputError(f"feature {name!r} is declared without any value")
    for text in texts:
        if not text or text != text.strip():
            raise InputError(
                f"feature {name!r} is declared with {text!r}: a value must not be empty, "
                "or begin or end with a space"
            )
        if texts.count(text) > 1:
            raise InputError(f"feature {name!r} is declared with {text!r} twice")
    return tuple(texts if ordered else sorted(texts))


def _values(words: str) -> list[str]:
    values = [unescape(value.strip()) for value in split(words, "|")]
    return values[:-1] if not values[-1] else values  # a single value is followed by a bar


# -- backslashes -------------------------------------------------------------------------------


def escape(text: str) -> str:
    r"""The text with a backslash before each character that words use.

    >>> print(escape("a,b"))
    a\,b
    """
    return re.sub(r"([\\,:|])", r"\\\1", text)


def unescape(text: str) -> str:
    """The text without these backslashes."""
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def split(text: str, separator: str) -> list[str]:
    r"""Split at each separator that has no backslash before it; the backslashes stay.

    >>> split(r"a\,b,c", ",")
    ['a\\,b', 'c']
    """
    pieces = re.findall(r"\\.|[^\\]|\\$", text, flags=re.DOTALL)
    parts = [""]
    for piece in pieces:
        if piece == separator:
            parts.append("")
        else:
            parts[-1] += piece
    return parts
