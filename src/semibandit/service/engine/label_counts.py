"""What became of each label: how often it was shown and clicked, and what was expected of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from semibandit.policies.labels import Label
from semibandit.store.event import Decision

__all__ = ["LabelCounts"]

COLUMNS = ("decisions", "estimates", "last_shown", "shown", "clicked")
SPARE = 1000  # labels that are gone which may stay before they are dropped


class LabelCounts:
    """Columns of counts with a row for each label, so that 100,000 labels are copied at once.

    `decisions` counts the slates that a label was in, `estimates` sums what was expected of it
    there, and `last_shown` is the time of the last one. `shown` and `clicked` count those slates
    with feedback in which the user looked at it.
    """

    def __init__(self) -> None:
        self.rows: dict[Label, int] = {}
        self.decisions: list[int] = []
        self.estimates: list[float] = []
        self.last_shown: list[float] = []
        self.shown: list[int] = []
        self.clicked: list[int] = []

    def add_label(self, label: Label) -> int:
        """Make a row for a label, and return its number."""
        row = self.rows[label] = len(self.rows)
        for name in COLUMNS:
            getattr(self, name).append(0)
        return row

    def add_decisions(self, decisions: Sequence[Decision]) -> None:
        """Count the labels of these decisions."""
        rows, counts, estimates, last_shown = (
            self.rows, self.decisions, self.estimates, self.last_shown,
        )  # fmt: skip
        for decision in decisions:
            at = decision.at
            for label, estimate in zip(decision.labels, decision.estimate, strict=True):
                row = rows.get(label)
                if row is None:
                    row = self.add_label(label)
                counts[row] += 1
                estimates[row] += estimate
                last_shown[row] = at

    def add_shown(self, seen: Sequence[Label]) -> None:
        """Count labels that a user looked at."""
        rows, shown = self.rows, self.shown
        for label in seen:
            row = rows.get(label)
            if row is None:  # it was retired, and dropped
                row = self.add_label(label)
            shown[row] += 1

    def add_clicked(self, clicked: Iterable[Label]) -> None:
        """Count labels that were clicked, after `add_shown`."""
        for label in clicked:
            self.clicked[self.rows[label]] += 1

    def begin_anew(self, labels: Iterable[Label]) -> None:
        """Forget what was counted of labels of these names: others have been added."""
        for label in labels:
            row = self.rows.get(label)
            if row is not None:
                for name in COLUMNS:
                    getattr(self, name)[row] = 0

    def top(self, most: int) -> list[dict[str, Any]]:
        """The labels that were clicked most, then shown most."""
        best = np.lexsort((-np.array(self.shown), -np.array(self.clicked)))[:most].tolist()
        names = list(self.rows)
        return [
            {"label": names[i], "shown": self.shown[i], "clicked": self.clicked[i]}
            for i in best
            if self.shown[i]
        ]

    def keep_only(self, labels: Sequence[Label]) -> None:
        """Drop the labels that can no longer be shown, once there are many of them."""
        if len(self.rows) <= 2 * len(labels) + SPARE:
            return
        wanted = set(labels)
        kept = {label: row for label, row in self.rows.items() if label in wanted}
        for name in COLUMNS:
            column = getattr(self, name)
            setattr(self, name, [column[row] for row in kept.values()])
        self.rows = _numbered(kept)

    def copy(self) -> LabelCounts:
        """The counts as they are now."""
        other = LabelCounts()
        other.rows = dict(self.rows)
        for name in COLUMNS:
            setattr(other, name, list(getattr(self, name)))
        return other

    def dump(self) -> dict[str, Any]:
        """As JSON can hold it: labels are values, not keys, and stay numbers if they are."""
        columns = {name: list(getattr(self, name)) for name in COLUMNS}
        return {"labels": list(self.rows), **columns}

    @classmethod
    def restore(cls, dump: dict[str, Any]) -> LabelCounts:
        """The counts that were dumped."""
        self = cls()
        self.rows = _numbered(dump["labels"])
        for name in COLUMNS:
            setattr(self, name, list(dump[name]))
        return self


def _numbered(labels: Iterable[Label]) -> dict[Label, int]:
    return {label: row for row, label in enumerate(labels)}
