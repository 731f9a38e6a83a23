"""Looks at the rows that may be shown: at those alone if they are few, else at all of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.models.model import State, Vector
from semibandit.models.partial import PartialState
from semibandit.policies.view import starts

__all__ = ["is_partial", "looks_of", "partial_state"]

FEW = 2  # rows are looked at alone if there are at least so many times as many in all


@cache
def is_partial(state: type[State]) -> bool:
    """Whether states of this class can look at some labels alone."""
    return issubclass(state, PartialState)


def partial_state(state: State, rows: Ints | None, n_rows: int) -> PartialState | None:
    """The state, if it is to look at these rows alone; None if it looks at all."""
    if rows is None or len(rows) * FEW > n_rows or not is_partial(type(state)):
        return None
    return cast(PartialState, state)


def looks_of(
    state: State, xs: Sequence[Vector], rows: Sequence[Ints | None], n_rows: int
) -> tuple[Floats, Floats, Ints]:
    """Margins and squared norms of the rows that may be shown at each of many contexts.

    Contexts for which most rows are wanted are looked at together, by one matrix product.

    Parameters
    ----------
    state : State
        The state, which has `n_rows` rows.
    xs : sequence of contexts
        At least one.
    rows : sequence
        The rows for each context, sorted; None for all rows.

    Returns
    -------
    margin, norm2 : arrays of float
        Those of the first context, then those of the second, and so on.
    ptr : array of int
        Where those of each context begin, and where the last ones end.
    """
    found: dict[int, tuple[Floats, Floats]] = {}
    some = [b for b, one in enumerate(rows) if partial_state(state, one, n_rows) is not None]
    if some:
        wanted = [cast(Ints, rows[b]) for b in some]
        looks = cast(PartialState, state).look_at_many([xs[b] for b in some], wanted)
        found |= {b: (one.margin, one.norm2) for b, one in zip(some, looks, strict=True)}
    rest = [b for b in range(len(xs)) if b not in found]
    if rest:
        margin, norm2 = state.look_many([xs[b] for b in rest])
        if all(one is None for one in rows):
            return margin.ravel(), norm2.ravel(), starts([n_rows] * len(xs))
        for b, one, two in zip(rest, margin, norm2, strict=True):
            among = rows[b]
            found[b] = (one, two) if among is None else (one[among], two[among])
    each = [found[b] for b in range(len(xs))]
    flat = [np.concatenate(lines) for lines in zip(*each, strict=True)]
    return flat[0], flat[1], starts(len(one) for one, _ in each)
