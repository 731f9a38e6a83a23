"""What the engine is asked to do, and how it says no."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from semibandit._util.arrays import Floats
from semibandit.policies.request import Request
from semibandit.store.event import Feedback, LabelChange

__all__ = ["Answer", "Change", "Give", "Job", "Rank", "Refused", "Reply"]


class Refused(Exception):
    """No, and why, in the words of the one who asked; `status` is what HTTP calls it."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class Answer(Protocol):
    """Where an answer goes: a future of asyncio or of threads."""

    def done(self) -> bool: ...

    def set_result(self, result: Any, /) -> None: ...

    def set_exception(self, exception: Any, /) -> None: ...


@dataclass(slots=True, eq=False)
class Rank(Request):
    """Decide; `x` is read, and `draw` set, when its turn has come."""

    id: str | None
    context: Floats  # as it was given
    answer: Answer

    @property
    def asked(self) -> tuple[object, ...]:
        """The request, to know it again by."""
        return (self.context.tobytes(), self.slots, self.candidates, self.exclude)


@dataclass(frozen=True, eq=False)
class Give:
    """Take this feedback."""

    feedback: Feedback
    answer: Answer


@dataclass(frozen=True, eq=False)
class Change:
    """Add or retire labels; answered once that has taken effect."""

    change: LabelChange
    answer: Answer


Job: TypeAlias = Rank | Give | Change
Reply: TypeAlias = tuple[Answer, Any]  # and its result, or the exception
