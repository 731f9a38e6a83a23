"""What the engine is asked to do, and where each answer goes."""

from __future__ import annotations

import asyncio
import concurrent.futures
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from semibandit.models.model import dense
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.request import Request
from semibandit.store.event import Decision, Feedback, LabelChange, NewLearner, request_key

__all__ = [
    "AnswerFuture",
    "InternalError",
    "Pending",
    "PendingFeedback",
    "PendingErasure",
    "PendingLabelChange",
    "PendingNewLearner",
    "PendingRank",
    "Reply",
    "Unlogged",
    "set_results",
]


class InternalError(Exception):
    """A bug of ours made a request fail; its traceback is in the log already."""


class AnswerFuture(Protocol):
    """Where an answer goes: a future of asyncio or of threads."""

    def done(self) -> bool: ...

    def set_result(self, result: Any, /) -> None: ...

    def set_exception(self, exception: Any, /) -> None: ...


@dataclass(slots=True, eq=False)
class PendingRank(Request):
    """A request to rank; `draw` is set when its turn has come."""

    candidates: list[Label] | None
    exclude: list[Label] | None
    id: str | None
    answer: AnswerFuture
    subject: str | None = None  # the client's name for the visitor
    default_slots: bool = False  # whether the request said nothing of slots

    @property
    def asked(self) -> tuple[object, ...]:
        """The request, to know it again by."""
        return self._key(self.slots)

    def same_as(self, before: Decision) -> bool:
        """Whether this is the request that was decided; the default of slots may have changed."""
        slots = before.slots if self.default_slots else self.slots
        return self._key(slots) == before.asked

    def _key(self, slots: int | None) -> tuple[object, ...]:
        return request_key(
            dense(self.given), self.named, slots, self.candidates, self.exclude, self.subject
        )


@dataclass(frozen=True, eq=False)
class PendingFeedback:
    """Feedback to be taken in."""

    feedback: Feedback
    answer: AnswerFuture
    up_to_last_click: bool = False  # whether that is what was looked at


@dataclass(frozen=True, eq=False)
class PendingLabelChange:
    """Labels to be added or retired; answered once that has taken effect."""

    change: LabelChange
    answer: AnswerFuture


@dataclass(frozen=True, eq=False)
class PendingNewLearner:
    """A learner that is to take the place of the present one; answered once it has.

    `learner` is that of the event's file, and has learned the log up to event `learned`.
    """

    event: NewLearner
    learner: Learner
    learned: int
    answer: AnswerFuture


@dataclass(frozen=True, eq=False)
class PendingErasure:
    """Decisions that will be erased: from the answer on, nothing more is taken in about them."""

    ids: frozenset[str]
    answer: AnswerFuture


@dataclass(frozen=True, eq=False)
class Unlogged:
    """The answer to a request to rank, by a service that does not write: nothing was recorded."""

    decision: Decision


Pending: TypeAlias = (
    PendingRank | PendingFeedback | PendingLabelChange | PendingNewLearner | PendingErasure
)
Reply: TypeAlias = tuple[AnswerFuture, Any]  # and its result, or the exception
DONE = (asyncio.InvalidStateError, concurrent.futures.InvalidStateError)


def set_results(replies: list[Reply]) -> None:
    """Set every future; one that was given up meanwhile stays as it is."""
    for answer, result in replies:
        if answer.done():
            continue
        try:
            if isinstance(result, BaseException):
                answer.set_exception(result)
            else:
                answer.set_result(result)
        except DONE:  # by another thread, just now
            pass
