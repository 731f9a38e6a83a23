"""Contexts with named features as vectors of numbers, one at a time or by the column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import listed, nearest, shortened
from semibandit.errors import FileError, InputError
from semibandit.policies.features.encoded import Encoded, NewValues
from semibandit.policies.features.feature import Feature
from semibandit.policies.features.table import encode_columns, transposed
from semibandit.policies.features.value import check_mapping, read_members, read_number, read_text
from semibandit.policies.features.vocabulary import Vocabulary

__all__ = ["FeatureEncoder"]

Block: TypeAlias = tuple[int, int, bool, Vocabulary | None]


@dataclass(frozen=True, eq=False)
class FeatureEncoder:
    """Turns dictionaries into vectors; it knows the values that were learned so far.

    An unknown feature is NaN in all its columns. Nothing here ever changes: `including` makes an
    encoder that knows more, so any number of threads may encode meanwhile.

    Parameters
    ----------
    declared : tuple of (str, Feature)
        The features in the order of their columns.
    vocabularies : dict
        For each category and set, its known values.

    Examples
    --------
    >>> from semibandit.policies.features.features import Features
    >>> encoder = Features(hour="number", device="category:2").encoder()
    >>> x, new = encoder.encode({"device": "phone"})
    >>> x
    array([nan,  0.,  1.])
    >>> encoder.including(new).to_json()
    {'device': {'phone': 1}}
    """

    declared: tuple[tuple[str, Feature], ...]
    vocabularies: Mapping[str, Vocabulary]

    @classmethod
    def start(
        cls, declared: tuple[tuple[str, Feature], ...], known: Mapping[str, Any]
    ) -> FeatureEncoder:
        """An encoder that knows what `to_json` of another gave; {} for nothing yet."""
        if not isinstance(known, Mapping):
            raise FileError(f"the values of features are {shortened(known)}")
        made = {name: Vocabulary.start(name, f) for name, f in declared if f.kind != "number"}
        for name, values in known.items():
            if name not in made or made[name].feature.values is not None:
                raise FileError(f"there are values of {name!r}, which is no open feature")
            made[name] = made[name].restored(values)
        return cls(declared, made)

    def encode(self, context: Any) -> Encoded:
        """The context as numbers, as if its new values had been added.

        Parameters
        ----------
        context : mapping
            {name: value}; features that are left out, or None, are unknown.

        Returns
        -------
        Encoded
            A number for each column, and the values that are new.

        Raises
        ------
        InputError
            If a name is not a feature, or a value not what the feature takes.
        """
        check_mapping(context)
        x, blocks = self._unknown.copy(), self._blocks
        found: dict[str, Sequence[str]] = {}
        for name, value in context.items():
            if name not in blocks:
                raise self._unknown_name(name)
            if value is None:
                continue
            start, stop, is_set, vocabulary = blocks[name]
            if vocabulary is None:
                x[start] = read_number(name, value)
                continue
            texts = read_members(name, value) if is_set else [read_text(name, value)]
            columns, new = vocabulary.look_up(texts)
            x[start:stop] = 0.0
            for column in columns:
                x[start + column] = 1.0
            if new:
                found[name] = new
        return Encoded(x, found)

    def including(self, new: NewValues) -> FeatureEncoder:
        """The encoder that knows these values as well.

        Feedback may come late: a value for which there was room when its context was encoded, but
        is none any more, is passed over.

        Parameters
        ----------
        new : mapping
            The new values that `encode` found, of this encoder or one that knew less.

        Returns
        -------
        FeatureEncoder
            This one, if it knows them all.
        """
        changed: dict[str, Vocabulary] = {}
        for name, values in new.items():
            vocabulary = self.vocabularies[name]
            fresh = [value for value in values if value not in vocabulary.columns]
            if fresh and vocabulary.room:
                changed[name] = vocabulary.extended(fresh[: vocabulary.room])
        return FeatureEncoder(self.declared, {**self.vocabularies, **changed}) if changed else self

    def encode_columns(
        self, columns: Mapping[str, Any], first: int = 0
    ) -> tuple[Floats, FeatureEncoder]:
        """Encode a table: row after row, each knowing the values of those before it.

        Parameters
        ----------
        columns : mapping
            Lists or arrays of equal length by the name of the feature; None in them is unknown, and
            so is a feature that is left out.
        first : int
            The number of the first row, for error messages.

        Returns
        -------
        X : matrix of float
            A row for each row of the table: that of `encode`.
        encoder : FeatureEncoder
            One that knows the values of all rows.

        Raises
        ------
        InputError
            If a name is not a feature, columns differ in length, or a value is not what the feature
            takes; the text names the row.
        """
        for name in columns:
            if name not in self._blocks:
                raise self._unknown_name(name)
        X, vocabularies = encode_columns(self.declared, self.vocabularies, columns, first)
        return X, FeatureEncoder(self.declared, vocabularies)

    def encode_rows(self, rows: Sequence[Any], first: int = 0) -> tuple[Floats, FeatureEncoder]:
        """`encode_columns` of a list of contexts."""
        for t, row in enumerate(rows, first):
            try:
                check_mapping(row)
            except InputError as why:
                raise InputError(f"row {t}: {why}") from None
            for name in row:
                if name not in self._blocks:
                    raise InputError(f"row {t}: {self._unknown_name(name)}")
        return self.encode_columns(transposed(rows, self._blocks), first)

    def to_json(self) -> dict[str, dict[str, int]]:
        """The values that were learned, by feature, as JSON can hold them."""
        return {
            name: one.to_json()
            for name, one in self.vocabularies.items()
            if one.feature.values is None
        }

    @cached_property
    def _blocks(self) -> dict[str, Block]:
        """For each feature: its first column and its end, whether it is a set, its values."""
        blocks: dict[str, Block] = {}
        start = 0
        for name, feature in self.declared:
            stop = start + feature.size
            blocks[name] = (start, stop, feature.kind == "set", self.vocabularies.get(name))
            start = stop
        return blocks

    @cached_property
    def _unknown(self) -> Floats:
        """The context of which nothing is known."""
        return np.full(sum(feature.size for _, feature in self.declared), np.nan)

    def _unknown_name(self, name: object) -> InputError:
        return InputError(
            f"context names {shortened(name)}, which is not a feature"
            f"{nearest(str(name), self._blocks)} (the features are {listed(self._blocks)})"
        )
