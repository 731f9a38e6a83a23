"""How much more a policy would have earned than another, in the same visits."""

from __future__ import annotations

from collections.abc import Mapping

from semibandit._util.arrays import Floats
from semibandit.evaluation.off_policy.intervals import percentiles
from semibandit.evaluation.off_policy.result import HEADLINES, Estimate, Evaluation

__all__ = ["LOGGED", "find_differences", "find_reference"]

LOGGED = "logged"  # the samples of what the log's own policy earned

Samples = Mapping[str, Mapping[str, Floats]]  # by policy and estimator


def find_reference(evaluations: Mapping[str, Evaluation], preferred: list[str]) -> str | None:
    """The policy with which others are compared; None for the log's own policy.

    It is the first of those preferred that has a value, else the first that has one. With one
    policy alone, there is only the log's own to compare it with.
    """
    if len(evaluations) > 1:
        for name in (*preferred, *evaluations):
            if evaluations[name].headline is not None:
                return name
    return None


def find_differences(
    evaluations: Mapping[str, Evaluation],
    samples: Samples,
    reference: str | None,
    confidence: float,
) -> dict[str, Estimate]:
    """What each policy would have earned more than the reference, or less.

    Parameters
    ----------
    evaluations : mapping
        What was found of each policy, by name.
    samples : mapping
        Bootstrap samples by policy and estimator, all of the same visits: so what is common to both
        policies cancels, and the interval is narrower than those of the values.
    reference : str or None
        The policy to compare with; None for the log's own.
    confidence : float
        Of the intervals.

    Returns
    -------
    dict of Estimate
        For every policy but the reference, by the first estimator that has a value of both.
    """
    return {
        name: _difference(name, evaluations, samples, reference, confidence)
        for name in evaluations
        if name != reference
    }


def _difference(
    name: str,
    evaluations: Mapping[str, Evaluation],
    samples: Samples,
    reference: str | None,
    confidence: float,
) -> Estimate:
    one = evaluations[name]
    for estimator in HEADLINES:
        found = one.estimates.get(estimator)
        if found is None or found.value is None or estimator not in samples[name]:
            continue
        if reference is None:
            other, theirs = one.logged, samples[name][LOGGED]
        elif estimator in samples[reference]:
            other = evaluations[reference].estimates[estimator]
            theirs = samples[reference][estimator]
        else:
            continue
        if other.value is None:
            continue
        low, high = percentiles(samples[name][estimator] - theirs, confidence)
        return Estimate(estimator, found.value - other.value, low, high, assumes=found.assumes)
    return Estimate("", None, refused="no estimator has a value of both in the same visits")
