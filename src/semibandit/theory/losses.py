"""The paper's losses of a slate, for one answer and in expectation.

`relevant` is the unordered set Y, `shown` the ordered slate Ŷ. Read as a ranking f, a slate gives
its labels decreasing positive values and every other label 0.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit._util.checks import shortened
from semibandit.errors import InputError
from semibandit.theory.cost import Cost, Costs, check_a, decreasing
from semibandit.theory.slate import (
    PairProbability,
    pair_probabilities,
    read_probabilities,
    read_slots,
)

__all__ = [
    "LOSS_KINDS",
    "LossKind",
    "check_kind",
    "expected_loss",
    "hamming",
    "loss_ac",
    "loss_p_rank",
    "loss_rank",
    "loss_rank_scores",
]

LossKind: TypeAlias = Literal["ac", "hamming", "rank", "p_rank"]
LOSS_KINDS: tuple[LossKind, ...] = ("ac", "hamming", "rank", "p_rank")

Relevant: TypeAlias = Collection[Hashable]
Shown: TypeAlias = Sequence[Hashable]


def loss_ac(relevant: Relevant, shown: Shown, a: float = 0.5, cost: Cost = decreasing) -> float:
    """Return ℓ_{a,c}(Y, Ŷ) = a·|Y \\ Ŷ| + (1-a)·Σ_{i in Ŷ \\ Y} c(j_i, |Ŷ|), of section 2.

    Parameters
    ----------
    relevant : collection of labels
        Y, the relevant labels.
    shown : sequence of labels
        Ŷ, the labels shown, first position first; j_i is the position of label i.
    a : float, default 0.5
        The weight of missed labels, from 0 to 1.
    cost : Cost, default decreasing
        The position costs c(i, s).

    Returns
    -------
    float
        ℓ_{a,c}.

    Raises
    ------
    InputError
        If a label was shown twice, or a or cost is not valid.

    Examples
    --------
    The paper's example has K = 10, Ŷ = (4, 3, 6) and Y = {1, 3, 8}. Two labels are missed, and the
    wrong ones cost 3/3 + 1/3.

    >>> loss_ac({1, 3, 8}, (4, 3, 6), a=1.0)
    2.0
    >>> round(loss_ac({1, 3, 8}, (4, 3, 6), a=0.0), 12)
    1.333333333333
    >>> round(loss_ac({1, 3, 8}, (4, 3, 6), a=0.5), 12)
    1.666666666667
    """
    Y, hit = _hits(relevant, shown)
    a, s = check_a(a), len(hit)
    wrong = float(Costs(cost).row(s) @ ~hit) if s else 0.0
    return a * (Y - int(hit.sum())) + (1.0 - a) * wrong


def hamming(relevant: Relevant, shown: Shown) -> int:
    """Return the Hamming loss |Y \\ Ŷ| + |Ŷ \\ Y|: twice ℓ_{a,c} with a = 1/2 and constant costs.

    Parameters
    ----------
    relevant, shown
        Y and Ŷ, as for `loss_ac`.

    Returns
    -------
    int
        The number of labels that are in one of the two sets and not in the other.

    Raises
    ------
    InputError
        If a label was shown twice.

    Examples
    --------
    >>> hamming({1, 3, 8}, (4, 3, 6))
    4
    """
    Y, hit = _hits(relevant, shown)
    return Y + len(hit) - 2 * int(hit.sum())


def loss_rank(relevant: Relevant, shown: Shown, n_labels: int) -> float:
    """Return ℓ_rank(Y, f) of section 4, over all pairs of a relevant and an irrelevant label.

    A pair counts 1 if the irrelevant label has the larger f, and 1/2 if both have the same. The
    labels that are not shown all have f = 0.

    Parameters
    ----------
    relevant, shown
        Y and Ŷ, as for `loss_ac`; f decreases along Ŷ.
    n_labels : int
        K, the number of all labels.

    Returns
    -------
    float
        ℓ_rank.

    Raises
    ------
    InputError
        If a label was shown twice, or there are more shown and relevant labels than n_labels.

    Examples
    --------
    >>> loss_rank({1, 3, 8}, (4, 3, 6), n_labels=10)
    10.0
    """
    Y, hit = _hits(relevant, shown)
    missed, wrong = Y - int(hit.sum()), int((~hit).sum())
    hidden_wrong = n_labels - len(hit) - missed
    if hidden_wrong < 0:
        raise InputError(
            f"n_labels = {n_labels} is fewer than the labels shown and relevant, "
            f"{len(hit) + missed}"
        )
    return _swaps(hit) + missed * wrong + 0.5 * missed * hidden_wrong


def loss_rank_scores(relevant: Collection[int], scores: Sequence[float] | Floats) -> float:
    """Return ℓ_rank(Y, f) of section 4 for any scores f of all labels, ties and all.

    A pair of a relevant and an irrelevant label counts 1 if the irrelevant one has the larger
    score, and 1/2 if both have the same. `loss_rank` is this for a slate.

    Parameters
    ----------
    relevant : collection of int
        Y, the indices of the relevant labels.
    scores : sequence of float
        f_i of every label i.

    Returns
    -------
    float
        ℓ_rank.

    Raises
    ------
    InputError
        If a score is not a number, or a relevant label has none.

    Examples
    --------
    >>> loss_rank_scores({0, 2}, [0.3, 0.3, 0.1, 0.0])
    1.5
    """
    try:
        f = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        f = np.array(np.nan)
    if f.ndim != 1 or np.isnan(f).any():
        raise InputError(f"scores = {shortened(scores)}, but they must be one number per label")
    right = np.zeros(len(f), dtype=np.bool_)
    right[_read_indices([*relevant], len(f), "relevant", "scores")] = True
    wrong = np.sort(f[~right])
    below, not_above = (np.searchsorted(wrong, f[right], side) for side in ("left", "right"))
    return float(len(wrong) * len(below) - 0.5 * (below.sum() + not_above.sum()))


def loss_p_rank(relevant: Relevant, shown: Shown, slots: int | None = None) -> float:
    """Return ℓ_{p-rank}(Y, Ŷ) of section 4: wrongly ordered pairs within Ŷ, plus S_t·|Y \\ Ŷ|.

    Parameters
    ----------
    relevant, shown
        Y and Ŷ, as for `loss_ac`.
    slots : int, optional
        S_t, the most labels that could have been shown; by default, as many as were shown.

    Returns
    -------
    float
        ℓ_{p-rank}.

    Raises
    ------
    InputError
        If a label was shown twice, or more labels were shown than there were slots.

    Examples
    --------
    >>> loss_p_rank({1, 3, 8}, (4, 3, 6))
    7.0
    """
    Y, hit = _hits(relevant, shown)
    limit = read_slots(slots)
    S = len(hit) if limit is None else limit
    if len(hit) > S:
        raise InputError(f"{len(hit)} labels were shown, more than slots = {slots}")
    return float(_swaps(hit) + S * (Y - int(hit.sum())))


def expected_loss(
    kind: LossKind,
    prob: Floats,
    shown: Ints,
    *,
    a: float = 0.5,
    cost: Cost = decreasing,
    slots: int | None = None,
    both: PairProbability | None = None,
) -> float:
    """Return E_t[loss of `shown`] exactly, if label i is relevant with probability prob[i].

    For "ac" this is eq. (3) and the term a·Σ_i p_i, which the paper leaves out there because it
    does not depend on the slate.

    Parameters
    ----------
    kind : {"ac", "hamming", "rank", "p_rank"}
        The loss: ℓ_{a,c}, the Hamming loss, ℓ_rank or ℓ_{p-rank}.
    prob : array of float
        p_{i,t}, the probability that label i is relevant, for every label.
    shown : array of int
        Ŷ, the indices of the labels shown, first position first.
    a : float, default 0.5
        The weight of missed labels, from 0 to 1; for "ac" alone.
    cost : Cost, default decreasing
        The position costs c(i, s); for "ac" alone.
    slots : int, optional
        S_t, for "p_rank" alone, though no more than there are labels; by default, as many labels as
        are shown.
    both : function, optional
        P(y_i = y_j = 1) as a function of two arrays of indices i and j, which the two ranking
        losses depend on; by default labels are independent, eq. (4).

    Returns
    -------
    float
        The expected loss.

    Raises
    ------
    InputError
        If there is no such loss, a label is shown twice or does not exist, prob does not hold
        probabilities, no joint law has the pairs of `both`, or a, cost or slots is not valid.

    Examples
    --------
    >>> expected_loss("hamming", np.array([0.9, 0.2, 0.4]), np.array([0]))
    0.7
    """
    check_kind(kind)
    prob = read_probabilities(prob)
    shown = _read_indices(shown, len(prob))
    p_in = prob[shown]
    s, missed = len(shown), float(prob.sum() - p_in.sum())
    if kind == "ac":
        wrong = float(Costs(cost).row(s) @ (1.0 - p_in)) if s else 0.0
        return check_a(a) * missed + (1.0 - a) * wrong
    if kind == "hamming":
        return missed + float((1.0 - p_in).sum())
    above, below = np.triu_indices(s, k=1)
    swaps = p_in[below] - pair_probabilities(prob, shown[above], shown[below], both)
    if kind == "p_rank":
        limit = read_slots(slots)
        return float(swaps.sum()) + (s if limit is None else min(limit, len(prob))) * missed
    return float(swaps.sum()) + _expected_hidden_pairs(prob, shown, both)


def check_kind(kind: LossKind) -> LossKind:
    """Return the kind of loss, or raise `InputError` if there is no such loss."""
    if kind not in LOSS_KINDS:
        raise InputError(f"kind = {kind!r}, but a loss is one of {', '.join(LOSS_KINDS)}")
    return kind


def _expected_hidden_pairs(prob: Floats, shown: Ints, both: PairProbability | None) -> float:
    """Return the part of ℓ_rank that comes from pairs with one or two hidden labels."""
    hidden = np.setdiff1d(np.arange(len(prob)), shown)
    i, j = (pairs.ravel() for pairs in np.meshgrid(shown, hidden, indexing="ij"))
    wrong = float((prob[j] - pair_probabilities(prob, i, j, both)).sum())
    one, two = np.triu_indices(len(hidden), k=1)
    i, j = hidden[one], hidden[two]
    differ = prob[i] + prob[j] - 2.0 * pair_probabilities(prob, i, j, both)
    return wrong + 0.5 * float(differ.sum())


def _read_indices(
    labels: object, n_labels: int, name: str = "shown", numbers: str = "prob"
) -> Ints:
    """Return labels as indices, or raise `InputError`."""
    try:
        indices = np.asarray(labels, dtype=np.intp)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} = {shortened(labels)}, but it must hold labels' indices"
        ) from None
    distinct = np.unique(indices)
    if len(distinct) < len(indices):
        raise InputError(f"{name} = {shortened(indices.tolist())} names a label twice")
    if len(distinct) and not 0 <= distinct[0] <= distinct[-1] < n_labels:
        raise InputError(
            f"{name} = {shortened(indices.tolist())}, but {numbers} has labels 0 to {n_labels - 1}"
        )
    return indices


def _hits(relevant: Relevant, shown: Shown) -> tuple[int, Bools]:
    """Return |Y|, and for every label shown whether it is in Y."""
    Y, labels = set(relevant), list(shown)
    if len(set(labels)) != len(labels):
        raise InputError(f"shown = {shortened(labels)} names a label twice")
    return len(Y), np.array([label in Y for label in labels], dtype=np.bool_)


def _swaps(hit: Bools) -> float:
    """Return how many pairs within the slate have an irrelevant label above a relevant one."""
    return float(np.cumsum(~hit) @ hit) if len(hit) else 0.0
