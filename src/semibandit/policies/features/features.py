"""Named features: what a context may have, and how many columns the model sees of it."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from semibandit._util.checks import shortened
from semibandit.errors import InputError
from semibandit.policies.features.cells import read_cells
from semibandit.policies.features.feature import Feature, escape, split, unescape
from semibandit.policies.features.feature_encoder import FeatureEncoder

__all__ = ["Features"]


@dataclass(frozen=True, init=False, repr=False)
class Features:
    """The named features of a context: numbers, categories and sets.

    A learner that is made with them takes contexts as dictionaries. A feature that is left out, or
    None, is unknown, which is neither 0 nor any of its values.

    Parameters
    ----------
    **kinds : str, list or set
        The features by name, in the order of their columns:

        - "number": a finite number; True and False are 1 and 0.
        - "category": one value, a string, whole number, True or False. Values are learned as they
          come, up to 16 distinct ones; "category:50" has room for 50.
        - ["phone", "desktop"]: a category with these values alone; in words "phone|desktop".
        - "set", "set:50": a list of values, in any order, with the same limits.
        - {"new", "sale"}: a set with these members alone; in words "set:new|sale".

        Values are compared by their text: 1 and "1" are the same value, True is "true".

    Raises
    ------
    InputError
        If a name or a kind cannot be used.

    Examples
    --------
    >>> features = Features(hour="number", device=["phone", "desktop"], tags="set:3")
    >>> features
    Features(hour='number', device=['phone', 'desktop'], tags='set:3')
    >>> features.columns
    ['hour', 'device=phone', 'device=desktop', 'tags[0]', 'tags[1]', 'tags[2]']
    >>> features.encoder().encode({"hour": 7.5, "device": "phone", "tags": []}).x
    array([7.5, 1. , 0. , 0. , 0. , 0. ])
    """

    declared: tuple[tuple[str, Feature], ...]

    def __init__(self, /, **kinds: str | Sequence[Any] | AbstractSet[Any]) -> None:
        declared = tuple((_name(name), Feature.read(name, kind)) for name, kind in kinds.items())
        if not declared:
            raise InputError("features are missing: name at least one, Features(hour='number')")
        object.__setattr__(self, "declared", declared)

    @classmethod
    def parse(cls, words: str) -> Features:
        """The features that these words spell, as `semibandit serve --features` takes them.

        Parameters
        ----------
        words : str
            Names with their kinds, separated by commas; a name alone is a number.

        Raises
        ------
        InputError
            If the words spell no features.

        Examples
        --------
        >>> Features.parse("hour,device:category,size:category:50,plan:free|pro")
        Features(hour='number', device='category', size='category:50', plan=['free', 'pro'])
        """
        if not isinstance(words, str):
            raise InputError(f"features = {shortened(words)}, but they must be words")
        kinds: dict[str, str] = {}
        for part in split(words, ","):
            head, *kind = split(part.strip(), ":")
            name = unescape(head.strip())
            if not name:
                raise InputError(f"features = {shortened(words)} has an empty name")
            if name in kinds:
                raise InputError(f"features names {name!r} twice")
            kinds[name] = ":".join(kind) if kind else "number"
        return cls(**kinds)

    @cached_property
    def words(self) -> str:
        """The words that `parse` turns back into these features.

        Examples
        --------
        >>> Features(hour="number", tags={"new", "sale"}).words
        'hour,tags:set:new|sale'
        """
        return ",".join(
            escape(name) if feature.kind == "number" else f"{escape(name)}:{feature.words}"
            for name, feature in self.declared
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(name for name, _ in self.declared)

    @cached_property
    def size(self) -> int:
        """How many columns an encoded context has."""
        return sum(feature.size for _, feature in self.declared)

    @property
    def columns(self) -> list[str]:
        """A name for each column: "hour", "plan=free", and "device[3]" if values are learned."""
        return [column for name, feature in self.declared for column in feature.columns(name)]

    def read_cells(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """The columns of a table of texts, such as a CSV file, as `replay` takes them.

        Parameters
        ----------
        columns : mapping
            The cells by the column, such as `columns_train` of a data set. A text in the column of
            a number is parsed, one in the column of a set is split at bars: a|b. None is unknown.
            Columns that are no feature are left out.

        Returns
        -------
        dict
            The values by the feature.

        Raises
        ------
        FileError
            If a text is no number; the error names the column and the row, counted from 1.
        InputError
            If a feature has no column.

        Examples
        --------
        >>> features = Features(hour="number", tags="set")
        >>> features.read_cells({"hour": ["7", None], "tags": ["a|b", "|"]})
        {'hour': [7.0, None], 'tags': [['a', 'b'], []]}
        """
        return read_cells(self.declared, columns)

    def encoder(self, known: Mapping[str, Any] | None = None) -> FeatureEncoder:
        """What turns contexts into numbers.

        Parameters
        ----------
        known : mapping, optional
            What `to_json` of an encoder gave; by default no value is known yet.

        Raises
        ------
        FileError
            If `known` is damaged, or of other features.
        """
        return FeatureEncoder.start(self.declared, {} if known is None else known)

    def __repr__(self) -> str:
        if all(map(_is_keyword_argument, self.names)):
            return f"Features({', '.join(f'{name}={one!r}' for name, one in self.declared)})"
        return f"Features(**{{{', '.join(f'{name!r}: {one!r}' for name, one in self.declared)}}})"


def _is_keyword_argument(name: str) -> bool:
    """Whether Python reads `name=` as it is; it changes some letters that are not ASCII."""
    plain = name.isascii() and name.isidentifier()
    return plain and not keyword.iskeyword(name) and name != "__debug__"


def _name(name: str) -> str:
    if not name or name != name.strip():
        raise InputError(
            f"{name!r} is no name for a feature: it must not be empty, or begin or end with a space"
        )
    return name
