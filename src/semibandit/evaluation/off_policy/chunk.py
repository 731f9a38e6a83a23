"""A chunk of visits as arrays by visit and position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.policies.labels import Label

__all__ = ["Chunk", "Codes", "NO_LABEL", "padded"]

NO_LABEL = -1  # in an array of codes: nothing was shown at this position


class Codes:
    """The labels seen so far, each with a number."""

    def __init__(self) -> None:
        self.of: dict[Label, int] = {}

    def __len__(self) -> int:
        return len(self.of)

    def codes(self, *lists: Sequence[Label]) -> list[int]:
        """The numbers of all labels in these lists, one after the other; new ones get the next."""
        of = self.of
        try:
            return list(map(of.__getitem__, chain.from_iterable(lists)))
        except KeyError:
            return [of.setdefault(label, len(of)) for label in chain.from_iterable(lists)]


@dataclass(eq=False)
class Chunk:
    """What was shown and clicked, (visits, positions).

    Parameters
    ----------
    visits : sequence of LoggedVisit
        The visits.
    items : sequence of labels
        All labels that could be shown, if the request does not say.
    codes : Codes
        The numbers of labels.
    shown : array of int
        The code of the label at each position, or `NO_LABEL`.
    clicked : array of bool
        Which of them were clicked.
    length : array of int
        How many labels were shown.
    first : array of int
        The position of the first of them.
    """

    visits: Sequence[LoggedVisit]
    items: Sequence[Label]
    codes: Codes
    shown: Ints
    clicked: Bools
    length: Ints
    first: Ints

    @classmethod
    def of(
        cls,
        visits: Sequence[LoggedVisit],
        items: Sequence[Label],
        codes: Codes,
        positions: int = 1,
    ) -> Chunk:
        """The arrays of these visits, with at least so many positions."""
        codes.codes(items)
        flat = codes.codes(*[visit.shown for visit in visits])
        length = np.array([len(visit.shown) for visit in visits], dtype=np.intp)
        first = np.array([visit.first_position for visit in visits], dtype=np.intp)
        positions = max(positions, int((length + first).max(initial=1)))
        found = cls(
            visits, items, codes, np.full((len(visits), positions), NO_LABEL),
            np.zeros((len(visits), positions), dtype=np.bool_), length, first,
        )  # fmt: skip
        if flat:
            found.shown[found.present] = flat
            found.clicked[found.present] = [*chain.from_iterable([v.clicked for v in visits])]
        return found

    @property
    def positions(self) -> int:
        """How many positions the arrays have."""
        return int(self.shown.shape[1])

    @cached_property
    def present(self) -> Bools:
        """Where a label was shown."""
        k = np.arange(self.positions)
        first = self.first[:, None]
        return (k >= first) & (k < first + self.length[:, None])

    def items_of(self, row: int) -> Sequence[Label]:
        """The labels that could be shown in this visit."""
        request = self.visits[row].request
        items = self.items if request.candidates is None else request.candidates
        if not request.exclude:
            return items
        excluded = set(request.exclude)
        return [item for item in items if item not in excluded]

    def select(self, rows: Ints | Bools) -> Chunk:
        """The chunk of some of its visits."""
        index = np.arange(len(self.visits))[rows]
        return Chunk(
            [self.visits[i] for i in index.tolist()], self.items, self.codes, self.shown[rows],
            self.clicked[rows], self.length[rows], self.first[rows],
        )  # fmt: skip

    def widened(self, positions: int) -> Chunk:
        """The chunk with at least so many positions."""
        if positions <= self.positions:
            return self
        more = ((0, 0), (0, positions - self.positions))
        shown = np.pad(self.shown, more, constant_values=NO_LABEL)
        return Chunk(
            self.visits, self.items, self.codes, shown,
            np.pad(self.clicked, more), self.length, self.first,
        )  # fmt: skip

    def spread(self, values: Sequence[Sequence[float] | Floats | None]) -> Floats:
        """Numbers per label shown as (visits, positions): nan if unknown, 0 if nothing is shown."""
        found = np.zeros(self.shown.shape)
        lengths = self.length.tolist()
        flat = [
            [np.nan] * n if one is None else one for one, n in zip(values, lengths, strict=True)
        ]
        found[self.present] = [*chain.from_iterable(flat)]
        return found


def padded(values: Floats, positions: int) -> Floats:
    """The array with columns of zeros appended until it has so many."""
    missing = positions - values.shape[-1]
    if missing <= 0:
        return values
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, missing)])
