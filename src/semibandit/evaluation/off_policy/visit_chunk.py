"""Some events of a log that follow each other, as evaluation takes them."""

from __future__ import annotations

from dataclasses import dataclass, field

from semibandit.evaluation.off_policy.lesson import Lesson
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.policies.labels import Label

__all__ = ["VisitChunk"]


@dataclass(eq=False)
class VisitChunk:
    """Some events of the log that follow each other.

    Parameters
    ----------
    decided : list of LoggedVisit
        Visits that were decided here, before they have clicks. Those that get feedback, here or
        later, are among `visits` then. Empty unless lessons are asked for.
    decided_items : list of lists of labels
        For each of them all labels that there were.
    given_up : list of LoggedVisit
        Those decided before that are not waited for any more.
    visits : list of LoggedVisit
        Visits with feedback, in its order, that can be used for evaluation.
    items : list of lists of labels
        For each visit all labels that there were when it was decided.
    lessons : list of Lesson
        What the log's learner learned, in the log's order: feedback with its decision, whether it
        can be evaluated or not, and changes of labels. Empty unless lessons are asked for.
    lesson_of : list of Lesson or None
        For each visit its feedback, learned or not, if lessons are asked for.
    events : int
        How many events of the log it was made of.
    answers : int
        How many of them are feedback to a decision.
    """

    decided: list[LoggedVisit] = field(default_factory=list)
    decided_items: list[list[Label]] = field(default_factory=list)
    given_up: list[LoggedVisit] = field(default_factory=list)
    visits: list[LoggedVisit] = field(default_factory=list)
    items: list[list[Label]] = field(default_factory=list)
    lessons: list[Lesson] = field(default_factory=list)
    lesson_of: list[Lesson | None] = field(default_factory=list)
    events: int = 0
    answers: int = 0
