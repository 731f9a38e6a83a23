"""The requests of the last five minutes: how many, how quick, and how many failed."""

from __future__ import annotations

import time
from bisect import bisect_left
from typing import Any

__all__ = ["RecentRequests"]

SLICE = 5.0  # seconds
SLICES = 60
RATIO = 1.2  # of one bound to the one before
BOUNDS = [1e-4 * RATIO**i for i in range(72)]  # seconds: 0.1 ms to about 42 s


class RecentRequests:
    """Counts by slices of five seconds, in a ring; a request costs less than a microsecond.

    Examples
    --------
    >>> recent = RecentRequests()
    >>> for ms in range(1, 101):
    ...     recent.count(200 if ms < 100 else 503, ms / 1000)
    >>> found = recent.summary()
    >>> found["count"], found["errors"], 45 < found["p50_ms"] < 55, 90 < found["p99_ms"] < 110
    (100, 1, True, True)
    """

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._slices = [_Slice(-1) for _ in range(SLICES)]

    def count(self, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        number = int(time.monotonic() / SLICE)
        one = self._slices[number % SLICES]
        if one.number != number:
            one = self._slices[number % SLICES] = _Slice(number)
        one.times[bisect_left(BOUNDS, seconds)] += 1
        if status >= 400:
            if status >= 500:
                one.errors += 1
            else:
                one.refused += 1

    def summary(self) -> dict[str, Any]:
        """Their number, errors, those refused, how many a second, and how long they took."""
        now = time.monotonic()
        first = int(now / SLICE) - SLICES + 1
        recent = [one for one in self._slices if one.number >= first]
        times = [sum(counts) for counts in zip(*(one.times for one in recent), strict=True)]
        number = sum(times)
        seconds = min(max(now - self._start, SLICE), SLICE * SLICES)
        return {
            "count": number,
            "errors": sum(one.errors for one in recent),
            "refused": sum(one.refused for one in recent),
            "per_second": number / seconds,
            "p50_ms": _quantile(times, 0.5),
            "p99_ms": _quantile(times, 0.99),
        }


class _Slice:
    def __init__(self, number: int) -> None:
        self.number, self.errors, self.refused = number, 0, 0
        self.times = [0] * (len(BOUNDS) + 1)


def _quantile(times: list[int], share: float) -> float | None:
    """In milliseconds, as if times were spread evenly between two bounds; None without any."""
    rank, before = share * sum(times), 0
    for i, n in enumerate(times):
        if n and before + n >= rank:
            low = BOUNDS[i - 1] if i else 0.0
            high = BOUNDS[min(i, len(BOUNDS) - 1)]
            return 1000 * (low + (high - low) * max(0.0, rank - before) / n)
        before += n
    return None
