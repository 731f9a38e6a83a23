"""Upper-confidence widths ε: how far a label's margin may be from the truth.

A width gets x·A⁻¹x for every label, the round t, the dimension d, the number of labels K and the
surrogate. Every one is capped at 2R, the diameter of D: no margin can be further off than that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeGuard

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import is_number
from semibandit.errors import InputError
from semibandit.theory.surrogate import Surrogate

__all__ = [
    "KnownNorm",
    "Ours",
    "Scaled",
    "UnknownNorm",
    "Width",
    "check_delta",
    "confidence",
    "is_ours",
]


class Width(Protocol):
    """ε for every label. Your own width is any callable of this form."""

    def __call__(self, norm2: Floats, *, t: int, d: int, K: int, loss: Surrogate) -> Floats: ...


class Ours:
    """A width that is a number times sqrt(x·A⁻¹x): its `spread` in a round."""

    def spread(self, t: int, d: int, K: int, loss: Surrogate) -> float:
        """ε / sqrt(x·A⁻¹x), before the cap."""
        raise NotImplementedError

    def __call__(self, norm2: Floats, *, t: int, d: int, K: int, loss: Surrogate) -> Floats:
        spread = self.spread(t, d, K, loss)
        return np.minimum(spread * np.sqrt(np.maximum(norm2, 0.0)), 2.0 * loss.R)


def is_ours(width: Width) -> TypeGuard[Ours]:
    """Whether it is a spread times sqrt(x·A⁻¹x), label by label, and nothing else."""
    return isinstance(width, Ours) and type(width).__call__ is Ours.__call__


@dataclass(frozen=True)
class Scaled(Ours):
    """ε = alpha·sqrt(x·A⁻¹x): the width to use in practice; 0 never explores.

    0.25 was best over nine data sets, each round counting once (README, "What to choose").

    >>> Scaled(0.5)(np.array([1.0, 0.04]), t=1, d=2, K=2, loss=Surrogate(g=lambda m: 1 - m, R=1))
    array([0.5, 0.1])
    """

    alpha: float = 0.25

    def __post_init__(self) -> None:
        if not (is_number(self.alpha) and 0 <= self.alpha < math.inf):
            raise InputError(f"alpha = {self.alpha!r}, but a width must be a finite number >= 0")
        object.__setattr__(self, "alpha", float(self.alpha))

    def spread(self, t: int, d: int, K: int, loss: Surrogate) -> float:
        return self.alpha


@dataclass(frozen=True)
class KnownNorm(Ours):
    """Figure 2's ε for ||u_i|| <= U, right for all labels and rounds with probability 1 - delta.

    ε² = x·A⁻¹x (U² + d c'_L/c''_L² ln(1 + (t-1)/d) + 12/c''_L (c'_L/c''_L + 3 L(-R)) ln(K(t+4)/δ)).
    """

    U: float
    delta: float = 0.05

    def __post_init__(self) -> None:
        if not (is_number(self.U) and 0 <= self.U < math.inf):
            raise InputError(f"U = {self.U!r}, but the norm bound must be a finite number >= 0")
        object.__setattr__(self, "U", float(self.U))
        object.__setattr__(self, "delta", check_delta(self.delta))

    def spread(self, t: int, d: int, K: int, loss: Surrogate) -> float:
        grown, doubt = confidence(t, d, K, self.delta, loss)
        return math.sqrt(self.U**2 + grown + doubt)


@dataclass(frozen=True)
class UnknownNorm(Ours):
    """Remark 1's ε, where U² gives way to a second d c'_L/c''_L² ln(1 + (t-1)/d).

    The paper writes max{..., 4R²}, but says that ε² is capped at 4R²: it is a min.
    """

    delta: float = 0.05

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_delta(self.delta))

    def spread(self, t: int, d: int, K: int, loss: Surrogate) -> float:
        grown, doubt = confidence(t, d, K, self.delta, loss)
        return math.sqrt(2.0 * grown + doubt)


def confidence(t: int, d: int, K: int, delta: float, loss: Surrogate) -> tuple[float, float]:
    """The two terms of ε² that grow with t (Lemma 7): from the updates, and from the noise."""
    c1, c2 = loss.c_L1, loss.c_L2
    grown = d * c1 / c2**2 * math.log1p((t - 1) / d)
    doubt = 12.0 / c2 * (c1 / c2 + 3.0 * loss.worst) * math.log(max(K, 1) * (t + 4) / delta)
    return grown, doubt


def check_delta(delta: float) -> float:
    """delta as a float, or an error: Lemma 7 needs 0 < delta < 1/e."""
    if not (is_number(delta) and 0 < delta < 1 / math.e):
        raise InputError(f"delta = {delta!r}, but it must lie strictly between 0 and 1/e = 0.3679")
    return float(delta)
