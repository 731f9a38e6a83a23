"""What an evaluation found: diagnostics first, then a value by each estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from semibandit.evaluation.off_policy.result_text import comparison_text, counted, interval

__all__ = ["HEADLINES", "Check", "Estimate", "Evaluation"]

HEADLINES = (
    "Cascade-DR", "snRIPS", "RIPS", "DR", "SNIPS", "IPS", "IIPS-DR", "snIIPS", "IIPS", "PI",
    "accepted", "mean",
)  # fmt: skip


@dataclass(frozen=True)
class Check:
    """One diagnostic of the weights.

    Parameters
    ----------
    name : str
        What was checked, such as "mean weight".
    weights : str
        Which weights: "slate", "prefix", "item" or "pseudo-inverse".
    value : float
        What was found.
    passed : bool
        Whether estimators that use these weights can be trusted.
    text : str
        What was found in a sentence, and if it failed, what log would be needed.
    """

    name: str
    weights: str
    value: float
    passed: bool
    text: str


@dataclass(frozen=True)
class Estimate:
    """The value of a policy by one estimator.

    Parameters
    ----------
    name : str
        The estimator, such as "SNIPS".
    value : float or None
        The reward per visit; None if it is refused.
    low, high : float or None
        A bootstrap interval over visits (over visitors if the log knows them); None for the direct
        method, since the errors of its model are not known, and if there is only one visitor.
    anytime_low, anytime_high : float or None
        An interval that stays valid however often one looks while the log grows; None if this
        estimator has none, or if the visits of a visitor are drawn together, as in a holdout of
        visitors who come back.
    refused : str or None
        Why there is no value.
    assumes : str
        What must hold for the estimator to be unbiased, besides support.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    anytime_low: float | None = None
    anytime_high: float | None = None
    refused: str | None = None
    assumes: str = ""


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What `evaluate` returns for one policy.

    Parameters
    ----------
    policy : str
        The policy in words.
    reward : str
        The reward in words.
    visits : int
        How many visits were used.
    left_out : mapping
        How many were not, by reason.
    checks : list of Check
        The diagnostics.
    estimates : mapping
        Estimates by name.
    logged : Estimate
        What the logging policy itself earned in these visits.
    notes : list of str
        What to know before reading the estimates, such as that positions interact.
    confidence : float
        That of the intervals.

    Examples
    --------
    >>> estimates = {"SNIPS": Estimate("SNIPS", 0.25, 0.2, 0.3)}
    >>> found = Evaluation(
    ...     "uniform", "clicks", 1000, {}, [], estimates, Estimate("logged", 0.4, 0.35, 0.45))
    >>> found
    Evaluation('uniform': SNIPS 0.2500 [0.2000, 0.3000], 1,000 visits)
    >>> print(found)
    uniform: 1,000 visits, clicks per visit
    <BLANKLINE>
    estimator                      uniform
    the log's own  0.4000 [0.3500, 0.4500]
    SNIPS          0.2500 [0.2000, 0.3000]
    95% intervals over visits
    <BLANKLINE>
    all checks passed
    """

    policy: str
    reward: str
    visits: int
    left_out: Mapping[str, int]
    checks: list[Check]
    estimates: Mapping[str, Estimate]
    logged: Estimate
    notes: list[str] = field(default_factory=list)
    confidence: float = 0.95

    @property
    def headline(self) -> Estimate | None:
        """The estimate to read first; None if all that rest on weights are refused.

        Estimators that assume less come first. The direct method is none of them: nothing says
        whether its model is right.
        """
        for name in HEADLINES:
            if name in self.estimates and self.estimates[name].value is not None:
                return self.estimates[name]
        return None

    def json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return asdict(self)

    def __str__(self) -> str:
        return comparison_text({self.policy: self}, log=self.policy)

    def __repr__(self) -> str:
        one = self.headline
        value = "refused" if one is None else f"{one.name} {interval(one)}"
        return f"Evaluation({self.policy!r}: {value}, {counted(self.visits, 'visits')})"
