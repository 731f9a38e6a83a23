"""The vocabulary of a category or set: which value has which of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from semibandit._util.checks import listed, nearest, shortened
from semibandit._util.stable_hash import stable_hash
from semibandit.errors import FileError, InputError
from semibandit.policies.features.feature import Feature

__all__ = ["Vocabulary"]


@dataclass(frozen=True)
class Vocabulary:
    """The values of a feature that are known so far, each with its column.

    A closed feature knows its values from the start. In an open one a new value gets the column
    that its hash says, or else the next that is free: which one depends little on the order in
    which values come. A vocabulary never changes; `extended` makes a new one.

    Parameters
    ----------
    name : str
        The feature's name.
    feature : Feature
        A category or a set.
    columns : dict
        The column of each known value, from 0.

    Examples
    --------
    >>> device = Vocabulary("device", Feature("category", limit=4))
    >>> device.look_up(["phone"])  # as if it had been added
    ([3], ['phone'])
    >>> device.extended(["phone"]).columns
    {'phone': 3}
    """

    name: str
    feature: Feature
    columns: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def start(cls, name: str, feature: Feature) -> Vocabulary:
        """A closed feature's values, or none."""
        columns = {value: column for column, value in enumerate(feature.values or ())}
        return cls(name, feature, columns)

    def look_up(self, values: Sequence[str]) -> tuple[list[int], Sequence[str]]:
        """The columns of the values of one context, as if all had been added; and the new ones.

        Raises
        ------
        InputError
            If a closed feature does not have one, or an open one has no column left.
        """
        columns = [self.columns.get(value) for value in values]
        if None not in columns:
            return columns, ()  # type: ignore[return-value]
        new = sorted(set(values).difference(self.columns))  # whatever order they come in
        after = self.extended(new).columns
        return [after[value] for value in values], new

    def extended(self, new: Iterable[str]) -> Vocabulary:
        """The vocabulary with these new values, added one after the other."""
        columns, taken = dict(self.columns), set(self._taken)
        for value in new:
            columns[value] = self._place(value, taken)
            taken.add(columns[value])
        return replace(self, columns=columns)

    @property
    def room(self) -> int:
        """How many further values it can take."""
        return 0 if self.feature.values is not None else self.feature.limit - len(self.columns)

    def to_json(self) -> dict[str, int]:
        """What `restored` needs."""
        return dict(self.columns)

    def restored(self, known: Any) -> Vocabulary:
        """This vocabulary with what `to_json` gave; `FileError` if it is damaged."""
        columns = list(known.values()) if isinstance(known, dict) else [None]
        right = all(type(column) is int and 0 <= column < self.feature.size for column in columns)
        if not right or len(set(columns)) < len(columns):
            raise FileError(f"the values of feature {self.name!r} are {shortened(known)}")
        return replace(self, columns=dict(known))

    @cached_property
    def _taken(self) -> frozenset[int]:
        return frozenset(self.columns.values())

    def _place(self, value: str, taken: AbstractSet[int]) -> int:
        """The column for a new value: the one that its hash says, or the next that is free."""
        known, size = self.feature.values, self.feature.size
        if known is not None:
            expected = f"expected one of {listed(known)}{nearest(value, known)}"
            raise self._refusal(value, expected)
        if len(taken) >= size:
            raise self._refusal(
                value,
                f"but it has {size} distinct values already, which is its limit: declare it with "
                f"a higher one, such as '{self.feature.kind}:{2 * size}', or use sb.Hashed",
            )
        column = stable_hash(value) % size
        while column in taken:
            column = (column + 1) % size
        return column

    def _refusal(self, value: str, reason: str) -> InputError:
        has = "=" if self.feature.kind == "category" else "has"
        return InputError(f"feature {self.name!r} {has} {shortened(value)}, {reason}")
