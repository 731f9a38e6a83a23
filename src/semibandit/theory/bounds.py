"""The regret bounds of Theorems 1, 2 and 3, with the explicit constants of their proofs."""

from __future__ import annotations

import math

from semibandit._util.checks import finite_number
from semibandit.theory.cost import check_a
from semibandit.theory.slate import read_slots
from semibandit.theory.surrogate import Surrogate
from semibandit.theory.width import check_delta, confidence

__all__ = ["theorem1", "theorem2", "theorem3"]


def theorem1(
    *, T: int, d: int, K: int, U: float, loss: Surrogate, a: float = 0.5, delta: float = 0.05,
    slots: int | None = None,
) -> float:  # fmt: skip
    """Return Theorem 1's bound on the regret R_T of Figure 2 with `KnownNorm(U, delta)`.

    R_T <= 2(1-a) c_L K sqrt(T M) with M = 2 C d ln(1 + T/d), where C is the factor of x·A⁻¹x in ε²
    at t = T. It holds with probability at least 1 - delta.

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
        S, the most labels shown in a round. By Remark 3, sqrt(S K) takes the place of K.

    Returns
    -------
    float
        The bound.

    Raises
    ------
    InputError
        If T, d or K is less than 1, or U, a, delta or slots is out of range.

    Examples
    --------
    >>> from semibandit.theory.surrogate import Square
    >>> round(theorem1(T=1000, d=5, K=10, U=1.0, loss=Square()))
    45657
    """
    _check(T, d, K, U, delta)
    return 2 * (1 - check_a(a)) * loss.c_L * _sum_of_widths(T, d, K, U**2, delta, loss, slots)


def theorem2(
    *, T: int, d: int, K: int, U: float, loss: Surrogate, a: float = 0.5, delta: float = 0.05,
    slots: int | None = None,
) -> float:  # fmt: skip
    """Return Theorem 2's bound on the regret R_T of Figure 2 with `UnknownNorm(delta)`.

    It is Theorem 1's, with d c'_L/c''_L² ln(1 + (T-1)/d) in the place of U² in C, plus the largest
    regret, 4(1-a) c_L K R, for each of the first rounds, in which the width does not yet cover U:
    t < d(exp(c''_L² U²/(c'_L d)) - 1) + 1.

    Parameters
    ----------
    T, d, K, U, loss, a, delta, slots
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
    >>> round(theorem2(T=1000, d=5, K=10, U=1.0, loss=Square()))
    47167
    """
    _check(T, d, K, U, delta)
    a = check_a(a)
    of_updates, _ = confidence(T, d, K, delta, loss)
    exponent = loss.c_L2**2 * U**2 / (loss.c_L1 * d)
    early = T if exponent > 700 else min(T, math.ceil(d * math.expm1(exponent)))
    later = _sum_of_widths(T, d, K, of_updates, delta, loss, slots)
    largest = early * 4 * (1 - a) * loss.c_L * _most_shown(slots, K) * loss.R
    return 2 * (1 - a) * loss.c_L * later + largest


def theorem3(
    *, T: int, d: int, K: int, U: float, loss: Surrogate, slots: int, delta: float = 0.05,
    printed: bool = False,
) -> float:  # fmt: skip
    """Return Theorem 3's bound on the regret of ranking (a = 1) under ℓ_{p-rank}.

    R_T <= 4 S c_L sqrt(M S K T) with the M of `theorem1`, if labels are independent given the
    context. It holds with probability at least 1 - delta.

    The last line of the paper's proof prints 4 c_L sqrt(M S K T). The factor S of the line before,
    4 S c_L Σ_i sqrt(N_i M) with Σ_i N_i <= S T, got lost there: Cauchy-Schwarz gives
    Σ_i sqrt(N_i M) <= sqrt(K S T M), and S stays in front.

    Parameters
    ----------
    T, d, K, U, loss, delta
        As for `theorem1`.
    slots : int
        S, the most labels shown in a round.
    printed : bool, default False
        Whether to return the value that the paper prints, without the factor S.

    Returns
    -------
    float
        The bound on the regret of eq. (5).

    Raises
    ------
    InputError
        If T, d or K is less than 1, or U, delta or slots is out of range.

    Examples
    --------
    >>> from semibandit.theory.surrogate import Square
    >>> round(theorem3(T=1000, d=5, K=10, U=1.0, loss=Square(), slots=2))
    163346
    """
    _check(T, d, K, U, delta)
    total = 4 * loss.c_L * _sum_of_widths(T, d, K, U**2, delta, loss, slots)
    return total if printed else _most_shown(slots, K) * total


def _sum_of_widths(
    T: int, d: int, K: int, U2: float, delta: float, loss: Surrogate, slots: int | None
) -> float:
    """Return sqrt(S K T M) >= Σ_t Σ_{i shown} ε_{i,t}: K sqrt(T M) if all labels may be shown."""
    of_updates, of_noise = confidence(T, d, K, delta, loss)
    M = 2 * (U2 + of_updates + of_noise) * d * math.log1p(T / d)
    return math.sqrt(_most_shown(slots, K) * K * T * M)


def _most_shown(slots: int | None, K: int) -> int:
    """Return S, the most labels that a slate can have."""
    limit = read_slots(slots)
    return K if limit is None else min(limit, K)


def _check(T: int, d: int, K: int, U: float, delta: float) -> None:
    for name, value, least in (("T", T, 1), ("d", d, 1), ("K", K, 1), ("U", U, 0)):
        finite_number(name, value, least=least)
    check_delta(delta)
