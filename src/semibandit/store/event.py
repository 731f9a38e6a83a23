"""What a log holds: decisions, the feedback to them, and labels that came and went.

An event is a row (kind, id, at, context, body): body is JSON, the context of a decision its
float64 as bytes, so that both come back to the bit.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.json import to_json
from semibandit.errors import InputError
from semibandit.policies.labels import Label

__all__ = [
    "Decision",
    "Event",
    "Feedback",
    "LabelChange",
    "Row",
    "pack",
    "read",
    "row",
    "unpack",
]

Row: TypeAlias = tuple[str, str | None, float, bytes | None, str]


@dataclass(frozen=True, eq=False)
class Decision:
    """What was asked, and what was decided."""

    id: str
    at: float  # seconds since 1970
    context: Floats  # as it was given: before the bias, not normalised
    slots: int | None
    candidates: list[Label] | None
    exclude: list[Label] | None
    labels: list[Label]  # what was shown, best first
    prob: list[float]
    estimate: list[float]
    width: list[float]
    version: int  # the learner's round t when it decided
    draw: int
    propensity: float | None = None
    leader: Label | None = None

    @property
    def asked(self) -> tuple[object, ...]:
        """The request, to know it again by."""
        return (self.context.tobytes(), self.slots, self.candidates, self.exclude)


@dataclass(frozen=True)
class Feedback:
    """What was clicked of a decision; `waited` where nobody answered and that is the answer."""

    id: str
    at: float
    clicked: list[Label]
    examined: list[Label] | None = None
    waited: bool = False

    def same(self, other: Feedback) -> bool:
        """Whether both say the same, in whatever order."""
        mine, theirs = (
            (set(one.clicked), None if one.examined is None else set(one.examined))
            for one in (self, other)
        )
        return mine == theirs


@dataclass(frozen=True)
class LabelChange:
    """Labels added (names, or how many where labels are numbered) or retired."""

    at: float
    add: list[Label] | int | None = None
    retire: list[Label] | None = None


Event: TypeAlias = Decision | Feedback | LabelChange


def row(event: Event) -> Row:
    """The event as a row of the log."""
    if isinstance(event, Decision):
        body = {
            "slots": event.slots,
            "candidates": event.candidates,
            "exclude": event.exclude,
            "labels": event.labels,
            "prob": event.prob,
            "estimate": event.estimate,
            "width": event.width,
            "version": event.version,
            "draw": event.draw,
            "propensity": event.propensity,
            "leader": event.leader,
        }
        if not math.isfinite(sum(event.prob) + sum(event.estimate) + sum(event.width)):
            raise InputError(f"decision {event.id!r} has numbers that are not finite")
        return "decision", event.id, event.at, pack(event.context), _json(body)
    if isinstance(event, Feedback):
        answer = {"clicked": event.clicked, "examined": event.examined, "waited": event.waited}
        return "feedback", event.id, event.at, None, _json(answer)
    return "labels", None, event.at, None, _json({"add": event.add, "retire": event.retire})


def read(kind: str, id: str | None, at: float, context: bytes | None, body: str) -> Event:
    """The event of a row."""
    values: dict[str, Any] = json.loads(body)
    if kind == "decision":
        assert id is not None
        assert context is not None
        return Decision(id, at, unpack(context), **values)
    if kind == "feedback":
        assert id is not None
        return Feedback(id, at, **values)
    if kind == "labels":
        return LabelChange(at, **values)
    raise InputError(f"the log has an event of an unknown kind, {kind!r}")


def _json(values: dict[str, Any]) -> str:
    return to_json(values).decode()


def pack(x: Floats) -> bytes:
    """Dense, or by its entries where most of them are zeros; -0.0 is no zero."""
    bits = np.ascontiguousarray(x, dtype="<f8").view("<i8")
    if 12 * np.count_nonzero(bits) + 8 < 8 * len(x):
        index = np.flatnonzero(bits)
        size = np.array([len(x)], dtype="<i8").tobytes()
        return b"s" + size + index.astype("<i4").tobytes() + x[index].astype("<f8").tobytes()
    return b"d" + bits.tobytes()


def unpack(packed: bytes) -> Floats:
    """The context that was packed."""
    if packed[:1] == b"d":
        return np.frombuffer(packed, dtype="<f8", offset=1).astype(np.float64)
    n = (len(packed) - 9) // 12
    x = np.zeros(int(np.frombuffer(packed, dtype="<i8", count=1, offset=1)[0]))
    index = np.frombuffer(packed, dtype="<i4", count=n, offset=9)
    x[index] = np.frombuffer(packed, dtype="<f8", count=n, offset=9 + 4 * n)
    return x
