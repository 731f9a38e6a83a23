"""Lemma 1: the best ordered subset is a prefix of the labels sorted by probability.

With the labels in decreasing order of p, a slate of the first s labels costs, up to a constant,

    J(s) = Σ_{j<=s} (1-a) c(j,s) (1 - p_j) - a p_j,     J(0) = 0,

and the best s minimises J. The paper divides by 1 - a; multiplied through, ranking (a = 1) is an
ordinary value that fills all slots. If two sizes have the same J, the longer slate is taken, in
agreement with the paper's criterion p >= θ, and with what any a > 0 does, however small: at a = 0,
too, labels with p = 1 are shown, and positions that cost nothing filled. (A shorter slate loses as
little there, but a = 0 would be a jump: a learner that shows nothing, and so never learns.)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.checks import is_whole, shortened
from semibandit._util.ordering import SCORE_GRID, order
from semibandit.errors import InputError
from semibandit.theory.cost import Cost, Costs, check_a, decreasing

__all__ = [
    "PairProbability",
    "SCORE_GRID",
    "TIE_TOLERANCE",
    "best_slate",
    "cut",
    "order",
    "pair_probabilities",
    "read_probabilities",
    "read_slots",
    "best_ranking",
]

PairProbability: TypeAlias = Callable[[Ints, Ints], Floats]

MOST_SETS = 100_000  # that `best_ranking` tries
LAW_TOLERANCE = 1e-9  # up to which probabilities of pairs may miss what a joint law allows
# J of slates that end at the threshold differ by rounding only: up to this, they are ties.
TIE_TOLERANCE = 1e-12


def best_slate(
    prob: Sequence[float] | Floats,
    slots: int | None = None,
    a: float = 0.5,
    cost: Cost = decreasing,
) -> Ints:
    """Return the slate with the least expected ℓ_{a,c}, by Lemma 1.

    On the true probabilities p_{i,t} this is the Bayes slate Y*_t.

    Paper: Lemma 1.

    Parameters
    ----------
    prob : sequence of float
        The probability p_i that label i is relevant, for every label.
    slots : int, optional
        S_t, the most labels that may be shown; by default there is no limit.
    a : float, default 0.5
        The weight of missed labels in ℓ_{a,c}, from 0 to 1.
    cost : Cost, default decreasing
        The position costs c(i, s). A table limits the slate to as many labels as it has rows.

    Returns
    -------
    array of int
        The labels' indices, most probable first. Labels with equal probabilities are in the order
        of their indices; of slates with equal loss, the longest is returned.

    Raises
    ------
    InputError
        If prob is not a list of probabilities, or slots, a or cost is not valid.

    Examples
    --------
    >>> best_slate([0.1, 0.9, 0.4, 0.6]).tolist()
    [1, 3, 2]
    >>> best_slate([0.1, 0.9, 0.4, 0.6], slots=1).tolist()
    [1]
    """
    p = read_probabilities(prob)
    best = order(p, np.arange(len(p)), read_slots(slots))
    return best[: cut(p[best], check_a(a), Costs(cost))]


def best_ranking(
    prob: Sequence[float] | Floats, slots: int | None = None, both: PairProbability | None = None
) -> Ints:
    """Return the `slots` most probable labels: the ranking f* of Lemma 2.

    If labels are independent given the context, f* has the least expected ℓ_{p-rank}. Otherwise the
    best ranking depends on pairs, by eq. (9) with P(y_i = y_j = 1) in the place of p_i p_j: give
    `both`, and it is found by trying all sets of labels. f* can lose more than it, with 3 labels
    and 2 slots up to ½. (The order within a set is by probability in any case.)

    Paper: Lemma 2.

    Parameters
    ----------
    prob : sequence of float
        p_i for every label i, as for `best_slate`.
    slots : int, optional
        S_t, the number of labels to return; by default all of them.
    both : function, optional
        P(y_i = y_j = 1) as a function of two arrays of indices i and j; by default labels are
        independent, eq. (4).

    Returns
    -------
    array of int
        The labels' indices, most probable first. Labels with equal probabilities are in the order
        of their indices.

    Raises
    ------
    InputError
        If prob is not a list of probabilities, slots is not valid, no joint law has these
        probabilities of pairs, or there are more than 100,000 sets to try.

    Examples
    --------
    >>> best_ranking([0.1, 0.9, 0.4, 0.6], slots=2).tolist()
    [1, 3]

    Labels 0 and 1 are never relevant together, 0 and 2 always:

    >>> together = np.array([[0.5, 0, 0.5], [0, 0.5, 0], [0.5, 0, 0.5]])
    >>> best_ranking([0.5, 0.5, 0.5], slots=2, both=lambda i, j: together[i, j]).tolist()
    [0, 2]
    """
    p = read_probabilities(prob)
    best = order(p, np.arange(len(p)), read_slots(slots))
    return best if both is None else _best_set(p, len(best), both)


def pair_probabilities(p: Floats, i: Ints, j: Ints, both: PairProbability | None) -> Floats:
    """Return P(y_i = y_j = 1) for these pairs, or raise `InputError` if no joint law has them."""
    if both is None:
        return np.asarray(p[i] * p[j])
    joint = np.asarray(both(i, j), dtype=np.float64)
    low, high = np.maximum(p[i] + p[j] - 1.0, 0.0), np.minimum(p[i], p[j])
    wrong = np.flatnonzero(~((joint >= low - LAW_TOLERANCE) & (joint <= high + LAW_TOLERANCE)))
    if len(wrong):
        k = wrong[0]
        raise InputError(
            f"both({i[k]}, {j[k]}) = {joint[k]:g}, but labels of probability {p[i[k]]:g} and "
            f"{p[j[k]]:g} are relevant together with {low[k]:g} to {high[k]:g}: no joint law has "
            "these pairs"
        )
    return joint


def _best_set(p: Floats, s: int, both: PairProbability) -> Ints:
    """Return the s labels with the least expected ℓ_{p-rank}, sorted; f* if it is as good."""
    n_sets, n_pairs = math.comb(len(p), s), s * (s - 1) // 2
    if n_sets > MOST_SETS:
        raise InputError(
            f"slots = {s} of {len(p)} labels with both: there are {n_sets} sets to try, more than "
            f"{MOST_SETS}"
        )
    by_p = order(p, np.arange(len(p)), None)
    J = np.diag(p[by_p])
    above, below = np.triu_indices(len(p), k=1)
    J[above, below] = J[below, above] = pair_probabilities(p, by_p[above], by_p[below], both)
    _check_triples(J, by_p)
    sets = np.array([*itertools.combinations(range(len(p)), s)], dtype=np.intp).reshape(n_sets, s)
    value = p[by_p][sets] @ np.arange(s, 0, -1)  # eq. (9)
    above, below = np.triu_indices(s, k=1)
    value += J[sets[:, above], sets[:, below]].reshape(n_sets, n_pairs).sum(axis=1)
    return np.asarray(by_p[sets[np.flatnonzero(value >= value.max() - TIE_TOLERANCE)[0]]])


def _check_triples(J: Floats, labels: Ints) -> None:
    """Refuse probabilities of pairs that no three labels can have; J has p on its diagonal."""
    p = np.diag(J)
    for i, together in enumerate(J):
        sums = together[:, None] + together[None, :]
        alone = p[i] - sums + J  # at least P(i is relevant, j and k are not)
        none = 1.0 - p[i] - p[:, None] - p[None, :] + sums + J  # at least P(none of the three is)
        for least in (alone, none):
            if least.min() < -LAW_TOLERANCE:
                j, k = divmod(int(least.argmin()), len(p))
                three = labels[[i, j, k]].tolist()
                raise InputError(f"both: no joint law of the labels {three} has these pairs")


def cut(prob: Floats, a: float, costs: Costs) -> int:
    """Return how many labels to show, the last argmin of J; `prob` is sorted, best first."""
    if costs.limit is not None:
        prob = prob[: costs.limit]
    J = (1.0 - a) * costs.sums(1.0 - prob) - a * prob.cumsum()  # for s = 1, 2, ...; J(0) = 0
    least = J.min(initial=0.0) + TIE_TOLERANCE
    good = (least >= J).nonzero()[0]
    if len(good):
        return int(good[-1]) + 1
    if np.isnan(least):
        raise ArithmeticError("a probability is nan: no slate is best")
    return 0


def read_slots(slots: int | None) -> int | None:
    """Return `slots` as an int, or None for no limit; raise `InputError` if it is neither."""
    if slots is None:
        return None
    if not is_whole(slots) or slots < 0:
        raise InputError(
            f"slots = {slots!r}, but it must be a whole number of at least 0, or None for no limit"
        )
    return int(slots)


def read_probabilities(prob: Sequence[float] | Floats) -> Floats:
    """Return one probability per label as an array, or raise `InputError`."""
    try:
        p = np.asarray(prob, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"prob must be one number per label, got {shortened(prob)}") from None
    if p.ndim != 1:
        raise InputError(f"prob must be one number per label, got an array of shape {p.shape}")
    wrong = np.flatnonzero(~((p >= 0) & (p <= 1)))
    if len(wrong):
        raise InputError(f"prob[{wrong[0]}] = {p[wrong[0]]:g}, but probabilities lie in [0, 1]")
    return p
