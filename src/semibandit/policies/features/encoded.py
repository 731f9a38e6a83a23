"""An encoded context: the numbers, and which of its values the encoder did not know yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from semibandit.models.model import Vector

__all__ = ["Encoded", "NewValues"]

NewValues: TypeAlias = Mapping[str, Sequence[str]]  # of open categories and sets, by feature


class Encoded(NamedTuple):
    """A context as numbers.

    Parameters
    ----------
    x : array or Sparse
        A number for each column, as if the new values had been added; NaN in all columns of an
        unknown feature.
    new : mapping
        The values that are new, by feature, for `including`; mostly there are none.
    """

    x: Vector
    new: NewValues
