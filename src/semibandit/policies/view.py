"""The view: what a learner thinks of the labels that may be shown, for one context or for many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.ordering import turned

__all__ = ["View", "Views", "starts"]


@dataclass(frozen=True, eq=False, slots=True)
class View:
    """Margin, width and estimate of some rows, what they are sorted by, and what they are cut by.

    The squared norms x·A⁻¹x are there if the learner has them. `rows` are the rows that the arrays
    are of, sorted; None if they are of all rows. A number that counts entries of these arrays is a
    *place*; `Labels.at` says which label is there. `allowed` says how many labels may be shown if
    the view is of the best of them alone, and `missing` how many more could not be considered.
    `turn` is where the order among equal labels begins.
    """

    margin: Floats
    width: Floats
    estimate: Floats
    score: Floats
    prob: Floats
    norm2: Floats | None = None
    rows: Ints | None = None
    allowed: int | None = None
    missing: int = 0
    turn: float = 0.0

    @property
    def n(self) -> int:
        """How many labels may be shown."""
        return len(self.score) if self.allowed is None else self.allowed

    def __len__(self) -> int:
        return len(self.score)

    def of(
        self, norm2: Floats, rows: Ints | None, allowed: int | None = None, missing: int = 0
    ) -> View:
        """This view, with the norms and the rows that it is of."""
        margin, width, estimate, score, prob = self.arrays
        return View(margin, width, estimate, score, prob, norm2, rows, allowed, missing)

    def at_turn(self, turn: float) -> View:
        """This view, with another beginning of the order among equal labels."""
        return self if turn == self.turn else replace(self, turn=turn)

    def ties(self, tie: Floats) -> Floats:
        """The tie of each place, from those of all rows."""
        return turned(tie if self.rows is None else tie[self.rows], self.turn)

    @property
    def arrays(self) -> tuple[Floats, ...]:
        """The five arrays that are always there, in the order of the fields."""
        return self.margin, self.width, self.estimate, self.score, self.prob

    def taken(self, rows: Ints | None) -> View:
        """The view of these rows alone, out of a view of all rows."""
        if rows is None:
            return self
        norm2 = None if self.norm2 is None else self.norm2[rows]
        margin, width, estimate, score, prob = (array[rows] for array in self.arrays)
        return View(margin, width, estimate, score, prob, norm2, rows)


@dataclass(frozen=True, eq=False)
class Views:
    """The views of many contexts: their arrays one after the other.

    Parameters
    ----------
    flat : View
        The arrays of all contexts, one after the other; without rows.
    ptr : array of int
        Those of context number b are at ptr[b] to ptr[b + 1].
    rows : sequence
        The `rows` of each view.
    allowed : sequence of int, optional
        How many labels may be shown for each context, if the views are of the best alone.
    missing : sequence of int, optional
        How many more could not be considered for each context; by default none.
    turns : sequence of float, optional
        Where the order among equal labels begins for each context; by default at 0.
    """

    flat: View
    ptr: Ints
    rows: Sequence[Ints | None]
    allowed: Sequence[int] | None = None
    missing: Sequence[int] | None = None
    turns: Sequence[float] | None = None

    @classmethod
    def joined(cls, views: Sequence[View]) -> Views:
        """These views, of at least one context."""
        columns = zip(*(view.arrays for view in views), strict=True)
        margin, width, estimate, score, prob = (np.concatenate(lines) for lines in columns)
        norms = [view.norm2 for view in views if view.norm2 is not None]
        norm2 = np.concatenate(norms) if len(norms) == len(views) else None
        flat = View(margin, width, estimate, score, prob, norm2)
        allowed = None if views[0].allowed is None else [view.n for view in views]
        missing = [view.missing for view in views] if any(v.missing for v in views) else None
        return cls(flat, starts(map(len, views)), [view.rows for view in views], allowed, missing)

    @property
    def n(self) -> list[int]:
        """How many labels may be shown for each context."""
        return np.diff(self.ptr).tolist() if self.allowed is None else list(self.allowed)

    def __len__(self) -> int:
        return len(self.rows)

    def at(self, b: int) -> View:
        """The view of context number b."""
        part = slice(*self.ptr[b : b + 2].tolist())
        norm2 = None if self.flat.norm2 is None else self.flat.norm2[part]
        margin, width, estimate, score, prob = (array[part] for array in self.flat.arrays)
        allowed = None if self.allowed is None else self.allowed[b]
        missing = 0 if self.missing is None else self.missing[b]
        turn = 0.0 if self.turns is None else self.turns[b]
        rest = norm2, self.rows[b], allowed, missing, turn
        return View(margin, width, estimate, score, prob, *rest)

    def at_turns(self, turns: Sequence[float]) -> Views:
        """These views, with other beginnings of the order among equal labels."""
        return replace(self, turns=turns) if any(turns) else self

    def ties(self, tie: Floats) -> tuple[Floats, Ints]:
        """The tie of each place, from those of all rows; and where those of each view begin."""
        turns = [0.0] * len(self) if self.turns is None else self.turns
        first, turn = self.rows[0], turns[0]
        if all(rows is first for rows in self.rows) and all(one == turn for one in turns):
            own = turned(tie if first is None else tie[first], turn)  # the same for all views
            return own, np.zeros(len(self), dtype=np.intp)
        each = (tie if rows is None else tie[rows] for rows in self.rows)
        return np.concatenate([*map(turned, each, turns)]), self.ptr[:-1]


def starts(sizes: Iterable[int]) -> Ints:
    """Where parts of these sizes begin if they are put one after the other, and where they end."""
    return np.array([0, *accumulate(sizes)], dtype=np.intp)
