"""Untouched labels in the order of their ties."""

from __future__ import annotations

import numpy as np

from semibandit.models import untouched
from semibandit.models.untouched import Untouched


def test_the_first_by_their_ties(monkeypatch):
    monkeypatch.setattr(untouched, "SOME", 4)
    random = np.random.default_rng(0)
    queue, K = Untouched(), 60
    tie, row_of = random.random(K), np.full(K, -1)
    for t in range(300):
        without = np.sort(random.choice(K, random.integers(0, 9), replace=False))
        most = int(random.integers(0, 12))
        free = np.setdiff1d(np.flatnonzero(row_of < 0), without)
        expected = free[np.argsort(tie[free])][:most]
        assert queue.first(most, row_of, tie, without).tolist() == expected.tolist()
        turn = float(random.random())
        around = free[np.lexsort((tie[free], tie[free] < turn))][:most]
        assert queue.first(most, row_of, tie, without, turn).tolist() == around.tolist()
        row_of[expected[:1]] = t  # touched
        if t % 50 == 49:
            row_of[random.choice(K, 20)] = -1
            queue.restart()
        if t % 70 == 69:
            tie, row_of, K = np.append(tie, random.random(5)), np.append(row_of, [-1] * 5), K + 5
