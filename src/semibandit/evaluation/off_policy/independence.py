"""Whether clicks depend on the labels around, which a log can tell where it is random enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.evaluation.off_policy.estimators import ESTIMATORS
from semibandit.evaluation.off_policy.result import Estimate, Evaluation

__all__ = ["Gap", "Independence", "check_independence", "check_policies"]

PAIRS = (("IIPS-DR", "Cascade-DR"), ("snIIPS", "snRIPS"))  # without interaction, and with it
DEVIATIONS = 3.0  # standard errors
ROUGH = 0.1  # of the value: a test that cannot see such a gap says little
INDEPENDENT = [one.name for one in ESTIMATORS if not one.interaction]
_WHAT = "that clicks do not depend on the labels around"


@dataclass(frozen=True)
class Gap:
    """How far an estimator that neglects interaction of positions is from one that does not.

    Parameters
    ----------
    alone, above : Estimate
        By the estimator without and with interaction.
    error : float
        The standard error of their difference.
    """

    alone: Estimate
    above: Estimate
    error: float

    @property
    def deviations(self) -> float:
        """The gap in standard errors."""
        return abs((self.alone.value or 0.0) - (self.above.value or 0.0)) / self.error

    @property
    def text(self) -> str:
        """The gap in words."""
        return (
            f"{self.alone.name} is {self.alone.value:.4g} and {self.above.name} "
            f"{self.above.value:.4g}, a gap of {self.deviations:.1f} standard errors: clicks "
            "depend on the labels above"
        )


@dataclass(frozen=True)
class Independence:
    """What a log says of the assumption that clicks do not depend on the labels around.

    Parameters
    ----------
    refused : str or None
        Why no estimator that needs the assumption can be used with this log.
    unchecked : str or None
        Why it could not be checked, or only roughly.
    """

    refused: str | None = None
    unchecked: str | None = None

    def applied(self, found: Evaluation, samples: Mapping[str, Floats]) -> Evaluation:
        """The evaluation of a policy, in the light of this.

        Parameters
        ----------
        found : Evaluation
            What was found of the policy.
        samples : mapping of arrays
            Its bootstrap samples by estimator.
        """
        if self.refused is not None:
            return replace(found, estimates=self._estimates(found.estimates))
        gap = gap_between(found.estimates, samples)
        if gap is not None and gap.deviations > DEVIATIONS:
            names = ", ".join(INDEPENDENT[:-1])
            note = (
                f"{gap.text}, so read Cascade-DR or snRIPS, and none of {names} and "
                f"{INDEPENDENT[-1]}."
            )
            return replace(found, notes=[note, *found.notes])
        first = found.headline
        if first is None or first.name not in INDEPENDENT or self.unchecked is None:
            return found
        return replace(found, notes=[f"{first.name} assumes {self.unchecked}", *found.notes])

    def _estimates(self, estimates: Mapping[str, Estimate]) -> dict[str, Estimate]:
        return {
            name: Estimate(name, None, refused=self.refused, assumes=one.assumes)
            if name in INDEPENDENT
            else one
            for name, one in estimates.items()
        }


def check_independence(found: Evaluation, samples: Mapping[str, Floats]) -> Independence:
    """Whether the assumption holds in a log, by what was found of uniform slates.

    Parameters
    ----------
    found : Evaluation
        That of the uniform policy: a log that is random at all says most of it.
    samples : mapping of arrays
        Its bootstrap samples by estimator.
    """
    gap = gap_between(found.estimates, samples)
    if gap is None:
        return Independence(unchecked=f"{_WHAT}: this could not be checked on this log.")
    if gap.deviations > DEVIATIONS:
        return _refuted("uniform slates", gap)
    seen = DEVIATIONS * gap.error / max(abs(gap.above.value or 0.0), 1e-12)
    if seen <= ROUGH:
        return Independence()
    return Independence(
        unchecked=f"{_WHAT}: this could be checked only roughly on this log, by uniform slates, "
        f"of which gaps below {100 * seen:.0f}% cannot be seen."
    )


def check_policies(
    before: Independence,
    found: Mapping[str, Evaluation],
    samples: Mapping[str, Mapping[str, Floats]],
) -> Independence:
    """What the policies asked for say, if uniform slates could not.

    They can only refute the assumption: one that differs little from the log's own policy has no
    gap, whatever clicks depend on.
    """
    if before.unchecked is None:
        return before
    for name, one in found.items():
        gap = gap_between(one.estimates, samples[name])
        if gap is not None and gap.deviations > DEVIATIONS:
            return _refuted(f"the policy {name}" if name else "this policy", gap)
    return before


def _refuted(what: str, gap: Gap) -> Independence:
    return Independence(refused=f"For {what}, {gap.text}. Read Cascade-DR or snRIPS.")


def gap_between(estimates: Mapping[str, Estimate], samples: Mapping[str, Floats]) -> Gap | None:
    """The gap of the first pair of estimators that both have values; None if there is none."""
    for alone, above in PAIRS:
        one, other = estimates.get(alone), estimates.get(above)
        if one is None or other is None or one.value is None or other.value is None:
            continue
        if len(samples[alone]):
            error = float(np.std(samples[alone] - samples[above])) + 1e-12 * abs(one.value)
            return Gap(one, other, max(error, 1e-300))
    return None
