"""Labels by how often they were clicked, kept in order as clicks come."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from semibandit.policies.labels import Label

__all__ = ["ClickOrder"]


class ClickOrder:
    """The labels with the most clicks first; those with as many are in the order of the learner.

    Examples
    --------
    >>> order = ClickOrder(["tea", "milk", "juice"], {"juice": 2})
    >>> order.top(2, None, None)
    ['juice', 'tea']
    >>> order.add(["milk"])
    >>> order.top(2, ["tea", "milk", "juice"], ["juice"])
    ['milk', 'tea']
    """

    def __init__(self, labels: Sequence[Label], clicks: Mapping[Label, int]) -> None:
        self._labels = list(labels)
        self._row = {label: row for row, label in enumerate(self._labels)}
        self._clicks = [clicks.get(label, 0) for label in self._labels]
        self._order = sorted((-n, row) for row, n in enumerate(self._clicks))

    def add(self, clicked: Iterable[Label]) -> None:
        """Count a click on each of these labels; those that it does not have are left out."""
        order, clicks = self._order, self._clicks
        for label in clicked:
            row = self._row.get(label)
            if row is not None:
                del order[bisect_left(order, (-clicks[row], row))]
                clicks[row] += 1
                insort(order, (-clicks[row], row))

    def top(
        self, most: int, candidates: Sequence[Label] | None, exclude: Sequence[Label] | None
    ) -> list[Label]:
        """The labels with the most clicks, of those that may be shown.

        It looks at as many labels as are asked for and named, not at all of them.
        """
        out = {self._row.get(label) for label in exclude or ()}
        order: Iterable[tuple[int, int]] = self._order
        if candidates is not None:
            rows = [self._row[label] for label in candidates if label in self._row]
            order = sorted((-self._clicks[row], row) for row in rows)
        best = islice((row for _, row in order if row not in out), most)
        return [self._labels[row] for row in best]
