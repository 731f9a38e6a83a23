"""Upper-confidence widths ε: how far a label's margin may be from the truth.

A width gets x·A⁻¹x for every label, the round t, the dimension d, the number of labels K and the
surrogate. Every one is capped at 2R, the diameter of D: no margin can be further off than that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeGuard

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import finite_number, is_number
from semibandit.errors import InputError
from semibandit.theory.surrogate import Surrogate

__all__ = [
    "ConfidenceWidth",
    "KnownNorm",
    "LogDet",
    "Scaled",
    "SpreadWidth",
    "UnknownNorm",
    "Width",
    "check_delta",
    "confidence",
    "is_confidence_width",
    "is_spread_width",
    "reads_log_det",
]

LARGEST_U = 1e150  # its square is a number


class Width(Protocol):
    """The form of a width: any function with these parameters can be a learner's `width`.

    Parameters
    ----------
    norm2 : array of float
        x·A_i⁻¹x for every label i.
    t : int
        The round, from 1.
    d : int
        The dimension of the contexts.
    K : int
        The number of labels.
    loss : Surrogate
        The surrogate, with R, c'_L, c''_L and L(-R).

    Returns
    -------
    array of float
        ε_{i,t} for every label i, at most 2R.

    Examples
    --------
    >>> import semibandit as sb
    >>> def shrinking(norm2, *, t, d, K, loss):
    ...     return np.minimum(np.sqrt(norm2 / t), 2 * loss.R)
    >>> len(sb.SlateUCB(2, 3, width=shrinking).rank([1.0, 0.0], slots=2))
    2
    """

    def __call__(self, norm2: Floats, *, t: int, d: int, K: int, loss: Surrogate) -> Floats: ...


class SpreadWidth:
    """A width that is a number, its `spread` in the round, times sqrt(x·A⁻¹x), capped at 2R.

    Derive your own from it and compiled loops play it: they ask for the spread ahead of the rounds.

    Examples
    --------
    >>> class Widening(SpreadWidth):
    ...     def spread(self, t, d, K, loss):
    ...         return 0.1 * math.sqrt(math.log1p(t) / loss.c_L2)
    >>> import semibandit as sb
    >>> sb.engine_of(sb.SlateUCB(n_features=2, labels=3, width=Widening()))
    'compiled loops'
    """

    def spread(self, t: int, d: int, K: int, loss: Surrogate) -> float:
        """Return ε / sqrt(x·A⁻¹x) in round t, before the cap.

        Parameters
        ----------
        t, d, K, loss
            The round, the dimension, the number of labels and the loss, as for `Width`.
        """
        raise NotImplementedError

    def __call__(self, norm2: Floats, *, t: int, d: int, K: int, loss: Surrogate) -> Floats:
        spread = self.spread(t, d, K, loss)
        return np.minimum(spread * np.sqrt(np.maximum(norm2, 0.0)), 2.0 * loss.R)


class ConfidenceWidth:
    """A width that covers the truth in all rounds with probability 1 - δ, by Lemma 7.

    With probability at least 1 - δ, |Δ_i - Δ̂'_i| <= ε_i for every label i and every context, in all
    rounds, whoever chooses the contexts and whatever is shown, if

    - labels follow eq. (2) with weights u_i that do not change: P(y_i = 1 | x) = p(u_i·x) with the
      p of the learner's loss, ||u_i|| <= U, u_i·x in D, and x the context as the model sees it,
      after scaling;
    - A_i = I + Σ x xᵀ over the rounds in which i was shown, as with `Full` and, in the features of
      its kernel function, `Dual` without a budget; not with `Diagonal`, nor with `forget`;
    - all that was shown is learned, or what is learned does not depend on the answers: not with
      `examination`, which learns more of what was clicked;
    - ||x|| <= 1, or k(x, x) <= 1 with a kernel: not with `scale="none"` and longer contexts.

    Probes, `at_least`, candidates, draws and either `project` change nothing of this. Where one of
    these is known not to hold, a learner warns by `UnprovenWidth`, and `learner.unproven` says why.

    Paper: Lemma 7.
    """

    unit_length: ClassVar[bool] = True  # whether ||x|| <= 1 is needed


def is_confidence_width(width: object) -> TypeGuard[ConfidenceWidth]:
    """Return whether Lemma 7 is about this width."""
    return isinstance(width, ConfidenceWidth)


def reads_log_det(width: object) -> TypeGuard[LogDet]:
    """Return whether the width is to be given ln|A_i| of the labels, as `log_det`."""
    return bool(getattr(width, "reads_log_det", False))


def is_spread_width(width: object) -> TypeGuard[SpreadWidth]:
    """Return whether the width is a spread times sqrt(x·A⁻¹x), label by label, and nothing else."""
    return isinstance(width, SpreadWidth) and type(width).__call__ is SpreadWidth.__call__


@dataclass(frozen=True)
class Scaled(SpreadWidth):
    """ε = alpha·sqrt(x·A⁻¹x / c''_L), capped at 2R: the width to use in practice.

    Every step of Figure 2 multiplies A⁻¹ by 1/c''_L, so margins vary with A⁻¹/c''_L: the same alpha
    means the same for every loss. c''_L is 1 for the square loss, 0.105 for Logistic(2) and 0.0177
    for Logistic(4).

    The default of 0.25 was chosen on nine data sets (docs/concepts/differences.md).

    Parameters
    ----------
    alpha : float, default 0.25
        How much to explore, a finite number of at least 0; 0 never explores.

    Raises
    ------
    InputError
        If alpha is negative or not a finite number.

    Examples
    --------
    >>> import semibandit as sb
    >>> Scaled(0.5)(np.array([1.0, 0.04]), t=1, d=2, K=2, loss=sb.Square())
    array([0.5, 0.1])
    >>> Scaled(0.5)(np.array([1.0, 0.04]), t=1, d=2, K=2, loss=sb.Logistic(2.0)).round(3)
    array([1.543, 0.309])
    """

    alpha: float = 0.25

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", finite_number("alpha", self.alpha, least=0))

    def spread(self, t: int, d: int, K: int, loss: Surrogate) -> float:
        return self.alpha / math.sqrt(loss.c_L2)


@dataclass(frozen=True)
class KnownNorm(SpreadWidth, ConfidenceWidth):
    """The ε of Figure 2, step 3, if ||u_i|| <= U is known; it is capped at 2R.

    ε² = x·A⁻¹x (U² + d c'_L/c''_L² ln(1 + (t-1)/d) + 12/c''_L (c'_L/c''_L + 3 L(-R)) ln(K(t+4)/δ)).

    With probability at least 1 - δ, the true margin of every label in every round is within ε of
    the estimate (Lemma 7), if all holds that `ConfidenceWidth` lists: full matrices, contexts of
    length at most 1, no forgetting, no `examination`.

    Paper: Figure 2.

    Parameters
    ----------
    U : float
        The bound on the norms of the true weights u_i, a finite number of at least 0.
    delta : float, default 0.05
        δ, the probability that an interval fails, strictly between 0 and 1/e.

    Raises
    ------
    InputError
        If U or delta is out of range.

    Examples
    --------
    >>> import semibandit as sb
    >>> width = KnownNorm(U=1.0)
    >>> width(np.array([1.0, 1e-6]), t=999, d=5, K=20, loss=sb.Square()).round(3)
    array([2.   , 0.041])
    """

    U: float
    delta: float = 0.05

    def __post_init__(self) -> None:
        object.__setattr__(self, "U", check_norm(self.U))
        object.__setattr__(self, "delta", check_delta(self.delta))

    def spread(self, t: int, d: int, K: int, loss: Surrogate) -> float:
        of_updates, of_noise = confidence(t, d, K, self.delta, loss)
        return math.sqrt(self.U**2 + of_updates + of_noise)


@dataclass(frozen=True)
class UnknownNorm(SpreadWidth, ConfidenceWidth):
    """The ε of Remark 1, if no bound U is known; it is capped at 2R.

    It is that of `KnownNorm` with d c'_L/c''_L² ln(1 + (t-1)/d) in the place of U². The paper
    writes max{..., 4R²}, but says that ε² is capped at 4R²: it is a min. It covers the truth as
    `KnownNorm` does, from the round on in which what takes the place of U² is as large.

    Paper: Remark 1.

    Parameters
    ----------
    delta : float, default 0.05
        δ, the probability that an interval fails, strictly between 0 and 1/e.

    Raises
    ------
    InputError
        If delta is out of range.

    Examples
    --------
    >>> import semibandit as sb
    >>> width = UnknownNorm()
    >>> width(np.array([1.0, 1e-6]), t=999, d=5, K=20, loss=sb.Square()).round(3)
    array([2.   , 0.042])
    """

    delta: float = 0.05

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", check_delta(self.delta))

    def spread(self, t: int, d: int, K: int, loss: Surrogate) -> float:
        of_updates, of_noise = confidence(t, d, K, self.delta, loss)
        return math.sqrt(2.0 * of_updates + of_noise)


@dataclass(frozen=True)
class LogDet(ConfidenceWidth):
    """The ε of Lemma 7's proof, from what each label has seen; it is capped at 2R.

    ε² = x·A⁻¹x (U² + c'_L/c''_L² ln|A_i| + 12/c''_L (c'_L/c''_L + 3 L(-R)) ln(K(t+4)/δ)).

    That is `KnownNorm` with ln|A_i|, the logarithm of the label's determinant, in the place of
    d ln(1 + (t-1)/d), its largest value. It is never wider, and covers the truth all the same, with
    probability at least 1 - δ; contexts may be of any length. Take it with a kernel: an RBF's
    features are as many as contexts have been seen, d = t - 1, and the width of `KnownNorm` then
    hardly shrinks, while ln|A_i| grows as slowly as contexts are alike.

    Its model must give ln|A_i|, see `DeterminantState`: `Full()` and `Dual(kernel)` do.

    Paper: Lemma 7.

    Parameters
    ----------
    U : float
        The bound on the norms of the true weights u_i, a finite number of at least 0.
    delta : float, default 0.05
        δ, the probability that an interval fails, strictly between 0 and 1/e.

    Raises
    ------
    InputError
        If U or delta is out of range.

    Examples
    --------
    >>> import semibandit as sb
    >>> width, norm2, log_det = LogDet(U=1.0), np.array([1.0, 1e-6]), np.array([0.0, 30.0])
    >>> width(norm2, t=999, d=998, K=20, loss=sb.Square(), log_det=log_det).round(3)
    array([2.   , 0.041])
    >>> sb.KnownNorm(U=1.0)(norm2, t=999, d=998, K=20, loss=sb.Square()).round(3)
    array([2.   , 0.066])
    """

    unit_length: ClassVar[bool] = False
    reads_log_det: ClassVar[bool] = True
    U: float
    delta: float = 0.05

    def __post_init__(self) -> None:
        object.__setattr__(self, "U", check_norm(self.U))
        object.__setattr__(self, "delta", check_delta(self.delta))

    def __call__(
        self, norm2: Floats, *, t: int, d: int, K: int, loss: Surrogate, log_det: Floats
    ) -> Floats:
        _, of_noise = confidence(t, d, K, self.delta, loss)
        of_updates = loss.c_L1 / loss.c_L2**2 * log_det
        spread = np.sqrt(self.U**2 + of_updates + of_noise)
        return np.asarray(np.minimum(spread * np.sqrt(np.maximum(norm2, 0.0)), 2.0 * loss.R))


def confidence(t: int, d: int, K: int, delta: float, loss: Surrogate) -> tuple[float, float]:
    """Return the two terms of ε² / x·A⁻¹x that grow with t (Lemma 7).

    They are d c'_L/c''_L² ln(1 + (t-1)/d), which comes from the updates, and
    12/c''_L (c'_L/c''_L + 3 L(-R)) ln(K(t+4)/δ), which comes from the noise of the labels.
    """
    c1, c2 = loss.c_L1, loss.c_L2
    of_updates = d * c1 / c2**2 * math.log1p((t - 1) / d)
    of_noise = 12.0 / c2 * (c1 / c2 + 3.0 * loss.worst) * math.log(max(K, 1) * (t + 4) / delta)
    return of_updates, of_noise


def check_norm(U: float) -> float:
    """Return U as a float, or raise `InputError`: it is at least 0, and its square finite."""
    U = finite_number("U", U, least=0)
    if U > LARGEST_U:
        raise InputError(f"U = {U:g}, but it must be at most {LARGEST_U:g}")
    return U


def check_delta(delta: float) -> float:
    """Return delta as a float, or raise `InputError`: Lemma 7 needs 0 < delta < 1/e."""
    if not (is_number(delta) and 0 < delta < 1 / math.e):
        raise InputError(f"delta = {delta!r}, but it must lie strictly between 0 and 1/e = 0.3679")
    return float(delta)
