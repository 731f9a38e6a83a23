"""The estimators: what each adds up over visits, and its value from the sums.

A value is the reward per visit that the target policy e would have had. With r_k the reward at
position k, R = Σ_k r_k, weights w = e/b, and q̂ a model of rewards:

    IPS         mean of w(s) R
    SNIPS       Σ w(s) R / Σ w(s)
    IIPS        mean of Σ_k w_k r_k, w_k that of the label at position k
    RIPS        mean of Σ_k w_1:k r_k, w_1:k that of the first k labels
    snIIPS      Σ_k (Σ w_k r_k / Σ w_k) · (mean probability that e shows k labels)
    snRIPS      the same with w_1:k
    PI          mean of R q_eᵀG⁺1_s, see `pseudo_inverse.py`
    DM          mean of E_e[Σ_k q̂_k]
    DR          mean of E_e[Σ_k q̂_k] + w(s) Σ_k (r_k - q̂_k)
    IIPS-DR     mean of E_e[Σ_k q̂_k] + Σ_k w_k (r_k - q̂_k)
    Cascade-DR  mean of Σ_k [w_1:k (r_k - q̂_k) + w_1:k-1 E_e[q̂_k | s_1, ..., s_k-1]]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.evaluation.off_policy.chunk import Chunk
from semibandit.evaluation.off_policy.expectations import (
    expected_next,
    expected_rewards,
    predicted,
)
from semibandit.evaluation.off_policy.probabilities import Distributions
from semibandit.evaluation.off_policy.reward_model import Predictions
from semibandit.evaluation.off_policy.weights import Weights

__all__ = ["ESTIMATORS", "Estimator", "Sums", "model_terms", "weighted_terms"]

Sums = Mapping[str, Floats]  # by name: numbers, or numbers by position (last axis)


@dataclass(frozen=True)
class Estimator:
    """An estimator of the reward per visit.

    Parameters
    ----------
    name : str
        What it is called.
    weights : str
        The weights it uses: "slate", "prefix", "item", "pseudo-inverse", or "" for none.
    assumes : str
        What must hold for it to be unbiased, besides support.
    value : function
        The estimate from the sums over visits; any leading axes are kept.
    interaction : bool
        Whether r_k may depend on the labels above position k.
    model : bool
        Whether it needs the reward model.
    """

    name: str
    weights: str
    assumes: str
    value: Callable[[Sums], Floats]
    interaction: bool
    model: bool = False


def weighted_terms(rewards: Floats, w: Weights, w_pi: Floats) -> dict[str, Floats]:
    """What the estimators without a model add up, for each visit (and position)."""
    total = rewards.sum(axis=1)
    return {
        "visits": np.ones(len(total)),
        "reward": total,
        "slate w": w.slate,
        "slate wr": w.slate * total,
        "item w": w.item,
        "item wr": w.item * rewards,
        "prefix w": w.prefix,
        "prefix wr": w.prefix * rewards,
        "expected": w.expected,
        "pseudo-inverse w": w_pi,
        "pseudo-inverse wr": w_pi * total,
    }


def model_terms(
    chunk: Chunk,
    rewards: Floats,
    w: Weights,
    targets: Distributions,
    q: Predictions | None,
    marginals: bool = True,
) -> dict[str, Floats]:
    """What the estimators with a model add up; without a model it predicts 0.

    The direct method counts only visits for which there is a model; what it predicts for what was
    shown in them, and what that earned, says whether the model is right. Without `marginals`, all
    but Cascade-DR are wrong for targets that are neither fixed nor uniform slates.
    """
    size = len(chunk.visits)
    if q is None:
        none = np.zeros(size)
        return {
            "dm": none,
            "dm visits": none,
            "dm shown": none,
            "dm reward": none,
            "dr": w.slate * rewards.sum(axis=1),
            "item dr": (w.item * rewards).sum(axis=1),
            "prefix dr": (w.prefix * rewards).sum(axis=1),
        }
    totals = q.totals()
    expected = expected_rewards(q, targets, totals, marginals)
    single = ~w.known["slate"] & ~w.known["prefix"]
    expected[single] *= chunk.present[single]
    direct = expected.sum(axis=1)
    shown = predicted(q)
    rest = rewards - shown
    before = np.concatenate([np.ones((size, 1)), w.logged.prefix[:, :-1]], axis=1)
    next_one = expected_next(q, targets, totals)
    baseline = np.divide(next_one, before, out=np.zeros_like(next_one), where=before > 0)
    return {
        "dm": direct,
        "dm visits": np.ones(size),
        "dm shown": shown.sum(axis=1),
        "dm reward": rewards.sum(axis=1),
        "dr": direct + w.slate * rest.sum(axis=1),
        "item dr": direct + (w.item * rest).sum(axis=1),
        "prefix dr": (w.prefix * rest + baseline).sum(axis=1),
    }


def _mean(name: str) -> Callable[[Sums], Floats]:
    return lambda sums: _quotient(sums[name], sums["visits"])


def _by_position(kind: str) -> Callable[[Sums], Floats]:
    return lambda sums: _quotient(sums[f"{kind} wr"].sum(axis=-1), sums["visits"])


def _self_normalised(kind: str) -> Callable[[Sums], Floats]:
    def value(sums: Sums) -> Floats:
        expected = sums["expected"]
        rate = _quotient(sums[f"{kind} wr"], sums[f"{kind} w"])
        # Positions without weights are not used by the target, or so rarely that it is tolerated.
        rate = np.where(np.isnan(rate), 0.0, rate)
        return _quotient((rate * expected).sum(axis=-1), sums["visits"])

    return value


def _quotient(one: Floats, other: Floats) -> Floats:
    """one/other, nan if other is 0."""
    one, other = np.asarray(one), np.asarray(other)
    return np.asarray(np.divide(one, other, out=np.full(np.shape(other), np.nan), where=other != 0))


_ALWAYS = "nothing about clicks"
_INDEPENDENT = "clicks depend on the label and its position, not on the labels around it"
_CASCADE = "clicks depend on the label, its position and the labels above it"
_ADDITIVE = "a slate's reward is a sum of what each label gives at its position"
_MODEL = "the reward model is right; there is no interval, since its errors are not known"

ESTIMATORS = (
    Estimator("IPS", "slate", _ALWAYS, _mean("slate wr"), True),
    Estimator(
        "SNIPS", "slate", f"{_ALWAYS}; many visits",
        lambda sums: _quotient(sums["slate wr"], sums["slate w"]), True,
    ),
    Estimator("IIPS", "item", _INDEPENDENT, _by_position("item"), False),
    Estimator("snIIPS", "item", f"{_INDEPENDENT}; many visits", _self_normalised("item"), False),
    Estimator("RIPS", "prefix", _CASCADE, _by_position("prefix"), True),
    Estimator("snRIPS", "prefix", f"{_CASCADE}; many visits", _self_normalised("prefix"), True),
    Estimator("PI", "pseudo-inverse", _ADDITIVE, _mean("pseudo-inverse wr"), False),
    Estimator(
        "DM", "", _MODEL, lambda sums: _quotient(sums["dm"], sums["dm visits"]), False, True
    ),
    Estimator("DR", "slate", _ALWAYS, _mean("dr"), True, True),
    Estimator("IIPS-DR", "item", _INDEPENDENT, _mean("item dr"), False, True),
    Estimator("Cascade-DR", "prefix", _CASCADE, _mean("prefix dr"), True, True),
)  # fmt: skip
