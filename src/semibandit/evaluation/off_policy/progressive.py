"""Learners as targets: frozen as they are, or learning along the log after they were judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat, takewhile
from operator import is_not
from typing import cast

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.numba import has_numba
from semibandit.errors import InputError, UnknownLabel
from semibandit.evaluation.off_policy.labels_of_log import LabelsOfLog
from semibandit.evaluation.off_policy.lesson import Lesson
from semibandit.evaluation.off_policy.targets import Target
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.evaluation.off_policy.visit_chunk import VisitChunk
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.feedback_batch import ShownFeedback, can_compile, learn_batch
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.randomised import Randomised, distributions_for
from semibandit.policies.request import Request
from semibandit.store.rebuild import check_learns_from_shown, learn_event

__all__ = ["LEARN_EVERY", "LearnerTarget", "learn_lessons"]

FLOAT = "float64"
COMPILED_FROM = 16_384  # visits from which on it pays to load compiled functions for ranking
_IN_GROUPS = partial(is_not, None)
LEARN_EVERY = 64  # answers that are learned together; decisions between them are judged before


class LearnerTarget(Target):
    """A learner, or one whose slates are drawn around it.

    If it learns, it does so in groups of 64 answers: visits that were decided meanwhile are judged
    by what it knew before the group. Weights stay right because it knows nothing of the visits that
    it is judged on.

    Parameters
    ----------
    words : str
        What it is called.
    policy : Learner or Randomised
        Who decides. It is changed if it learns.
    learns : bool
        Whether it learns what was shown in the log, and all labels that came and went.
    position : int, optional
        The last event of the log that it has learned before.
    """

    def __init__(
        self,
        words: str,
        policy: Learner | Randomised,
        *,
        learns: bool,
        position: int | None = None,
    ) -> None:
        super().__init__(words, learns=learns)
        self.position = position
        self._learned = 0  # visits that it had learned before it was judged on them
        self._labels = LabelsOfLog(policy.labels)
        self.policy = policy
        self.learner = policy.learner if isinstance(policy, Randomised) else policy
        self._judged = 0
        if learns:
            check_learns_from_shown(self.learner)

    def distributions(
        self, visits: Sequence[LoggedVisit], items: Sequence[list[Label]]
    ) -> list[SlateDistribution]:
        requests = [visit.request for visit in visits]
        self._check_contexts(requests)
        if self.position is not None:
            self._learned += sum(visit.seq <= self.position for visit in visits)
        if not self.learns or not self._judged:  # then its labels come and go with the log's
            self._labels.add(items)
        self._load_compiled(len(requests))
        if self.learner.one_slot:
            requests = [replace(request, slots=1) for request in requests]
        try:
            return distributions_for(self.policy, requests)
        except UnknownLabel:  # what it does not have it would not have shown
            known = set(self.learner.labels)
            return distributions_for(self.policy, [_within(known, one) for one in requests])

    def _check_contexts(self, requests: Sequence[Request]) -> None:
        """Refuse a log whose contexts are not for this learner."""
        d = self.learner.n_features
        for request in requests:
            if request.named is not None and self.learner.features is None:
                raise InputError(
                    f"{self.words} takes {d} numbers, but the log's contexts have names"
                )
            if request.named is None and request.given.size != d:
                n = request.given.size
                raise InputError(
                    f"{self.words} takes {d} features, but the log's contexts have {n}"
                )

    def _load_compiled(self, n: int) -> None:
        """Load what ranks many requests faster, once there were enough of them."""
        before, self._judged = self._judged, self._judged + n
        if before < COMPILED_FROM <= self._judged and has_numba():
            from semibandit.policies import batch_compiled

            batch_compiled.prepare(getattr(getattr(self.learner, "model", None), "dtype", FLOAT))

    def all_notes(self) -> list[str]:
        notes = [*super().all_notes(), *self._labels.notes()]
        if self._learned:
            notes.append(
                f"it has learned {self._learned:,} of these visits: its value is too high. Judge "
                "it by later visits (--since), or a learner that begins anew and learns along the "
                "log (--policy learner, or its settings in words)"
            )
        return notes

    def learn(self, chunk: VisitChunk) -> None:
        if self.learns:
            self.refused += learn_lessons(self.learner, chunk.lessons)


def learn_lessons(learner: Learner, lessons: Sequence[Lesson]) -> int:
    """Learn all of these in their order; returns how many the learner refused.

    Contexts are scaled anew: what the log's own model saw of them is not for this one.
    """
    refused, done = 0, 0
    batch = _batch(learner, lessons) if can_compile(learner) else [None] * len(lessons)
    while done < len(lessons):
        first = [*takewhile(_IN_GROUPS, batch[done:])]
        learned = learn_batch(learner, cast(list[ShownFeedback], first)) if first else 0
        if not learned:
            event, decision = lessons[done].events()
            refused += not learn_event(learner, event, decision, since=None)
        done += max(learned, 1)
    return refused


def _batch(learner: Learner, lessons: Sequence[Lesson]) -> list[ShownFeedback | None]:
    """The lessons as they are learned in groups; None for those to be learned by themselves.

    Each context is scaled as if those before it were learned, as it would be one by one.
    """
    each = [lesson.context for lesson in lessons]
    contexts = [x for x in each if x is not None]
    seen: Iterator[Floats | None] = repeat(None)
    if learner.scaling_learns and contexts:
        if len(set(map(len, contexts))) > 1:  # they are no matrix: each is then looked at
            return [None] * len(lessons)
        try:
            seen = iter(learner.scaled_in_turn(learner.read_contexts(np.array(contexts))))
        except InputError:  # one of them cannot be used
            return [None] * len(lessons)
    return [
        None if x is None else lesson.feedback(next(seen))
        for lesson, x in zip(lessons, each, strict=True)
    ]


def _within(known: set[Label], request: Request) -> Request:
    """The request without labels that the learner does not have."""
    only, without = request.candidates, request.exclude
    return replace(
        request,
        candidates=None if only is None else [label for label in only if label in known],
        exclude=None if without is None else [label for label in without if label in known],
    )
