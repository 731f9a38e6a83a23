"""What a client sends and gets: contexts as JSON can hold them, slates, and errors by status."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import is_whole, shortened, whole_number
from semibandit._util.ids import new_id
from semibandit.errors import AccessDenied, InputError, SemibanditError, ServiceUnavailable
from semibandit.policies.context import unmasked
from semibandit.policies.examination import LAST_CLICK
from semibandit.policies.features.value import is_bool, is_set, read_members, read_number
from semibandit.policies.labels import Label, read_labels

__all__ = [
    "Answer",
    "NoAnswer",
    "Refusals",
    "ServedSlate",
    "error_for",
    "feedback_body",
    "rank_body",
    "read_answer",
    "reason",
    "served_slate",
]

Refusals: TypeAlias = Mapping[int, type[InputError]]  # what a status means on a path


class NoAnswer(Exception):
    """A request has no answer.

    `never_sent` says whether the server cannot have seen it, `late` whether it took too long.
    """

    def __init__(self, why: Exception, *, never_sent: bool) -> None:
        super().__init__(str(why) or type(why).__name__)
        self.never_sent, self.late = never_sent, isinstance(why, TimeoutError)


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    body: bytes


@dataclass(frozen=True, eq=False)
class ServedSlate:
    """What the service decided: the labels to show, best first, and why each is there.

    Parameters
    ----------
    labels : list of labels
        The labels to show.
    prob, estimate, width : array
        A number for each label, as in `Slate`.
    id : str
        The decision's id, which feedback refers to.
    version : int
        The learner's round when it decided.
    probe : label, optional
        The last label, if it is there only to be tried.
    slate_propensity : float, optional
        How likely exactly this slate was, if the service draws slates at random (`--randomise`).
    """

    labels: list[Label]
    prob: Floats
    estimate: Floats
    width: Floats
    id: str
    version: int
    probe: Label | None = None
    slate_propensity: float | None = None

    def __len__(self) -> int:
        return len(self.labels)


def rank_body(
    x: Any, slots: int | None, candidates: Iterable[Label] | None,
    exclude: Iterable[Label] | None, id: str | None, subject: str | None,
) -> dict[str, Any]:  # fmt: skip
    """A request to rank; it has an id, so that asking twice is asking once."""
    body: dict[str, Any] = {"context": _context(x), "id": id or new_id()}
    if slots is not None:
        body["slots"] = whole_number("slots", slots, least=0)
    for key, labels in (("candidates", candidates), ("exclude", exclude)):
        if labels is not None:
            body[key] = read_labels(labels, key)
    if subject is not None:
        body["subject"] = subject
    return body


def feedback_body(
    slate: ServedSlate | str,
    clicked: Iterable[Label],
    examined: Iterable[Label] | str | None = None,
) -> dict[str, Any]:
    """The feedback to a slate."""
    id = slate if isinstance(slate, str) else slate.id
    body: dict[str, Any] = {"id": id, "clicked": read_labels(clicked, "clicked")}
    if examined is not None:
        last = isinstance(examined, str) and examined == LAST_CLICK  # the service knows the slate
        body["examined"] = LAST_CLICK if last else read_labels(examined, "examined")
    return body


def served_slate(found: Mapping[str, Any]) -> ServedSlate:
    """The slate of an answer."""
    shown = found["slate"]
    prob, estimate, width = (
        np.array([one[key] for one in shown], dtype=np.float64)
        for key in ("prob", "estimate", "width")
    )
    probe = next((one["label"] for one in shown if one.get("probe")), None)
    labels = [one["label"] for one in shown]
    about = found["id"], found["version"], probe, found.get("propensity")
    return ServedSlate(labels, prob, estimate, width, *about)


def read_answer(answer: Answer, refusals: Refusals) -> Any:
    """The content of an answer, or the error that its status means."""
    if answer.status == 200:
        return json.loads(answer.body)
    raise error_for(answer.status, reason(answer), refusals)


def error_for(status: int, why: str | None, refusals: Refusals) -> SemibanditError:
    """The error for a status and the reason that came with it, if there is one."""
    text = why or f"status {status}, and no reason given: is this a semibandit service?"
    if status in (401, 403):
        return AccessDenied(text)
    if 400 <= status < 500:
        known = why is not None and why != "Not Found"  # or it is another kind of service
        return (refusals.get(status, InputError) if known else InputError)(text)
    if status == 503:
        return ServiceUnavailable(why or "the service is not available")
    return ServiceUnavailable(f"the service failed with status {status}")


def reason(answer: Answer) -> str | None:
    """The reason that a service of ours gives; None if there is none."""
    try:
        return str(json.loads(answer.body)["detail"])
    except (ValueError, KeyError, TypeError):
        return None


def _context(x: Any) -> list[float] | dict[str, Any]:
    """The context as JSON can hold it: numbers by place, or values by name."""
    if isinstance(x, Mapping):
        return {str(name): _value(str(name), value) for name, value in x.items()}
    x = unmasked(x)
    try:
        values = np.asarray(x.toarray() if hasattr(x, "tocsr") else x, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"context must be numbers, got {shortened(x)}") from None
    numbers: list[float] = values.ravel().tolist()
    for i, number in enumerate(numbers):
        if not math.isfinite(number):
            raise InputError(f"context[{i}] is {number}; every feature must be a finite number")
    return numbers


def _value(name: str, value: Any) -> Any:
    """A feature's value as JSON can hold it; whether it is of the right kind, the service says."""
    if is_set(value):
        members = read_members(name, value)
        return sorted(members) if isinstance(value, set | frozenset) else members
    if value is None or isinstance(value, str) or is_bool(value):
        return bool(value) if is_bool(value) else value
    number = read_number(name, value)
    return int(value) if is_whole(value) else number
