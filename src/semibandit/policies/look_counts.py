"""How many labels were looked at, of those there were: pruning in one number."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LookCounts"]


@dataclass
class LookCounts:
    """Sums over slates. Threads that rank at the same time may miss a few: it is a statistic."""

    looked: int = 0  # labels that were looked at exactly
    labels: int = 0  # labels that could be shown

    def add(self, looked: int, labels: int) -> None:
        """One more slate."""
        self.looked += looked
        self.labels += labels

    @property
    def share(self) -> float:
        """The share that was looked at; 1 before the first slate."""
        return self.looked / self.labels if self.labels else 1.0
