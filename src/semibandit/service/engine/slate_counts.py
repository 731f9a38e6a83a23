"""Slates by size, clicks by position, and estimates against clicks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from semibandit.policies.labels import Label
from semibandit.store.event import Decision

__all__ = ["MOST", "SlateCounts"]

BINS = 10
MOST = 50  # labels of a slate that are told apart; larger ones are counted as having one more
LISTS = (
    "sizes", "seen_sizes", "seen_positions", "clicked_positions",
    "bin_labels", "bin_clicks", "bin_estimates",
)  # fmt: skip


class SlateCounts:
    """Counts of what was shown together."""

    def __init__(self) -> None:
        self.sizes = [0] * (MOST + 2)  # slates by their number of labels
        self.seen_sizes = [0] * (MOST + 2)  # of those that users looked at as a whole
        self.seen_positions = [0] * MOST  # in slates that they looked at in part
        self.clicked_positions = [0] * MOST
        self.bin_labels, self.bin_clicks = [0] * BINS, [0] * BINS
        self.bin_estimates = [0.0] * BINS

    def add_seen(self, decision: Decision) -> None:
        """Count a slate that a user has looked at as a whole."""
        size = len(decision.labels)
        self.seen_sizes[size if size <= MOST else MOST + 1] += 1
        self._add_estimates(decision.estimate)

    def add_examined(self, decision: Decision, examined: Sequence[Label]) -> list[Label]:
        """Count a slate that a user has looked at in part; the labels of that part."""
        looked_at = set(examined)
        places = [i for i, label in enumerate(decision.labels) if label in looked_at]
        for i in places:
            if i < MOST:
                self.seen_positions[i] += 1
        self._add_estimates([decision.estimate[i] for i in places])
        return [decision.labels[i] for i in places]

    def _add_estimates(self, estimates: Sequence[float]) -> None:
        labels, sums = self.bin_labels, self.bin_estimates
        for estimate in estimates:
            i = int(estimate * BINS)
            if not 0 <= i < BINS:
                i = _bin(estimate)
            labels[i] += 1
            sums[i] += estimate

    def add_clicks(self, decision: Decision, clicked: set[Label]) -> None:
        """Count the labels of a slate that were clicked."""
        for place, label in enumerate(decision.labels):
            if label in clicked:
                self.bin_clicks[_bin(decision.estimate[place])] += 1
                if place < MOST:
                    self.clicked_positions[place] += 1

    def by_size(self) -> list[int]:
        """How many slates have 0, 1, 2, ... labels; the 52nd number is of all larger ones."""
        last = max((i for i, n in enumerate(self.sizes) if n), default=-1)
        return self.sizes[: last + 1]

    def by_position(self) -> list[list[int]]:
        """How often a label was shown and clicked there, for each position from the top."""
        at_least = list(accumulate(reversed(self.seen_sizes)))[::-1]  # slates of that size
        shown = [a + b for a, b in zip(at_least[1 : MOST + 1], self.seen_positions, strict=True)]
        both = zip(shown, self.clicked_positions, strict=True)
        return [[n, clicked] for n, clicked in both if n]

    def calibration(self) -> list[dict[str, Any]]:
        """For each tenth of the estimates: how many labels, their clicks and mean estimate."""
        bins = zip(self.bin_labels, self.bin_clicks, self.bin_estimates, strict=True)
        return [
            {"labels": n, "clicks": clicks, "estimate": total / n if n else None}
            for n, clicks, total in bins
        ]

    def dump(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {name: list(getattr(self, name)) for name in LISTS}

    @classmethod
    def restore(cls, dump: dict[str, Any]) -> SlateCounts:
        """The counts that were dumped."""
        self = cls()
        for name in LISTS:
            setattr(self, name, list(dump[name]))
        return self


def _bin(estimate: float) -> int:
    return min(max(int(estimate * BINS), 0), BINS - 1)
