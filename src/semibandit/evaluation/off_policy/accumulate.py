"""Evaluates a policy by the visits of a log."""

from __future__ import annotations

from collections.abc import Mapping

from semibandit._util.arrays import Floats
from semibandit._util.checks import finite_number, whole_number
from semibandit.errors import InputError
from semibandit.evaluation.off_policy.diagnostics import (
    FEW_CLICKS,
    check_weights,
    design_effect,
    model_error,
)
from semibandit.evaluation.off_policy.differences import LOGGED
from semibandit.evaluation.off_policy.estimators import ESTIMATORS, Estimator
from semibandit.evaluation.off_policy.intervals import bootstrap, percentiles
from semibandit.evaluation.off_policy.result import Check, Estimate, Evaluation
from semibandit.evaluation.off_policy.reward import Reward
from semibandit.evaluation.off_policy.visit_sums import VisitSums
from semibandit.evaluation.off_policy.weights import KINDS

__all__ = ["Accumulator"]

ZERO = "shown with probability 0"
MOST_TELLING = ("coverage", "effective sample size", "mean weight", "largest weight")
_LOGGED = Estimator(LOGGED, "", "", lambda sums: sums["reward"] / sums["visits"], True)


class Accumulator(VisitSums):
    """Adds up visits of a log, and evaluates a policy by them.

    Parameters
    ----------
    reward : Reward
        What a click is worth.
    confidence : float
        That of the intervals.
    seed : int
        Decides the bootstrap samples.
    n_labels : int, optional
        How many labels there will be; it bounds the size of the reward model.

    Raises
    ------
    InputError
        If the confidence is not between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from semibandit.evaluation.off_policy.reward import read_reward
    >>> from semibandit.evaluation.off_policy.visit import LoggedVisit
    >>> from semibandit.policies.distributions.uniform import UniformSlates
    >>> from semibandit.policies.request import Request
    >>> log, drawn = UniformSlates(n=4, length=2), np.random.default_rng(1)
    >>> sums = Accumulator(read_reward("clicks"))
    >>> visits = []
    >>> for i in range(400):
    ...     shown = log.sample(drawn, range(4))
    ...     clicked = drawn.random(2) < 0.25
    ...     visits.append(LoggedVisit(
    ...         Request(np.empty(0), 2, None, None, i), shown, clicked, log.slate_propensity(shown),
    ...         log.prefix_propensity(shown), log.item_propensity(shown), log, group=""))
    >>> sums.add(visits, [log] * 400, range(4))
    >>> result = sums.evaluation("uniform", {})
    >>> result.estimates["IPS"].value == result.logged.value
    True
    """

    def __init__(
        self, reward: Reward, *, confidence: float = 0.95, seed: int = 0,
        n_labels: int | None = None,
    ) -> None:  # fmt: skip
        if not 0.0 < finite_number("confidence", confidence) < 1.0:
            raise InputError(f"confidence = {confidence!r}, but it must be between 0 and 1")
        self.confidence = confidence
        self.seed = whole_number("seed", seed, least=0)
        self.samples: dict[str, Floats] = {}  # bootstrap values of the last evaluation
        super().__init__(reward, seed, n_labels)

    def evaluation(self, policy: str, left_out: Mapping[str, int]) -> Evaluation:
        """What the visits so far say of the policy.

        Parameters
        ----------
        policy : str
            The policy in words.
        left_out : mapping
            How many visits of the log were not added, by reason.
        """
        omitted = dict(left_out)
        if self.impossible:
            omitted[ZERO] = omitted.get(ZERO, 0) + self.impossible
        if not self.visits:
            return _empty(policy, self.reward.words, omitted)
        checks = [check for kind in self.weight_sums for check in self._checks(kind)]
        refused = {one.name: self._refused(one, checks) for one in ESTIMATORS}
        usable = [one for one in ESTIMATORS if refused[one.name] is None]
        totals = self.sums.total()
        self.samples = samples = bootstrap(self.sums, [*usable, _LOGGED], self.seed)
        estimates = {}
        for one in ESTIMATORS:
            estimates[one.name] = (
                self._estimate(one, totals, samples[one.name])
                if one in usable
                else Estimate(one.name, None, refused=refused[one.name], assumes=one.assumes)
            )
        return Evaluation(
            policy, self.reward.words, self.visits, omitted, checks, estimates,
            self._estimate(_LOGGED, totals, samples[LOGGED]),
            _few_clicks(usable, checks),
        )  # fmt: skip

    def _checks(self, kind: str) -> list[Check]:
        if self._unavailable(kind) is not None:
            return []
        return check_weights(kind, self.cells(), self.weight_sums[kind], self.coverage)

    def _unavailable(self, kind: str) -> str | None:
        """Why there are no weights of this kind."""
        if kind == "pseudo-inverse":
            return self.no_pseudo_inverse
        if kind == "item" and self.slow.exceeded:
            return self.slow.why
        if self.unknown[kind]:
            what = {
                "slate": "the whole slate was",
                "prefix": "the labels up to each position were",
                "item": "each label was at its position",
            }[kind]
            return f"{self.unknown[kind]:,} of {self.visits:,} visits do not say how likely {what}"
        return None

    def _refused(self, one: Estimator, checks: list[Check]) -> str | None:
        """Why the estimator gives no value; None if it does."""
        if self.reward.cascade_only and not one.interaction:
            return (
                "whether any label was clicked is no sum over labels that do not depend on each "
                "other, so a sum over labels would be biased: read snRIPS or Cascade-DR"
            )
        if one.model and self.model.w is None:
            return f"the reward model needs more than {self.visits:,} visits"
        if one.name in ("DM", "DR") and self.targets_are_slow and self.slow.exceeded:
            return self.slow.why
        if not one.weights:
            return self._no_check(checks) or model_error(self.cells())
        unavailable = self._unavailable(one.weights)
        if unavailable is not None:
            return unavailable
        failed = {c.name: c.text for c in checks if c.weights == one.weights and not c.passed}
        return next((failed[name] for name in MOST_TELLING if name in failed), None)

    def _no_check(self, checks: list[Check]) -> str | None:
        """Why a model alone is not to be trusted: there is no other estimate beside it."""
        for kind in KINDS:
            mine = [check for check in checks if check.weights == kind]
            if mine and all(check.passed for check in mine):
                return None
        return "no estimator with weights can be used with this log, so nothing checks the model"

    def _drawn_together(self, kind: str) -> bool:
        """Whether what a visitor was shown before says what it is shown next.

        Propensities are then not those given the visits before, which anytime intervals rely on.
        """
        return design_effect(kind, self.cells(), self.weight_sums[kind]) > 1.0

    def _estimate(self, one: Estimator, totals: dict[str, Floats], samples: Floats) -> Estimate:
        # the samples know nothing of errors of the model
        low, high = percentiles(samples, self.confidence) if one.name != "DM" else (None, None)
        first = last = None
        if one.name in self.anytime and not self._drawn_together(one.weights):
            first, last = self.anytime[one.name].interval(self.confidence)
        return Estimate(
            one.name, float(one.value(totals)), low, high, first, last, assumes=one.assumes
        )


def _few_clicks(usable: list[Estimator], checks: list[Check]) -> list[str]:
    """A note if intervals may be too narrow."""
    few = {c.weights for c in checks if c.name == "effective clicks" and c.value < FEW_CLICKS}
    names = [one.name for one in usable if one.weights in few]
    if not names:
        return []
    return [
        f"Few clicks decide {', '.join(names)}: their bootstrap intervals may be too narrow; "
        "anytime intervals hold."
    ]


def _empty(policy: str, reward: str, left_out: dict[str, int]) -> Evaluation:
    refused = "there are no visits"
    estimates = {
        one.name: Estimate(one.name, None, refused=refused, assumes=one.assumes)
        for one in ESTIMATORS
    }
    logged = Estimate("logged", None, refused=refused)
    return Evaluation(policy, reward, 0, left_out, [], estimates, logged)
