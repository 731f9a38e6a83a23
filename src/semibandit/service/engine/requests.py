"""What the engine is asked to do, and where each answer goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from semibandit.models.model import dense
from semibandit.policies.request import Request
from semibandit.store.event import Feedback, LabelChange, request_key

__all__ = [
    "AnswerFuture",
    "InternalError",
    "Pending",
    "PendingFeedback",
    "PendingLabelChange",
    "PendingRank",
    "Reply",
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

    id: str | None
    answer: AnswerFuture

    @property
    def asked(self) -> tuple[object, ...]:
        """The request, to know it again by."""
        context = dense(self.given)
        return request_key(context, self.named, self.slots, self.candidates, self.exclude)


@dataclass(frozen=True, eq=False)
class PendingFeedback:
    """Feedback to be taken in."""

    feedback: Feedback
    answer: AnswerFuture


@dataclass(frozen=True, eq=False)
class PendingLabelChange:
    """Labels to be added or retired; answered once that has taken effect."""

    change: LabelChange
    answer: AnswerFuture


Pending: TypeAlias = PendingRank | PendingFeedback | PendingLabelChange
Reply: TypeAlias = tuple[AnswerFuture, Any]  # and its result, or the exception


def set_results(replies: list[Reply]) -> None:
    """Set every future; one that was given up meanwhile stays as it is."""
    for answer, result in replies:
        if answer.done():
            continue
        if isinstance(result, BaseException):
            answer.set_exception(result)
        else:
            answer.set_result(result)
