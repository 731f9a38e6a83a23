"""The regret bounds of Theorems 1, 2 and 3, with the explicit constants of their proofs.

All three are sums of what one round can cost if every width covers the truth (Lemma 7), that is,
|Δ_i - Δ̂'_i| <= ε_i for all labels. With p⁺ = p([Δ̂' + ε]_D), J(Y; p) the expected ℓ_{a,c} of a slate
Y if p holds, and w_i = a + (1-a) c(j_i, |Ŷ|):

    Lemma 5:  J(Ŷ; p) - J(Y*; p) <= J(Ŷ; p) - J(Ŷ; p⁺) = Σ_{i shown} w_i (p⁺_i - p_i)
                                 <= 2 c_L Σ_{i shown} w_i ε_i <= 2 c_L Σ_{i shown} ε_i,

since p <= p⁺ makes J(Y*; p) >= J(Y*; p⁺) >= J(Ŷ; p⁺), and costs are at most 1. The paper has the
factor 1-a in front: its last "=" turns a/(1-a) + c into c. Costs up to C > 1 are brought to 1 by
dividing the loss by a + (1-a) C.

    Lemma 6:  Σ_{i shown} (S+1-ĵ_i) (p⁺_i - p_i) + Σ_{i above j} (p⁺_i p⁺_j - p_i p_j)
                                 <= 2 (2S-1) c_L Σ_{i shown} ε_i        for ℓ_{p-rank},

with ĵ_i the position in the slate itself: the order by p, which the paper has here, is another.

Σ_t ε_{i,t}² <= M then holds over the rounds in which label i was shown, and only over these: as
long as a label is not shown, its A_i and its width stay as they are.

Paper: Lemma 5; Lemma 6.
"""

from __future__ import annotations

import math
from typing import Any

from semibandit._util.checks import finite_number
from semibandit.errors import InputError
from semibandit.theory.cost import check_a
from semibandit.theory.slate import read_slots
from semibandit.theory.surrogate import Surrogate
from semibandit.theory.width import check_delta, confidence

__all__ = ["theorem1", "theorem2", "theorem3"]


def theorem1(
    *, T: int, d: int, K: int, U: float, loss: Surrogate, a: float = 0.5, delta: float = 0.05,
    slots: int | None = None, printed: bool = False, learner: object = None,
) -> float:  # fmt: skip
    """Return Theorem 1's bound on the regret R_T of Figure 2 with `KnownNorm(U, delta)`.

    R_T <= 2 c_L K sqrt(T M) with M = 2 C d ln(1 + T/d), where C is the factor of x·A⁻¹x in ε² at
    t = T. It holds with probability at least 1 - delta, for costs of at most 1.

    If all labels may be shown, no round costs more than (1-a) K either, so the bound is the
    smaller one of this and (1-a) K T: 0 for a = 1. The paper prints 2(1-a) c_L K sqrt(T M); the
    factor 1-a comes from a mistake in Lemma 5's proof, and regret can be above that.

    Paper: Theorem 1; Remark 3.

    Parameters
    ----------
    T : int
        The number of rounds.
    d : int
        The dimension of the contexts.
    K : int
        The number of labels.
    U : float
        A bound on the norms of the true weights, ||u_i|| <= U.
    loss : Surrogate
        The surrogate, with c_L, c'_L, c''_L and L(-R).
    a : float, default 0.5
        The weight of missed labels in ℓ_{a,c}, from 0 to 1.
    delta : float, default 0.05
        δ, the probability that the bound fails, strictly between 0 and 1/e.
    slots : int, optional
        S, the most labels shown in a round; a table of costs sets such a limit, too. By Remark 3,
        sqrt(S K) takes the place of K. Without it all labels may be shown in every round: where
        only some rounds are limited, give K.
    printed : bool, default False
        Whether to return the value that the paper prints, with the factor 1-a.
    learner : SlateUCB, optional
        The learner whose regret it is about. It changes nothing, but it is refused if nothing is
        proven of it: see `ConfidenceWidth`; and probes and `at_least` cost regret of their own.

    Returns
    -------
    float
        The bound.

    Raises
    ------
    InputError
        If T, d or K is less than 1, U, a, delta or slots is out of range, or the theorem is not
        about the learner.

    Examples
    --------
    >>> from semibandit.theory.surrogate import Square
    >>> round(theorem1(T=1000, d=5, K=10, U=1.0, loss=Square(), slots=3))
    50014
    >>> theorem1(T=1000, d=5, K=10, U=1.0, loss=Square())
    5000.0
    """
    _check(T, d, K, U, delta)
    _check_learner(learner, U, delta)
    of_updates, of_noise = confidence(T, d, K, delta, loss)
    return _covered(T, d, K, U**2 + of_updates + of_noise, loss, a, slots, printed)


