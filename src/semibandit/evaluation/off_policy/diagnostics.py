"""Diagnostics of the weights: whether a log can say anything about a policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.evaluation.off_policy.chunk import padded
from semibandit.evaluation.off_policy.coverage import Coverage
from semibandit.evaluation.off_policy.result import Check

__all__ = ["FEW_CLICKS", "WeightSums", "check_weights", "design_effect", "model_error"]

LEAST_EFFECTIVE = 100.0  # visits
FEW = 0.05  # of all visits: a warning
FEW_CLICKS = 30.0  # 95% bootstrap intervals cover 94% with 30, and 86% with 10: a warning
TOLERATED = 0.01  # of the target's slates that the log never shows, and of the mean weight
DEVIATIONS = 3.0  # standard errors
ROUNDING = 1e-12  # of the squared deviation of a weight
MORE_THAN_CHANCE = 0.5  # of a design effect, beyond 4 standard errors of it
MODEL_ERROR = 0.05  # of what was earned: a smaller error of the model is tolerated

_WHAT = {
    "slate": "whole slates",
    "prefix": "beginnings of slates",
    "item": "labels at positions",
    "pseudo-inverse": "slates by the pseudo-inverse",
}
_NEEDED = {
    "slate": "a log that shows such whole slates, of the same length, {often} (serve with "
    "{randomise}; if slates are not always full, plackett-luce:0.1 draws others of their length)",
    "prefix": "a log that begins slates like this policy {often} (serve with {randomise})",
    "item": "a log that shows every label at every position {often} (serve with {randomise})",
    "pseudo-inverse": "a log with more uniform slates (serve with {randomise})",
}


@dataclass(eq=False)
class WeightSums:
    """What diagnostics add up over the weights of one kind.

    Parameters
    ----------
    squares, largest : arrays
        Sums of squares and largest values by position; of whole slates at the first.
    earned, earned_squares : float
        Sums of the visits' weighted rewards, and of their squares.
    deviations : float
        The sum of the squared differences between weights and what they are in expectation.
    """

    squares: Floats = field(default_factory=lambda: np.zeros(1))
    largest: Floats = field(default_factory=lambda: np.zeros(1))
    earned: float = 0.0
    earned_squares: float = 0.0
    deviations: float = 0.0

    def add(self, weights: Floats, earned: Floats, expected: Floats) -> None:
        """Add weights and what they are in expectation, (visits,) or (visits, positions), and the
        weighted rewards of the visits."""
        self.earned += float(earned.sum())
        self.earned_squares += float(earned @ earned)
        self.deviations += float(np.sum((weights - expected) ** 2))
        weights = weights.reshape(len(weights), -1)
        n = weights.shape[1]
        self.squares, self.largest = padded(self.squares, n), padded(self.largest, n)
        self.squares[:n] += np.einsum("ij,ij->j", weights, weights)
        self.largest[:n] = np.maximum(self.largest[:n], np.abs(weights).max(axis=0, initial=0.0))


def check_weights(
    kind: str, cells: Mapping[str, Floats], sums: WeightSums, coverage: Coverage
) -> list[Check]:
    """The diagnostics of one kind of weights.

    Parameters
    ----------
    kind : str
        "slate", "prefix", "item" or "pseudo-inverse".
    cells : mapping of arrays
        Sums over visits by cell (first axis): those of the weights, of what they should be, and of
        visits.
    sums : WeightSums
        Their squares and the largest one.
    coverage : Coverage
        Slates of the target, with their probabilities in the log.

    Returns
    -------
    list of Check
    """
    w = cells[f"{kind} w"]
    visits = cells["visits"]
    expected = cells["expected"] if w.ndim == 2 else visits
    if not expected.any():
        return [Check("mean weight", kind, 1.0, True, "The policy never shows anything.")]
    columns = (len(w), -1)
    missing, needed = coverage.missing_share(kind), _needed(kind, coverage)
    mean = _mean_weight(
        kind, w.reshape(columns), expected.reshape(columns), sums.largest, missing, needed
    )
    positions = float(expected.sum() / max(visits.sum(), 1.0))
    total, squares = float(w.sum()), float(sums.squares.sum())
    share = coverage.effective_share(kind)
    if share is None:
        share = total**2 / squares / positions / visits.sum() if squares else 0.0
    more = design_effect(kind, cells, sums)
    if more > 1.0 and share:
        variance = max(1.0 / share - 1.0, sums.deviations / float(expected.sum()))
        share = 1.0 / (1.0 + variance * more)
    largest, possible = float(sums.largest.max()), coverage.largest_weight(kind)
    return [
        mean,
        _effective(kind, share, float(visits.sum()), largest, possible, needed, more > 1.0),
        _largest(kind, largest, total, positions, needed),
        _clicks(kind, sums),
        _coverage(kind, missing, mean, needed),
    ]


def design_effect(kind: str, cells: Mapping[str, Floats], sums: WeightSums) -> float:
    """By how much the weights vary more because visits of one visitor are drawn together.

    A visitor belongs to a holdout or does not, so a log of few visitors may have no one in it, or
    one who makes all the difference: each of their visits then says less than an independent one.
    It is 1 if the weights of a visitor do not deviate together more than chance explains.

    Parameters
    ----------
    kind, cells, sums
        As for `check_weights`.
    """
    w = cells[f"{kind} w"]
    expected = cells["expected"] if w.ndim == 2 else cells["visits"]
    if sums.deviations <= ROUNDING * expected.sum():
        return 1.0
    found = float(np.sum((w - expected) ** 2)) / sums.deviations
    by_chance = 1.0 + MORE_THAN_CHANCE + 4.0 * np.sqrt(2.0 / len(w))
    return found if found > by_chance else 1.0


def model_error(cells: Mapping[str, Floats]) -> str | None:
    """Why the reward model is wrong by what the log itself earned; None if it is not."""
    predicted, earned = cells["dm shown"], cells["dm reward"]
    gap = float(predicted.sum() - earned.sum())
    error = float(np.sqrt(np.sum((predicted - earned) ** 2)))
    if abs(gap) <= max(DEVIATIONS * error, MODEL_ERROR * abs(float(earned.sum()))):
        return None
    visits = float(cells["dm visits"].sum())
    return (
        f"for what the log showed, the reward model predicts {predicted.sum() / visits:.4g}, but "
        f"{earned.sum() / visits:.4g} was earned: a gap of {abs(gap) / error:.1f} standard errors"
    )


def _needed(kind: str, coverage: Coverage) -> str:
    """What log would be needed, if this one does not do."""
    share = coverage.drawn_share
    if not share:
        return _NEEDED[kind].format(often="now and then", randomise="--randomise mixed:0.05")
    return _NEEDED[kind].format(
        often="more often",
        randomise=f"a larger --randomise mixed:EPSILON: this log drew {100 * share:.2g}% of its "
        "slates",
    )


def _mean_weight(
    kind: str,
    w: Floats,
    expected: Floats,
    largest: Floats,
    unsupported: float | None,
    needed: str,
) -> Check:
    """The mean weight, and that of the position at which it deviates most from 1.

    If large weights are rare, a mean below 1 comes with a standard error that is too small. So the
    error is the one there would be if what is missing were weights like the largest one.
    """
    totals, known = w.sum(axis=0), expected.sum(axis=0)
    used = known > 0
    missing = np.maximum(known - totals, 0.0)
    errors = np.sqrt(np.sum((w - expected) ** 2, axis=0) + missing * largest[: len(missing)])
    # with several positions the largest of several deviations is looked at
    most = NormalDist().inv_cdf(0.5 + 0.5 * _two_sided(DEVIATIONS) ** (1.0 / used.sum()))
    gaps = np.abs(totals - known)
    tolerated = np.maximum(most * errors, TOLERATED * known.max())
    beyond = np.where(used, gaps / tolerated, 0.0)
    k, passed = int(np.argmax(beyond)), bool(beyond.max() <= 1.0)
    mean = float(totals.sum() / known.sum())
    error = float(np.sqrt(np.sum((w - expected).sum(axis=1) ** 2)) / known.sum())
    text = f"The mean weight of {_WHAT[kind]} is {mean:.3g} ± {error:.2g}"
    if len(totals) > 1 and not passed:
        text += f", up to position {k + 1}" if kind == "prefix" else f", at position {k + 1}"
        text += f" it is {totals[k] / known[k]:.3g} ± {errors[k] / known[k]:.2g}"
    text += "." if passed else "; it should be 1."
    if not passed and totals[k] < known[k]:
        if unsupported is not None and unsupported <= TOLERATED:
            text += f" There are too few visits: the {_WHAT[kind]} with the largest weights, which "
            text += f"the log can show, came too rarely. This needs more visits, or {needed}."
        else:
            text += f" The log lacks {_WHAT[kind]} that the policy would show: this needs {needed}."
    elif not passed:
        text += " The log's propensities are not those by which it was made."
    return Check("mean weight", kind, mean, passed, text)


def _effective(
    kind: str, share: float, visits: float, largest: float, possible: float, needed: str,
    dependent: bool,
) -> Check:  # fmt: skip
    effective = float(share * visits)
    text = f"The weights of {_WHAT[kind]} are worth {int(effective):,} of {visits:,.0f} visits"
    # those that the log did not draw yet make every estimate too low, and then much too high
    if dependent:
        text += ", since those of one visitor are drawn together."
    else:
        text += f", since they go up to {possible:,.0f}." if possible > 2.0 * largest else "."
    passed = effective >= LEAST_EFFECTIVE
    if not passed:
        text += f" At least {LEAST_EFFECTIVE:.0f} are needed: "
        if dependent:
            text += "more visitors, or "
        elif share >= 1e-6:
            more = visits * (LEAST_EFFECTIVE / effective - 1.0)
            text += f"about {_rounded(more):,} more visits like these, or "
        text += f"{needed}."
    elif share < FEW:
        text += " That is little: intervals are wide, and a few visits decide."
    return Check("effective sample size", kind, effective, passed, text)


def _largest(kind: str, largest: float, total: float, positions: float, needed: str) -> Check:
    share = largest * max(positions, 1.0) / total if total > 0 else 1.0
    text = f"The largest weight of {_WHAT[kind]} in these visits is {largest:.3g}, "
    text += f"{100 * share:.2g}% of their sum."
    passed = share <= 1.0 / np.sqrt(LEAST_EFFECTIVE)
    if not passed:
        text += f" A single visit decides: this needs {needed}."
    return Check("largest weight", kind, share, bool(passed), text)


def _clicks(kind: str, sums: WeightSums) -> Check:
    """How many clicks of equal weight would vary as much: intervals need some."""
    squares = sums.earned_squares
    effective = sums.earned**2 / squares if squares else 0.0
    text = f"By the weights of {_WHAT[kind]} the clicks are worth {effective:,.0f}."
    if effective < FEW_CLICKS:
        text += (
            f" With less than {FEW_CLICKS:.0f}, bootstrap intervals may be too narrow; anytime "
            "intervals hold."
        )
    return Check("effective clicks", kind, effective, True, text)


def _coverage(kind: str, missing: float | None, mean: Check, needed: str) -> Check:
    if missing is None:
        text = "The log does not say how likely other slates were; the mean weight judges coverage."
        return Check("coverage", kind, min(mean.value, 1.0), True, text)
    text = f"The log can show {100 * (1 - missing):.3g}% of the {_WHAT[kind]} that the policy shows"
    passed = bool(missing <= TOLERATED)
    text += "." if passed else f": this needs {needed}."
    return Check("coverage", kind, 1.0 - missing, passed, text)


def _two_sided(deviations: float) -> float:
    """How likely a normal number is within so many standard deviations."""
    return 2.0 * NormalDist().cdf(deviations) - 1.0


def _rounded(number: float) -> int:
    """The number with two digits, upwards."""
    unit = 10 ** max(len(str(int(number))) - 2, 0)
    return int(-(-number // unit) * unit)
