"""The paper's losses of a slate, on one answer and in expectation.

`relevant` is the unordered set Y, `shown` the ordered slate Ŷ. As a ranking, a slate gives its
labels decreasing positive values and every other label 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit.errors import InputError
from semibandit.theory.cost import Cost, Costs, check_a, decreasing

__all__ = ["KINDS", "Kind", "expected_loss", "hamming", "loss_ac", "loss_p_rank", "loss_rank"]

Kind: TypeAlias = Literal["ac", "hamming", "rank", "p_rank"]
KINDS: tuple[Kind, ...] = ("ac", "hamming", "rank", "p_rank")
Both: TypeAlias = Callable[[Ints, Ints], Floats]

Relevant: TypeAlias = Collection[Hashable]
Shown: TypeAlias = Sequence[Hashable]


def loss_ac(relevant: Relevant, shown: Shown, a: float = 0.5, cost: Cost = decreasing) -> float:
    """ℓ_{a,c} = a·|Y \\ Ŷ| + (1-a)·Σ_{i in Ŷ \\ Y} c(j_i, |Ŷ|).

    The paper's example: K = 10, Ŷ = (4, 3, 6), Y = {1, 3, 8}; two labels are missed, and the
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
    """|Y \\ Ŷ| + |Ŷ \\ Y|: twice ℓ_{a,c} with a = 1/2 and constant costs.

    >>> hamming({1, 3, 8}, (4, 3, 6))
    4
    """
    Y, hit = _hits(relevant, shown)
    return Y + len(hit) - 2 * int(hit.sum())


def loss_rank(relevant: Relevant, shown: Shown, n_labels: int) -> float:
    """ℓ_rank: pairs of a relevant and an irrelevant label in the wrong order, ties counting half.

    >>> loss_rank({1, 3, 8}, (4, 3, 6), n_labels=10)
    10.0
    """
    Y, hit = _hits(relevant, shown)
    missed, wrong = Y - int(hit.sum()), int((~hit).sum())
    hidden_wrong = n_labels - len(hit) - missed
    if hidden_wrong < 0:
        raise InputError(f"n_labels = {n_labels} is fewer than the labels shown and relevant")
    return _swaps(hit) + missed * wrong + 0.5 * missed * hidden_wrong


def loss_p_rank(relevant: Relevant, shown: Shown, slots: int | None = None) -> float:
    """ℓ_{p-rank}: wrongly ordered pairs within the slate, plus S for every missed label.

    S is `slots`, the most that could be shown; without it, as many as were.

    >>> loss_p_rank({1, 3, 8}, (4, 3, 6))
    7.0
    """
    Y, hit = _hits(relevant, shown)
    S = len(hit) if slots is None else slots
    if len(hit) > S:
        raise InputError(f"{len(hit)} labels were shown, more than slots = {slots}")
    return float(_swaps(hit) + S * (Y - int(hit.sum())))


def expected_loss(
    kind: Kind,
    prob: Floats,
    shown: Ints,
    *,
    a: float = 0.5,
    cost: Cost = decreasing,
    slots: int | None = None,
    both: Both | None = None,
) -> float:
    """E[loss of `shown`] where label i is relevant with probability prob[i], exactly; eq. (3).

    The pairwise losses also need P(y_i = y_j = 1), as `both(i, j)`; without it labels are
    independent. The S of "p_rank" is `slots`, though no more than there are labels; without it, as
    many as are shown.

    >>> expected_loss("hamming", np.array([0.9, 0.2, 0.4]), np.array([0]))
    0.7
    """
    if kind not in KINDS:
        raise InputError(f"kind = {kind!r}, but a loss is one of {', '.join(KINDS)}")
    prob, shown = np.asarray(prob, dtype=np.float64), np.asarray(shown, dtype=np.intp)
    if len(np.unique(shown)) < len(shown):
        raise InputError(f"shown = {shown.tolist()} names a label twice")
    if not np.all((prob >= 0) & (prob <= 1)):
        raise InputError("prob must hold probabilities, all in [0, 1]")
    p_in = prob[shown]
    s, missed = len(shown), float(prob.sum() - p_in.sum())
    if kind == "ac":
        wrong = float(Costs(cost).row(s) @ (1.0 - p_in)) if s else 0.0
        return check_a(a) * missed + (1.0 - a) * wrong
    if kind == "hamming":
        return missed + float((1.0 - p_in).sum())
    joint: Both = (lambda i, j: prob[i] * prob[j]) if both is None else both
    above, below = np.triu_indices(s, k=1)
    swaps = float((p_in[below] - joint(shown[above], shown[below])).sum())
    if kind == "p_rank":
        return swaps + (s if slots is None else min(slots, len(prob))) * missed
    hidden = np.setdiff1d(np.arange(len(prob)), shown)
    i, j = (grid.ravel() for grid in np.meshgrid(shown, hidden, indexing="ij"))
    swaps += float((prob[j] - joint(i, j)).sum())
    one, two = np.triu_indices(len(hidden), k=1)
    i, j = hidden[one], hidden[two]
    return swaps + 0.5 * float((prob[i] + prob[j] - 2.0 * joint(i, j)).sum())


def _hits(relevant: Relevant, shown: Shown) -> tuple[int, Bools]:
    Y, labels = set(relevant), list(shown)
    if len(set(labels)) != len(labels):
        raise InputError(f"shown = {labels} names a label twice")
    return len(Y), np.array([label in Y for label in labels], dtype=np.bool_)


def _swaps(hit: Bools) -> float:
    """Pairs within the slate where an irrelevant label stands above a relevant one."""
    return float(np.cumsum(~hit) @ hit) if len(hit) else 0.0
