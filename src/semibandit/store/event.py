"""What a log holds: decisions, the feedback to them, labels that came and went, new learners.

An event is a row (kind, id, at, context, body, subject): body is JSON, the context of a decision
its float64 as bytes, so that both come back to the bit. If contexts are scaled by those before
them, the bytes also hold what the model saw, since late feedback is learned with that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import shortened
from semibandit._util.json import exact_json, to_json
from semibandit.errors import FileError, InputError
from semibandit.policies.features.encoded import NewValues
from semibandit.policies.labels import PLAIN, Label
from semibandit.store.named_context import key_of

__all__ = [
    "Decision",
    "Event",
    "Feedback",
    "LabelChange",
    "NewLearner",
    "Row",
    "check_event",
    "describe",
    "event_of",
    "pack",
    "pack_both",
    "read",
    "read_body",
    "request_key",
    "row",
    "unpack",
    "unpack_both",
]

TIMES = (float, int)
MOST_ADDED = MOST_NUMBERS = 1 << 24  # labels of a change, and numbers of a context that is packed

Row: TypeAlias = tuple[str, str | None, float, bytes | None, str, str | None]


@dataclass(frozen=True, eq=False)
class Decision:
    """What was asked, and what was decided.

    Parameters
    ----------
    id : str
        The decision's name; feedback refers to it, and the same id gives the same decision.
    at : float
        When it was made, in seconds since 1970.
    context : array
        The context as it was given: not scaled, without the bias. If features have names, the
        numbers that it was encoded as then; nan is unknown.
    slots, candidates, exclude
        The rest of the request, as `Learner.rank` takes it.
    labels : list of labels
        What was shown, best first.
    prob, estimate, width : list of float
        Why: a number for each label shown, as in `Slate`.
    version : int
        The learner's round t when it decided.
    draw : int
        The number that learners which draw at random drew with.
    propensity, leader
        Those of the slate, for learners that need them again (Banditron).
    probe : label, optional
        The last label, if it was shown only to be tried.
    seen : array, optional
        What the model saw of the context, if it would be scaled otherwise later.
    named : dict, optional
        The context by names, as `normalised` gives it, if it was given so.
    new : mapping
        Those of the slate: values that the learner did not know yet.
    learner : int
        Who decided: the seq of the `NewLearner` event that it came with, 0 if it is the first.
    subject : str, optional
        The client's name for the visitor, to find all decisions about one by.
    policy : str, optional
        The policy that drew the slate, in words such as "mixed:0.05"; None if the learner decided.
    distribution : dict, optional
        How likely each slate was, as `read_distribution` reads it; None if that is not known.
    slate_propensity, prefix_propensity, item_propensity
        How likely what was shown was, as in `Slate`. The last is left out if it takes long to
        compute: it follows from the distribution.
    holdout : str, optional
        The policy of the holdout, if the visit belongs to it.
    learns : bool
        Whether the learner learns from feedback to it.
    comparison : str, optional
        The holdout that the service had, in words such as "uniform:0.02", whether the visit belongs
        to it or not: visits with the same words are compared with each other.
    """

    id: str
    at: float
    context: Floats
    slots: int | None
    candidates: list[Label] | None
    exclude: list[Label] | None
    labels: list[Label]
    prob: list[float]
    estimate: list[float]
    width: list[float]
    version: int
    draw: int
    propensity: float | None = None
    leader: Label | None = None
    probe: Label | None = None
    seen: Floats | None = None
    named: dict[str, Any] | None = None
    new: NewValues = field(default_factory=dict)
    learner: int = 0
    subject: str | None = None
    policy: str | None = None
    distribution: dict[str, Any] | None = None
    slate_propensity: float | None = None
    prefix_propensity: list[float] | None = None
    item_propensity: list[float] | None = None
    holdout: str | None = None
    learns: bool = True
    comparison: str | None = None

    @property
    def asked(self) -> tuple[object, ...]:
        """The request, to know it again by."""
        return request_key(
            self.context, self.named, self.slots, self.candidates, self.exclude, self.subject
        )

    def slate(self) -> list[dict[str, Any]]:
        """The labels shown, best first, each with its numbers, as JSON can hold them."""
        shown = list(map(describe, self.labels, self.prob, self.estimate, self.width))
        if self.probe is not None:
            shown[-1]["probe"] = True
        return shown


@dataclass(frozen=True)
class Feedback:
    """What was clicked of a decision.

    Parameters
    ----------
    id : str
        The decision's id.
    at : float
        When the feedback came, in seconds since 1970.
    clicked : list of labels
        The shown labels that were relevant.
    examined : list of labels, optional
        The shown labels the user looked at; None means all.
    waited : bool
        Whether nobody answered in time, which counts as nothing clicked.
    retired : list of labels
        The shown labels that were retired since the decision, and of which another one of the same
        name has been added since: what was clicked says nothing about that one.
    """

    id: str
    at: float
    clicked: list[Label]
    examined: list[Label] | None = None
    waited: bool = False
    retired: list[Label] = field(default_factory=list)

    def same(self, other: Feedback) -> bool:
        """Whether both say the same, in whatever order."""
        mine, theirs = (
            (set(one.clicked), None if one.examined is None else set(one.examined))
            for one in (self, other)
        )
        return mine == theirs


@dataclass(frozen=True)
class LabelChange:
    """Labels that were added or retired.

    Parameters
    ----------
    at : float
        When, in seconds since 1970.
    add : list of labels or int, optional
        The names added; for a learner whose labels are numbered, how many.
    retire : list of labels, optional
        The labels retired.
    """

    at: float
    add: list[Label] | int | None = None
    retire: list[Label] | None = None


@dataclass(frozen=True)
class NewLearner:
    """Another learner took the place of the one before, from this event on.

    It is the learner of a file, which then learned the log's events after `after`, up to this one.

    Parameters
    ----------
    at : float
        When, in seconds since 1970.
    after : int
        The last event of the log that the learner in the file had learned.
    file : int
        The number of the file in the store.
    """

    at: float
    after: int
    file: int


Event: TypeAlias = Decision | Feedback | LabelChange | NewLearner

_KINDS: dict[str, type[Event]] = {
    "decision": Decision,
    "feedback": Feedback,
    "labels": LabelChange,
    "learner": NewLearner,
}
LEFT_OUT: dict[str, object] = {  # as in older stores
    "probe": None, "named": None, "new": {}, "learner": 0, "policy": None, "distribution": None,
    "slate_propensity": None, "prefix_propensity": None, "item_propensity": None, "holdout": None,
    "learns": True, "comparison": None, "retired": [],
}  # fmt: skip
_LISTS: dict[str, tuple[tuple[str, bool], ...]] = {  # of labels, and whether they may be missing
    "decision": (("labels", False), ("candidates", True), ("exclude", True)),
    "feedback": (("clicked", False), ("examined", True), ("retired", True)),
    "labels": (("add", True), ("retire", True)),
}
_KIND_OF = {event: kind for kind, event in _KINDS.items()}


def request_key(
    context: Floats, named: Mapping[str, Any] | None, slots: int | None,
    candidates: list[Label] | None, exclude: list[Label] | None, subject: str | None,
) -> tuple[object, ...]:  # fmt: skip
    """What a request to rank is known again by: the subject, too, whose visits can be erased.

    By the names of its context, if it has some: the same context may be encoded otherwise later.
    """
    given = context.tobytes() if named is None else key_of(named)
    return (given, slots, candidates, exclude, subject)


def describe(label: Label, prob: float, estimate: float, width: float) -> dict[str, Any]:
    """A label with its numbers, as JSON can hold it."""
    return {"label": label, "prob": prob, "estimate": estimate, "width": width, "probe": False}


def row(event: Event) -> Row:
    """The event as a row of the log."""
    body = dict(vars(event))
    id, at, context = body.pop("id", None), body.pop("at"), body.pop("context", None)
    seen, subject = body.pop("seen", None), body.pop("subject", None)
    for key, default in LEFT_OUT.items():
        if key in body and body[key] == default:
            del body[key]
    if isinstance(event, Decision) and not math.isfinite(
        sum(event.prob) + sum(event.estimate) + sum(event.width)
    ):
        raise InputError(f"decision {id!r} has numbers that are not finite")
    packed = None if context is None else pack_both(context, seen)
    return _KIND_OF[type(event)], id, at, packed, to_json(body).decode(), subject


def read(
    kind: str, id: str | None, at: float, context: bytes | None, body: str,
    subject: str | None = None,
) -> Event:  # fmt: skip
    """The event of a row; `FileError` if it is not one that `row` made."""
    x, seen = unpack_both(context or b"") if kind == "decision" else (None, None)
    fields = read_body(kind, id, body)
    check_event(kind, id, at, x, fields, subject)
    return event_of(kind, id, at, x, seen, fields, subject)


def check_event(
    kind: str, id: object, at: float, context: Floats | None, body: Mapping[str, Any],
    subject: object = None,
) -> None:  # fmt: skip
    """Raise a `FileError` unless ids are texts, labels are lists of labels, and times are times."""
    good = (
        (type(id) is str or (id is None and kind in ("labels", "learner")))
        and (context is not None or kind != "decision")
        and (subject is None or type(subject) is str)
        and type(at) in TIMES
        and math.isfinite(at)
    )
    for key, optional in _LISTS.get(kind, ()):
        value = body.get(key)
        if type(value) is list:
            good = good and PLAIN.issuperset(map(type, value))
        elif key == "add" and type(value) is int:
            good = good and 0 <= value <= MOST_ADDED
        else:
            good = good and value is None and optional
    if not good:
        raise _damaged(kind, id, body)


def read_body(kind: str, id: str | None, body: str) -> dict[str, Any]:
    """The fields of an event out of its JSON; `FileError` if it is damaged."""
    try:
        fields = exact_json(body)
    except (ValueError, TypeError):  # such as a blob of SQLite
        fields = None
    if not isinstance(fields, dict):
        raise _damaged(kind, id, body)
    return fields


def event_of(
    kind: str, id: str | None, at: float, context: Floats | None, seen: Floats | None,
    body: Mapping[str, Any], subject: str | None = None,
) -> Event:  # fmt: skip
    """The event with these fields; `FileError` if an event of this kind has others."""
    if kind not in _KINDS:
        raise FileError(f"the log has an event of an unknown kind, {kind!r}")
    given: dict[str, Any] = {"at": at}
    if kind in ("decision", "feedback"):
        given["id"] = id
    if kind == "decision":
        given |= {"context": context, "seen": seen, "subject": subject}
    try:
        return _KINDS[kind](**given, **body)
    except TypeError:  # by a dataclass that lacks such a field
        raise _damaged(kind, id, body) from None


def _damaged(kind: str, id: object, body: object) -> FileError:
    text = f"{shortened(kind)[1:-1]} {shortened(id)} with {shortened(body)}"
    return FileError(f"the log has a damaged event: {text}")


def pack_both(context: Floats, seen: Floats | None) -> bytes:
    """The context, and after it what the model saw of it, if that is to be kept."""
    packed = pack(context)
    if seen is None:
        return packed
    return b"2" + len(packed).to_bytes(8, "little") + packed + pack(seen)


def unpack_both(packed: bytes) -> tuple[Floats, Floats | None]:
    """What `pack_both` was given; `FileError` if it is damaged."""
    if packed[:1] != b"2":
        return unpack(packed), None
    end = 9 + int.from_bytes(packed[1:9], "little")
    return unpack(packed[9:end]), unpack(packed[end:])


def pack(x: Floats) -> bytes:
    """Dense, or by its entries if most of them are zeros; -0.0 is no zero."""
    bits = np.ascontiguousarray(x, dtype="<f8").view("<i8")
    if 12 * np.count_nonzero(bits) + 8 < 8 * len(x):
        index = np.flatnonzero(bits)
        size = np.array([len(x)], dtype="<i8").tobytes()
        return b"s" + size + index.astype("<i4").tobytes() + x[index].astype("<f8").tobytes()
    return b"d" + bits.tobytes()


def unpack(packed: bytes) -> Floats:
    """The context that was packed; `FileError` if it is none."""
    kind, size = packed[:1], len(packed)
    if kind == b"d" and size % 8 == 1:
        return np.frombuffer(packed, dtype="<f8", offset=1).astype(np.float64)
    if kind != b"s" or size % 12 != 9:
        raise FileError(f"the log has a damaged context of {size} bytes")
    n = (size - 9) // 12
    length = int(np.frombuffer(packed, dtype="<i8", count=1, offset=1)[0])
    index = np.frombuffer(packed, dtype="<i4", count=n, offset=9)
    if not 0 <= length <= MOST_NUMBERS or (n and not 0 <= index.min() <= index.max() < length):
        raise FileError(f"the log has a damaged context, of {length} numbers")
    x = np.zeros(length)
    x[index] = np.frombuffer(packed, dtype="<f8", count=n, offset=9 + 4 * n)
    return x
