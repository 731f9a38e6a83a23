"""Several policies judged on one log, in one pass over it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeAlias

from semibandit._util.checks import finite_number, shortened, whole_number
from semibandit._util.gc import rare_collections
from semibandit._util.progress import ProgressOption, progress_bar
from semibandit.errors import InputError
from semibandit.evaluation.off_policy.accepted import AcceptedRun, least_propensity
from semibandit.evaluation.off_policy.differences import find_differences, find_reference
from semibandit.evaluation.off_policy.drawn_share import DrawnShare
from semibandit.evaluation.off_policy.independence import check_policies
from semibandit.evaluation.off_policy.observed import ObservedRun
from semibandit.evaluation.off_policy.policy_words import SAME, Policy, read_target
from semibandit.evaluation.off_policy.progressive import LEARN_EVERY, LearnerTarget
from semibandit.evaluation.off_policy.read_visits import SIZE, VisitLog, read_visits
from semibandit.evaluation.off_policy.result import Estimate, Evaluation
from semibandit.evaluation.off_policy.result_text import (
    comparison_text,
    difference_lines,
    drawn_line,
    interval,
)
from semibandit.evaluation.off_policy.reward import Reward, read_reward
from semibandit.evaluation.off_policy.targets import Logged, Target
from semibandit.evaluation.off_policy.uniform_check import UniformCheck
from semibandit.evaluation.off_policy.weighted import WeightedRun
from semibandit.policies.labels import Label

__all__ = ["Comparison", "compare"]

_Run: TypeAlias = WeightedRun | AcceptedRun | ObservedRun


@dataclass(frozen=True, repr=False)
class Comparison:
    """What `compare` found.

    Parameters
    ----------
    log : str
        The log.
    evaluations : mapping
        What was found of each policy, by its name.
    notes : list of str
        What to know of the log.
    reference : str or None
        The policy with which the others are compared: the log's own learner begun anew ("learner"),
        if it is one of them, else the first that has a value. None is the log's own policy, with
        the slates that were drawn at random: with it a single policy is compared.
    differences : mapping
        For every policy but the reference, how much more it would have earned in the same visits,
        by the first estimator that has a value of both. The interval is that of the difference.
    drawn_share : float or None
        The share of visits whose slate was not the learner's own, but drawn at random or that of
        the holdout; None if the log does not say.
    """

    log: str
    evaluations: Mapping[str, Evaluation]
    notes: list[str] = field(default_factory=list)
    reference: str | None = None
    differences: Mapping[str, Estimate] = field(default_factory=dict)
    drawn_share: float | None = None

    @property
    def logged(self) -> Estimate:
        """What the log's own policy earned."""
        return next(iter(self.evaluations.values())).logged

    @property
    def estimators(self) -> list[str]:
        """The names of all estimators, in their order."""
        names: dict[str, None] = {}
        for one in self.evaluations.values():
            names |= dict.fromkeys(one.estimates)
        return list(names)

    def values(self, estimator: str) -> dict[str, float | None]:
        """The value of each policy by one estimator; None if it is refused."""
        return {
            name: one.estimates[estimator].value if estimator in one.estimates else None
            for name, one in self.evaluations.items()
        }

    def headline(self, name: str) -> Estimate | None:
        """The estimate of a policy to read first; None if all that rest on weights are refused."""
        return self.evaluations[name].headline

    @property
    def empty(self) -> bool:
        """Whether no policy has a value that can be trusted."""
        return all(self.headline(name) is None for name in self.evaluations)

    def json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {
            "log": self.log,
            "notes": self.notes,
            "evaluations": {name: one.json() for name, one in self.evaluations.items()},
            "reference": self.reference,
            "differences": {name: asdict(one) for name, one in self.differences.items()},
            "drawn_share": self.drawn_share,
        }

    def __str__(self) -> str:
        more = [*difference_lines(self.differences, self.reference), *self.notes]
        drawn = drawn_line(self.drawn_share)
        return comparison_text(self.evaluations, more + ([drawn] if drawn else []), self.log)

    def __repr__(self) -> str:
        values = [f"{name!r}: {interval(self.headline(name))}" for name in self.evaluations]
        return f"Comparison({self.log!r}, {', '.join(values)})"


