"""A learner judged as if it had been online: it learns only from slates that it would have shown.

For each visit the policy draws a slate as it would online. If the log's slate begins with it, the
visit is accepted with probability c/b, with b the log's propensity of that beginning, and c the
least propensity that any slate has in this log; else it is left out. Each visit is then accepted
with probability c, whatever the policy shows, so that the accepted ones are what the policy would
have seen online, exploration included. Clicks below what it would have shown are left out, which
assumes that clicks do not depend on what is shown below them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.errors import InputError
from semibandit.evaluation.off_policy.accumulate import Accumulator
from semibandit.evaluation.off_policy.lesson import Lesson
from semibandit.evaluation.off_policy.progressive import LearnerTarget, learn_lessons
from semibandit.evaluation.off_policy.read_visits import VisitLog
from semibandit.evaluation.off_policy.result import Check, Estimate, Evaluation
from semibandit.evaluation.off_policy.reward import Reward
from semibandit.evaluation.off_policy.targets import allowed_items
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.evaluation.off_policy.visit_buffer import VisitBuffer
from semibandit.evaluation.off_policy.visit_chunk import VisitChunk
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.labels import Label

__all__ = ["AcceptedRun", "least_propensity"]

ENOUGH = 100  # accepted visits from which on their mean is a value
UNSUPPORTED = 0.01  # share of visits whose slate the log could not have shown, at most
DEVIATIONS = 3.0  # standard errors that the number of accepted visits may be away from its mean
TOLERATED = 0.01  # of it
NAME = "accepted"


class AcceptedRun:
    """One policy that learns from the visits it accepts.

    Parameters
    ----------
    target : LearnerTarget
        The policy; it is changed.
    reward : Reward
        What a visit is worth.
    confidence, seed
        As for `evaluate`.
    least : float
        The least propensity of any slate in the log, as `least_propensity` finds it.
    """

    def __init__(
        self, target: LearnerTarget, reward: Reward, confidence: float, seed: int, least: float
    ) -> None:
        self.target, self.least = target, least
        self._all = VisitBuffer(Accumulator(reward, confidence=confidence, seed=seed))
        self._accepted = VisitBuffer(Accumulator(reward, confidence=confidence, seed=seed))
        self._random = np.random.default_rng([seed, 4])
        self._waiting: dict[int, list[Label]] = {}  # of decisions without feedback, by seq
        self.visits = self.accepted = self.unsupported = 0

    def add(self, chunk: VisitChunk) -> None:
        """Judge the visits of a chunk, and learn from those that are accepted."""
        self._draw(chunk)
        lessons: list[Lesson] = []
        for visit, items, lesson in zip(chunk.visits, chunk.items, chunk.lesson_of, strict=True):
            self.visits += 1
            slate = self._waiting.pop(visit.seq)
            if self._accepts(visit, slate, items):
                self._count(visit, slate, items)
                if lesson is not None:
                    lessons.append(_shortened(lesson, slate))
            assert visit.logging is not None
            self._all.add(visit, visit.logging, items)
        labels = [lesson for lesson in chunk.lessons if lesson.decision is None]
        self.target.refused += learn_lessons(self.target.learner, lessons + labels)

    def _draw(self, chunk: VisitChunk) -> None:
        """What the policy would have shown in the visits that were decided here."""
        targets = self.target.distributions(chunk.decided, chunk.decided_items)
        for visit, items, target in zip(chunk.decided, chunk.decided_items, targets, strict=True):
            allowed = allowed_items(visit.request, items)
            self._waiting[visit.seq] = target.sample(self._random, allowed)
        for visit in chunk.given_up:
            self._waiting.pop(visit.seq, None)

    def evaluation(self, left_out: Mapping[str, int]) -> Evaluation:
        """What was found."""
        policy = self.target.words
        checks = [self._enough(), self._rate(), self._support()]
        wrong = "; ".join(check.text for check in checks if not check.passed) or None
        assumes = "clicks do not depend on what is shown below"
        estimate = Estimate(NAME, None, refused=wrong, assumes=assumes)
        if wrong is None:
            mean = self._accepted.flushed().evaluation(policy, {}).logged
            estimate = Estimate(
                NAME, mean.value, mean.low, mean.high, mean.anytime_low, mean.anytime_high,
                assumes=assumes,
            )  # fmt: skip
        whole = self._all.flushed().evaluation(policy, left_out)
        return Evaluation(
            policy, whole.reward, self.visits, dict(left_out), checks, {NAME: estimate},
            whole.logged, self.target.all_notes(),
        )  # fmt: skip

    @property
    def samples(self) -> dict[str, Floats]:
        """None: the accepted visits of two policies are not the same."""
        return {}

    def _accepts(self, visit: LoggedVisit, slate: Sequence[Label], items: list[Label]) -> bool:
        assert visit.logging is not None
        draw = self._random.random()  # always, so that the same visits are drawn for
        b = float(visit.logging.prefix_propensity(slate)[-1]) if slate else 1.0
        if not b or not set(slate) <= set(allowed_items(visit.request, items)):
            self.unsupported += 1
            return False
        return visit.shown[: len(slate)] == list(slate) and draw < self.least / b

    def _count(self, visit: LoggedVisit, slate: Sequence[Label], items: list[Label]) -> None:
        self.accepted += 1
        n, sure = len(slate), FixedSlate(list(slate))
        short = LoggedVisit(
            visit.request, list(slate), visit.clicked[:n], 1.0, np.ones(n), np.ones(n), sure,
            visit.group, visit.seq, visit.at,
        )  # fmt: skip
        self._accepted.add(short, sure, items)

    def _enough(self) -> Check:
        text = f"{self.accepted:,} of {self.visits:,} visits were accepted"
        passed = self.accepted >= ENOUGH
        if not passed:
            text += (
                f": too few for a value. A visit is accepted with probability {self.least:.2g}; "
                "more are if slates are shorter or more of them are drawn uniformly (learning "
                "from all of the log, `log`, uses all visits, by weights)"
            )
        return Check("accepted visits", "slate", float(self.accepted), passed, text)

    def _rate(self) -> Check:
        """Whether as many are accepted as the log's propensities say: the same of every policy."""
        expected = self.least * self.visits
        share = self.accepted / expected if expected else 1.0
        text = f"{share:.3g} times as many visits were accepted as there should be"
        error = np.sqrt(expected) + TOLERATED * expected
        passed = abs(self.accepted - expected) <= DEVIATIONS * error + self.least * self.unsupported
        if not passed:
            text += ": the log's propensities are not those by which it was made"
        return Check("acceptance rate", "prefix", share, bool(passed), text)

    def _support(self) -> Check:
        share = self.unsupported / max(self.visits, 1)
        text = f"{share:.1%} of its slates could not have been shown by the log's policy"
        return Check("coverage", "prefix", 1.0 - share, share <= UNSUPPORTED, text)


