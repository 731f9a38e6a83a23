"""The regret bounds of Theorems 1, 2 and 3, with the explicit constants of their proofs."""

from __future__ import annotations

import math

from semibandit.errors import InputError
from semibandit.theory.cost import check_a
from semibandit.theory.surrogate import Surrogate
from semibandit.theory.width import check_delta, confidence

__all__ = ["theorem1", "theorem2", "theorem3"]


def theorem1(
    *,
    T: int,
    d: int,
    K: int,
    U: float,
    loss: Surrogate,
    a: float = 0.5,
    delta: float = 0.05,
    slots: int | None = None,
) -> float:
    """R_T <= 2(1-a) c_L K sqrt(T M), M = 2 C d ln(1 + T/d): Figure 2 with `KnownNorm(U, delta)`.

    C is the factor of x·A⁻¹x in ε² at t = T. With at most `slots` labels a round, Remark 3's
    sqrt(S K) takes the place of K.

    >>> from semibandit.theory.surrogate import Square
    >>> round(theorem1(T=1000, d=5, K=10, U=1.0, loss=Square()))
    45657
    """
    _check(T, d, K, delta)
    return 2 * (1 - check_a(a)) * loss.c_L * _sum_of_widths(T, d, K, U**2, delta, loss, slots)


def theorem2(
    *,
    T: int,
    d: int,
    K: int,
    U: float,
    loss: Surrogate,
    a: float = 0.5,
    delta: float = 0.05,
    slots: int | None = None,
) -> float:
    """Theorem 1 for `UnknownNorm(delta)`, plus the full price of the rounds before U is covered.

    Those are the t < d(exp(c''_L² U²/(c'_L d)) - 1) + 1, at no more than 4(1-a) c_L K R each.
    """
    _check(T, d, K, delta)
    grown, _ = confidence(T, d, K, delta, loss)
    exponent = loss.c_L2**2 * U**2 / (loss.c_L1 * d)
    early = T if exponent > 700 else min(T, math.ceil(d * math.expm1(exponent)))
    shown = K if slots is None else min(slots, K)
    steady = 2 * (1 - check_a(a)) * loss.c_L * _sum_of_widths(T, d, K, grown, delta, loss, slots)
    return steady + early * 4 * (1 - a) * loss.c_L * shown * loss.R


def theorem3(
    *,
    T: int,
    d: int,
    K: int,
    U: float,
    loss: Surrogate,
    slots: int,
    delta: float = 0.05,
    printed: bool = False,
) -> float:
    """Regret of ranking (a = 1) under ℓ_{p-rank}, independent labels: 4 S c_L sqrt(M S K T).

    The last line of the paper's proof prints 4 c_L sqrt(M S K T). The factor S of the line before,
    4 S c_L Σ_i sqrt(N_i M) with Σ_i N_i <= S T, got lost there: Cauchy-Schwarz gives
    Σ_i sqrt(N_i M) <= sqrt(K S T M), and S stays in front. `printed=True` gives the paper's value.
    """
    _check(T, d, K, delta)
    S = min(slots, K)
    total = 4 * loss.c_L * _sum_of_widths(T, d, K, U**2, delta, loss, S)
    return total if printed else S * total


def _sum_of_widths(
    T: int, d: int, K: int, U2: float, delta: float, loss: Surrogate, slots: int | None
) -> float:
    """max Σ_t Σ_{i shown} ε_{i,t} <= sqrt(S K T M): K sqrt(T M) where every label may be shown."""
    grown, doubt = confidence(T, d, K, delta, loss)
    M = 2 * (U2 + grown + doubt) * d * math.log1p(T / d)
    if slots is not None and slots < 0:
        raise InputError(f"slots = {slots}, but a slate cannot have fewer than 0 labels")
    S = K if slots is None else min(slots, K)
    return math.sqrt(S * K * T * M)


def _check(T: int, d: int, K: int, delta: float) -> None:
    for name, value in (("T", T), ("d", d), ("K", K)):
        if value < 1:
            raise InputError(f"{name} = {value}, but a bound needs at least 1")
    check_delta(delta)
