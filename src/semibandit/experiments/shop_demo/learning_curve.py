"""A learning curve of any length in bounded memory."""

from __future__ import annotations

from collections import deque

__all__ = ["LearningCurve"]

MOST = 240  # points that are kept: neighbours are merged if there are more
RECENT = 200  # visits that `now` is the mean of


class LearningCurve:
    """The mean of a value per visit: of groups of visits since the start, and of the latest.

    Examples
    --------
    >>> curve = LearningCurve(group=2)
    >>> for value in (0.0, 0.5, 1.0, 1.0, 1.0):
    ...     curve.add(value)
    >>> curve.points, curve.now
    ([(2, 0.25), (4, 1.0)], 0.7)
    """

    def __init__(self, group: int = 20) -> None:
        self.visits = 0
        self._group, self._sums = group, [0.0]
        self._recent: deque[float] = deque(maxlen=RECENT)

    def add(self, value: float) -> None:
        """Add the value of one more visit."""
        self._recent.append(value)
        self._sums[-1] += value
        self.visits += 1
        if self.visits % self._group == 0:
            self._sums.append(0.0)
        if len(self._sums) > MOST:  # MOST is even: whole groups are merged, and an empty one begins
            sums = self._sums
            self._sums = [a + b for a, b in zip(sums[:-1:2], sums[1:-1:2], strict=True)] + [0.0]
            self._group *= 2

    @property
    def points(self) -> list[tuple[int, float]]:
        """(visits so far, mean of the value) at the end of each group."""
        n = self._group
        return [(n * i, total / n) for i, total in enumerate(self._sums[:-1], 1)]

    @property
    def now(self) -> float | None:
        """The mean over the latest visits; None if there were none."""
        recent = list(self._recent)
        return sum(recent) / len(recent) if recent else None