def least_propensity(log: VisitLog) -> float:
    """The least propensity that any slate which fills the slots has in a log.

    Raises
    ------
    InputError
        If there is none, because some visits draw no slate uniformly.
    """
    least = 1.0
    for chunk in log:
        for visit in chunk.visits:
            least = min(least, _floor(visit.logging))
    log.check_used()
    if not least:
        raise InputError(
            "learning from accepted visits needs a log in which every slate has a known least "
            "probability (`semibandit serve --randomise mixed:0.05`, or `--holdout`); this one has "
            "visits in which some slates could not be shown: learning from all of the "
            "log, `log`, may do"
        )
    return least


def _floor(logging: SlateDistribution | None) -> float:
    """A probability that no slate which fills the slots falls below."""
    if isinstance(logging, Mixture):
        return sum(weight * _floor(part) for weight, part in logging.parts)
    if isinstance(logging, UniformSlates):
        return logging.slate_propensity(range(logging.length))
    return 0.0


def _shortened(lesson: Lesson, slate: Sequence[Label]) -> Lesson:
    """The lesson of what the policy would have shown: the first labels of what was shown."""
    assert lesson.decision is not None
    kept, answer = set(slate), lesson.row.body
    clicked = [label for label in answer["clicked"] if label in kept]
    examined = answer.get("examined")
    if examined is not None:
        examined = [label for label in examined if label in kept]
    row = lesson.row.with_body(answer | {"clicked": clicked, "examined": examined})
    shown = lesson.decision.body | {"labels": list(slate), "leader": None, "learns": True}
    return Lesson(row, lesson.decision.with_body(shown))
