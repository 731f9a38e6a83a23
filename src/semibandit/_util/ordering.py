"""The order of labels: by score, and labels with equal scores by a fixed order among them."""

from __future__ import annotations

import numpy as np

from semibandit._util.arrays import Floats, Ints

__all__ = ["SCORE_GRID", "order", "turned"]

# Learners order labels by rint(score·SCORE_GRID): labels with the same history are ties, not noise.
SCORE_GRID = 1e9

FEW = 100  # labels that are sorted as fast as the best of them are found


def order(score: Floats, tie: Floats | Ints, slots: int | None = None) -> Ints:
    """Return the indices of the `slots` largest scores, best first, equal ones by smaller `tie`.

    This takes O(K + S log S): one partition finds the smallest score that is chosen, and only the S
    chosen labels are sorted.
    """
    K = len(score)
    S = K if slots is None else min(slots, K)
    if S == 0:
        return np.empty(0, dtype=np.intp)
    if K <= FEW:
        return np.lexsort((tie, -score))[:S]
    chosen = np.arange(K)
    if S < K:
        last = np.partition(score, K - S)[K - S]
        chosen, level = np.flatnonzero(score > last), np.flatnonzero(score == last)
        room = S - len(chosen)
        if len(level) > room:
            level = level[np.argpartition(tie[level], room - 1)[:room]]
        chosen = np.concatenate([chosen, level])
    return chosen[np.lexsort((tie[chosen], -score[chosen]))]


def turned(tie: Floats, turn: float) -> Floats:
    """The order among equals, begun at `turn`: ties from there on come first, then the others.

    >>> turned(np.array([0.1, 0.5, 0.9]), 0.4).round(1).tolist()
    [0.7, 0.1, 0.5]
    """
    return tie if turn == 0.0 else np.asarray((tie - turn) % 1.0)
