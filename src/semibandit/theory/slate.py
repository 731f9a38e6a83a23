"""Lemma 1: the best ordered subset is a prefix of the labels sorted by probability.

With the labels in decreasing order of p, a slate of the first s labels costs, up to a constant,

    J(s) = Σ_{j<=s} (1-a) c(j,s) (1 - p_j) - a p_j,     J(0) = 0,

and the best s minimises J. The paper divides by 1 - a; multiplied through, ranking (a = 1) is an
ordinary value that fills all slots. Equal J: the longer slate, as the paper's p >= θ has it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.errors import InputError
from semibandit.theory.cost import Cost, Costs, check_a, decreasing

__all__ = ["EQUAL", "GRID", "choose", "cut", "order", "read_slots", "top"]

EQUAL = 1e-12  # J of labels at the threshold differ by rounding only; those are ties
GRID = 1e9  # learners order by rint(score·GRID): labels with the same history are ties, not noise


def choose(
    prob: Sequence[float] | Floats,
    slots: int | None = None,
    a: float = 0.5,
    cost: Cost = decreasing,
) -> Ints:
    """The slate of at most `slots` labels with the least expected ℓ_{a,c}, best first (Lemma 1).

    On true probabilities this is the Bayes slate. Ties go to the label with the lower index.

    >>> choose([0.1, 0.9, 0.4, 0.6]).tolist()
    [1, 3, 2]
    >>> choose([0.1, 0.9, 0.4, 0.6], slots=1).tolist()
    [1]
    """
    p = _probabilities(prob)
    best = order(p, np.arange(len(p)), read_slots(slots))
    return best[: cut(p[best], check_a(a), Costs(cost))]


def top(prob: Sequence[float] | Floats, slots: int | None = None) -> Ints:
    """Lemma 2's f*: the `slots` most probable labels; best for ℓ_{p-rank} with independent labels.

    >>> top([0.1, 0.9, 0.4, 0.6], slots=2).tolist()
    [1, 3]
    """
    p = _probabilities(prob)
    return order(p, np.arange(len(p)), read_slots(slots))


def cut(prob: Floats, a: float, costs: Costs) -> int:
    """How many of the labels to show, the last argmin of J; `prob` is sorted, best first."""
    if costs.limit is not None:
        prob = prob[: costs.limit]
    J = (1.0 - a) * costs.sums(1.0 - prob) - a * np.cumsum(prob)
    J = np.concatenate([[0.0], J])
    return int(np.flatnonzero(J.min() + EQUAL >= J)[-1])


def order(score: Floats, tie: Floats | Ints, slots: int | None = None) -> Ints:
    """Indices of the `slots` largest scores, best first, equal ones by smaller `tie`.

    O(K + S log S): one partition finds the last score that makes it, only the S chosen are sorted.
    """
    K = len(score)
    S = K if slots is None else min(slots, K)
    if S == 0:
        return np.empty(0, dtype=np.intp)
    chosen = np.arange(K)
    if S < K:
        last = np.partition(score, K - S)[K - S]
        chosen, level = np.flatnonzero(score > last), np.flatnonzero(score == last)
        room = S - len(chosen)
        if len(level) > room:
            level = level[np.argpartition(tie[level], room - 1)[:room]]
        chosen = np.concatenate([chosen, level])
    return chosen[np.lexsort((tie[chosen], -score[chosen]))]


def read_slots(slots: int | None) -> int | None:
    """`slots` as an int, None for no limit, or an error."""
    if slots is None:
        return None
    if isinstance(slots, bool | np.bool_) or not isinstance(slots, int | np.integer):
        raise InputError(f"slots must be a whole number or None, got {slots!r}")
    if slots < 0:
        raise InputError(f"slots = {slots}, but a slate cannot have fewer than 0 labels")
    return int(slots)


def _probabilities(prob: Sequence[float] | Floats) -> Floats:
    p = np.asarray(prob, dtype=np.float64)
    if p.ndim != 1:
        raise InputError(f"prob must be one number per label, got an array of shape {p.shape}")
    wrong = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if len(wrong):
        raise InputError(f"prob[{wrong[0]}] = {p[wrong[0]]:g}, but probabilities lie in [0, 1]")
    return p