def theorem2(
    *, T: int, d: int, K: int, U: float, loss: Surrogate, a: float = 0.5, delta: float = 0.05,
    slots: int | None = None, printed: bool = False, learner: object = None,
) -> float:  # fmt: skip
    """Return Theorem 2's bound on the regret R_T of Figure 2 with `UnknownNorm(delta)`.

    It is Theorem 1's, with d c'_L/c''_L² ln(1 + (T-1)/d) in the place of U² in C, plus the largest
    regret of a round, min(1, 4 c_L R) S, for each of the first rounds, in which the width does not
    yet cover U: t < d(exp(c''_L² U²/(c'_L d)) - 1) + 1. S is K without a limit; no round then costs
    more than (1-a) K, covered or not, and the bound is at most (1-a) K T.

    The paper prints 4(1-a) c_L K R for a first round, from 4(1-a) c_L |Ŷ| R in its proof; neither
    holds: an empty slate that was cut off too soon has regret, too.

    Paper: Theorem 2.

    Parameters
    ----------
    T, d, K, U, loss, a, delta, slots, printed, learner
        As for `theorem1`.

    Returns
    -------
    float
        The bound. It depends on U, which the learner need not know.

    Raises
    ------
    InputError
        As for `theorem1`.

    Examples
    --------
    >>> from semibandit.theory.surrogate import Square
    >>> round(theorem2(T=1000, d=5, K=10, U=1.0, loss=Square(), slots=3))
    51661
    """
    _check(T, d, K, U, delta)
    _check_learner(learner, None, delta)
    of_updates, of_noise = confidence(T, d, K, delta, loss)
    later = _covered(T, d, K, 2 * of_updates + of_noise, loss, a, slots, printed)
    S = _most_shown(slots, K)
    if printed:
        return later + _uncovered(T, d, U, loss) * 4 * (1 - check_a(a)) * loss.c_L * S * loss.R
    total = later + _uncovered(T, d, U, loss) * min(1.0, 4 * loss.c_L * loss.R) * S
    return min(total, (1 - a) * K * T) if slots is None else total


def theorem3(
    *, T: int, d: int, K: int, U: float, loss: Surrogate, slots: int, delta: float = 0.05,
    unknown_norm: bool = False, printed: bool = False, learner: object = None,
) -> float:  # fmt: skip
    """Return Theorem 3's bound on the regret of ranking (a = 1) under ℓ_{p-rank}.

    R_T <= 2(2S-1) c_L sqrt(M S K T) with the M of `theorem1`, if labels are independent given the
    context. It holds with probability at least 1 - delta.

    The last line of the paper's proof prints 4 c_L sqrt(M S K T). The factor S of the line before,
    4 S c_L Σ_i sqrt(N_i M) with Σ_i N_i <= S T, got lost there: Cauchy-Schwarz gives
    Σ_i sqrt(N_i M) <= sqrt(K S T M), and S stays in front. 2(2S-1) in the place of 4 S is what the
    proof of Lemma 6 gives before it rounds up.

    Paper: Theorem 3; Remark 3.

    Parameters
    ----------
    T, d, K, U, loss, delta
        As for `theorem1`.
    slots : int
        S, the most labels shown in a round.
    unknown_norm : bool, default False
        Whether the width is `UnknownNorm(delta)`, as Remark 3 says that Remark 1 and this theorem
        can be combined: the M is that of `theorem2`, and each of the first rounds adds the largest
        regret of a round, S² (p(R) - p(-R)).
    printed : bool, default False
        Whether to return the value that the paper prints, without the factor 2S-1.
    learner : SlateUCB, optional
        As for `theorem1`.

    Returns
    -------
    float
        The bound on the regret of eq. (5).

    Raises
    ------
    InputError
        If T, d or K is less than 1, U, delta or slots is out of range, or the theorem is not
        about the learner.

    Examples
    --------
    >>> from semibandit.theory.surrogate import Square
    >>> round(theorem3(T=1000, d=5, K=10, U=1.0, loss=Square(), slots=2))
    122510
    """
    _check(T, d, K, U, delta)
    _check_learner(learner, U if not unknown_norm else None, delta)
    of_updates, of_noise = confidence(T, d, K, delta, loss)
    S, of_norm = _most_shown(slots, K), of_updates if unknown_norm else U**2
    widths = _sum_of_widths(T, d, K, of_norm + of_updates + of_noise, S)
    later = (4 if printed else 2 * (2 * S - 1)) * loss.c_L * widths
    if not unknown_norm:
        return later
    largest = float(loss.prob(loss.R) - loss.prob(-loss.R)) * S**2
    return later + _uncovered(T, d, U, loss) * largest