def compare(
    log: str | os.PathLike[str],
    policies: Mapping[str, Policy] | Sequence[str],
    *,
    reward: str | Mapping[Label, float] = "clicks",
    learning: str | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    since: float | None = None,
    until: float | None = None,
    progress: ProgressOption = None,
) -> Comparison:
    """Estimate what several policies would have earned, in one pass over a log.

    Parameters
    ----------
    policies : mapping of names to policies, or sequence of str
        Each policy as for `evaluate`; policies in words are named by these.
    log, reward, learning, confidence, seed, since, until, progress
        As for `evaluate`.

    Returns
    -------
    Comparison
        An `Evaluation` for each policy, and the differences between them. Whether clicks depend on
        the labels around is checked once, by uniform slates: if they do, estimators that assume
        they do not are refused for all policies.

    Raises
    ------
    InputError
        If no visit of the log can be used, or an option is wrong.
    MissingFile, FileError
        If the log or a learner's file cannot be read.
    """
    named = _named(policies)
    if not named:
        raise InputError("policies is empty: expected at least one policy to judge")
    worth = read_reward(reward)
    confidence = finite_number("confidence", confidence, least=0.0)
    if not 0 < confidence < 1:
        raise InputError(f"confidence = {confidence}, but it must be between 0 and 1, such as 0.95")
    seed = whole_number("seed", seed, least=0)
    visits = read_visits(log, since=since, until=until)
    targets = {name: read_target(one, visits, learning, name) for name, one in named.items()}
    learning_ones = [name for name, target in targets.items() if target.learns]
    if learning_ones and not visits.has_lessons:
        raise InputError(
            f"{visits.log} has nothing to learn from, but the policy {learning_ones[0]!r} learns: "
            "judge uniform, logged, or a learner's file that does not learn along it"
        )
    if learning_ones:
        visits.lessons, visits.size = True, LEARN_EVERY
    else:
        visits.lessons, visits.size = False, SIZE
    with rare_collections():
        runs = _runs(targets, visits, learning, worth, confidence, seed)
        check, drawn = UniformCheck(runs.values(), worth, confidence, seed), DrawnShare()
        with progress_bar(None, "events", progress) as advance:
            for chunk in visits:
                for run in (*runs.values(), check):
                    run.add(chunk)
                for visit in chunk.visits:
                    drawn.add(visit.logging)
                advance(chunk.events)
        visits.check_used()
        found = {
            name: replace(run.evaluation(visits.left_out), confidence=confidence)
            for name, run in runs.items()
        }
        independence = check.independence(visits.left_out)
    samples = {name: run.samples for name, run in runs.items()}
    independence = check_policies(independence, found, samples)
    found = {name: independence.applied(one, samples[name]) for name, one in found.items()}
    reference = find_reference(found, [name for name, one in named.items() if one == SAME])
    return Comparison(
        visits.log, found, visits.notes(), reference,
        find_differences(found, samples, reference, confidence), drawn.value,
    )  # fmt: skip


def _named(policies: Mapping[str, Policy] | Sequence[str]) -> dict[str, Policy]:
    """The policies by name."""
    if isinstance(policies, Mapping):
        return dict(policies)
    words = isinstance(policies, Sequence) and not isinstance(policies, str)
    if not words or not all(isinstance(one, str) for one in policies):
        raise InputError(
            f"policies = {shortened(policies)}, but it must be a mapping of names to policies, or "
            "a list of policies in words (evaluate takes one policy)"
        )
    return {one: one for one in policies}


def _runs(
    targets: Mapping[str, Target], visits: VisitLog, learning: str | None, reward: Reward,
    confidence: float, seed: int,
) -> dict[str, _Run]:  # fmt: skip
    """A run for each policy; those that are no learners accept no visits, but weigh them."""
    learners = any(isinstance(one, LearnerTarget) for one in targets.values())
    least = least_propensity(visits) if learners and learning == "accepted" else 1.0
    runs: dict[str, _Run] = {}
    for name, one in targets.items():
        if learning == "accepted" and isinstance(one, LearnerTarget):
            runs[name] = AcceptedRun(one, reward, confidence, seed, least)
        elif isinstance(one, Logged) and not visits.has_lessons:
            runs[name] = ObservedRun(reward, confidence, seed)
        else:
            runs[name] = WeightedRun(one, reward, confidence, seed)
    return runs
