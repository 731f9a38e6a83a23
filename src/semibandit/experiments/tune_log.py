"""Tuning on the log of a service: which settings would have earned most, learning along it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from semibandit._util.progress import ProgressOption
from semibandit.errors import InputError
from semibandit.evaluation.off_policy.compare import Comparison, compare
from semibandit.evaluation.off_policy.policy_words import SAME, Policy
from semibandit.evaluation.off_policy.read_visits import read_visits
from semibandit.experiments.setting import Setting
from semibandit.experiments.tuned import Tuned
from semibandit.policies.labels import Label
from semibandit.policies.learner_spec import LearnerSpec

__all__ = ["ESTIMATORS", "tune_log"]

ESTIMATORS = ("Cascade-DR", "snRIPS", "IIPS-DR", "snIIPS")  # in the order of trust
OF_DATA = ("slots", "rounds", "features")  # what a log says itself


def tune_log(
    log: str,
    changes: Mapping[str, Any],
    *,
    alphas: Sequence[float],
    losses: Sequence[str],
    biases: Sequence[bool] | None = None,
    reward: str | Mapping[Label, float] = "clicks",
    since: float | None = None,
    progress: ProgressOption = None,
) -> Tuned:
    """Find the settings of a log's learner that would have earned most in its visits.

    Every setting begins anew, and learns along the log after it was judged; all in one pass.

    Parameters
    ----------
    log : str
        A store, or a file of `semibandit export`, with propensities.
    changes : mapping
        Settings of the log's own learner to change for all.
    alphas, losses, biases
        As for `tune`; by default the bias is the log's own.
    reward, since, progress
        As for `evaluate`.

    Returns
    -------
    Tuned
        The loss is minus the value. `refused` has the settings without one.

    Raises
    ------
    InputError
        If no visit of the log can be used, or no setting has a value that can be trusted.
    """
    for name in OF_DATA:
        if name in changes:
            raise InputError(f"{name} does not go with a log: what was asked for is in it")
    own = LearnerSpec.of(read_visits(log).learner()).changed(**changes)
    start = Setting(log, **own.json())
    settings = {
        f"{loss} {alpha:g} {bias}": replace(start, width=f"scaled:{alpha:g}", loss=loss, bias=bias)
        for bias in ((own.bias,) if biases is None else biases)
        for loss in losses
        for alpha in alphas
    }
    specs = {name: LearnerSpec(**_spec(one)) for name, one in settings.items()}
    policies: dict[str, Policy] = {SAME: SAME, **specs}
    found = compare(log, policies, reward=reward, learning="log", since=since, progress=progress)
    estimator = _estimator(found)
    values = found.values(estimator)
    values.pop(SAME)
    tried = [(settings[name], -value) for name, value in values.items() if value is not None]
    refused = [
        (settings[name], str(found.evaluations[name].estimates[estimator].refused))
        for name, value in values.items()
        if value is None
    ]
    best, value = max(
        ((name, value) for name, value in values.items() if value is not None),
        key=lambda pair: pair[1],
    )
    return Tuned(
        settings[best], -value, tried, estimator, found.evaluations[best], refused,
        found.evaluations[SAME].estimates[estimator],
        found.differences[best] if found.reference == SAME else None,
    )  # fmt: skip


def _spec(setting: Setting) -> dict[str, Any]:
    """The learner's own settings."""
    of_run = {"data", *OF_DATA}
    return {key: value for key, value in setting.json().items() if key not in of_run}


def _estimator(found: Comparison) -> str:
    """The first estimator that gives most settings a value."""
    counts = {
        name: sum(value is not None for one, value in found.values(name).items() if one != SAME)
        for name in ESTIMATORS
    }
    best = max(ESTIMATORS, key=lambda name: counts[name])  # the first of equals
    if not counts[best]:
        one = next(one for name, one in found.evaluations.items() if name != SAME)
        reasons = {one.estimates[name].refused for name in ESTIMATORS}
        raise InputError(
            f"{found.log} cannot tell these settings apart: every value is refused. "
            + " ".join(sorted(filter(None, reasons)))
        )
    return best
