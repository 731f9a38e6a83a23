"""What turns contexts with named features into numbers: `Features` or `Hashed`, and their words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self, TypeAlias

from semibandit._util.checks import whole_number
from semibandit.errors import InputError
from semibandit.policies.features.encoded import Encoded, NewValues
from semibandit.policies.features.features import Features
from semibandit.policies.features.hashed import Hashed

__all__ = ["Encoder", "NamedFeatures", "features_from_words", "parse_features"]

NamedFeatures: TypeAlias = Features | Hashed


class Encoder(Protocol):
    """Turns contexts into vectors, and knows the values that were learned so far.

    An encoder never changes: `including` and the methods for many rows return one that knows more.
    """

    def encode(self, context: Any) -> Encoded:
        """The context as numbers, as if its new values had been added, and what is new."""
        ...

    def including(self, new: NewValues) -> Self:
        """The encoder that knows these values as well."""
        ...

    def encode_columns(self, columns: Mapping[str, Any], first: int = 0) -> tuple[Any, Self]:
        """A table's rows as a matrix, and the encoder that knows the values of all of them."""
        ...

    def encode_rows(self, rows: Sequence[Any], first: int = 0) -> tuple[Any, Self]:
        """`encode_columns` of a list of contexts."""
        ...

    def to_json(self) -> dict[str, dict[str, int]]:
        """The values that were learned, for `encoder` of `Features` or `Hashed`."""
        ...


def features_from_words(words: str) -> NamedFeatures:
    """The features whose `words` these are.

    >>> features_from_words("hashed:256"), features_from_words("hour,tags:set")
    (Hashed(256), Features(hour='number', tags='set'))
    """
    if isinstance(words, str) and (size := re.fullmatch(r"hashed:(\d+)", words)):
        return Hashed(int(size[1]))
    return Features.parse(words)


def parse_features(words: str) -> int | NamedFeatures:
    """How many numbers a context has, or its named features, in words.

    Parameters
    ----------
    words : str
        "120", "hashed:256", or what `Features.parse` takes.

    Raises
    ------
    InputError
        If the words spell no features.

    Examples
    --------
    >>> parse_features("120"), parse_features("hashed:256"), parse_features("hour,tags:set")
    (120, Hashed(256), Features(hour='number', tags='set'))
    """
    text = words.strip()
    if text.isdecimal():
        return whole_number("features", int(text), least=1)
    head, colon, size = text.partition(":")
    if head == "hashed" and colon and "," not in size:
        if not size.strip().isdecimal():
            raise InputError(f"features = {words!r}, expected hashed:N with N columns")
        return Hashed(int(size))
    return Features.parse(words)