def _covered(
    T: int, d: int, K: int, C: float, loss: Surrogate, a: float, slots: int | None, printed: bool
) -> float:
    """Return what T rounds whose widths cover the truth can cost, in ℓ_{a,c}."""
    a, S = check_a(a), _most_shown(slots, K)
    total = 2 * loss.c_L * _sum_of_widths(T, d, K, C, S)
    if printed:
        return (1 - a) * total
    return min(total, (1 - a) * K * T) if slots is None else total


def _uncovered(T: int, d: int, U: float, loss: Surrogate) -> int:
    """Return how many rounds come before ε of Remark 1 is as large as that for a known U."""
    exponent = loss.c_L2**2 * U**2 / (loss.c_L1 * d)
    return int(T) if exponent > 700 else min(int(T), math.ceil(d * math.expm1(exponent)))


def _sum_of_widths(T: int, d: int, K: int, C: float, S: int) -> float:
    """Return sqrt(S K T M) >= Σ_t Σ_{i shown} ε_{i,t}: K sqrt(T M) if all labels may be shown."""
    M = 2 * C * d * math.log1p(T / d)
    return math.sqrt(S * K * T * M)


def _most_shown(slots: int | None, K: int) -> int:
    """Return S, the most labels that a slate can have."""
    limit = read_slots(slots)
    return K if limit is None else min(limit, K)


def _check(T: int, d: int, K: int, U: float, delta: float) -> None:
    for name, value, least in (("T", T, 1), ("d", d, 1), ("K", K, 1), ("U", U, 0)):
        finite_number(name, value, least=least)
    check_delta(delta)


def _check_learner(learner: Any, U: float | None, delta: float) -> None:
    """Refuse a learner that the theorem is not about; U is None if it is about `UnknownNorm`."""
    if learner is None:
        return
    why = getattr(learner, "unproven", "the theorems are about SlateUCB")
    why = _why_no_bound(learner, U, delta) if why is None else why
    if why is not None:
        raise InputError(f"learner = {learner!r}, but the theorem is not about it: {why}")


def _why_no_bound(learner: Any, U: float | None, delta: float) -> str | None:
    """Why the regret of a learner whose widths cover the truth has no bound, or None."""
    width, short = learner.width, getattr(learner.model, "unit_norm", True)
    if learner.probe > 0 and learner.a < 1:
        return f"probe={learner.probe:g} costs regret in proportion to T"
    if learner.at_least > 0:
        return f"at_least={learner.at_least} shows labels whatever they cost"
    if not width.unit_length and (learner.scale == "none" or not short):
        return "nothing says that ||x|| <= 1, or k(x, x) <= 1 with its kernel function"
    if (getattr(width, "U", None), width.delta) != (U, delta):
        needed = f"delta={delta:g}" if U is None else f"U={U:g} and delta={delta:g}"
        return f"its width is {width!r}, and the bound is for one with {needed}"
    return None
