"""What `rank` and `rank_many` are asked, read into requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from semibandit._util.checks import shortened, whole_number
from semibandit.errors import InputError
from semibandit.policies.labels import CandidateSet, Label, read_labels
from semibandit.policies.request import Request

if TYPE_CHECKING:
    from semibandit.policies.learner import Learner

__all__ = ["Limit", "Limits", "read_limits", "read_request", "read_requests"]

Limit: TypeAlias = Sequence[Label] | None  # of a request: its candidates or exclude
Limits: TypeAlias = Iterable[Label] | Sequence[Iterable[Label] | None] | None  # of many contexts


def read_request(
    learner: Learner, x: Any, slots: int | None, candidates: Iterable[Label] | None,
    exclude: Iterable[Label] | None, draw: int,
) -> Request:  # fmt: skip
    """The request of `rank`; a context with names is encoded when its turn has come."""
    limit, draw = learner.read_slots(slots), whole_number("draw", draw, least=0)
    only, without = read_limits(candidates, exclude)
    if learner.features is not None and isinstance(x, Mapping):
        learner.encode(x)  # raises an `InputError` if it cannot be
        return Request(np.empty(0), limit, only, without, draw, named=x)
    return Request(learner.read_context(x), limit, only, without, draw)


def read_requests(
    learner: Learner, X: Any, slots: int | Sequence[int | None] | None,
    candidates: Limits, exclude: Limits, draw: int,
) -> list[Request]:  # fmt: skip
    """The requests of `rank_many`; an error names the row."""
    if not hasattr(X, "__iter__"):
        raise InputError(f"X = {shortened(X)}, but it must have a context in each row")
    draw = whole_number("draw", draw, least=0)
    rows = [X[[i]] for i in range(X.shape[0])] if hasattr(X, "tocsr") else list(X)
    limits: list[int | None] = (
        list(slots) if isinstance(slots, Sequence | np.ndarray) else [slots] * len(rows)
    )
    if len(limits) != len(rows):
        raise InputError(f"{len(limits)} slots for {len(rows)} contexts")
    only = _one_for_each(candidates, "candidates", len(rows))
    without = _one_for_each(exclude, "exclude", len(rows))
    requests = []
    for i, (x, limit) in enumerate(zip(rows, limits, strict=True)):
        named = x if learner.features is not None and isinstance(x, Mapping) else None
        try:
            given = np.empty(0) if named is not None else learner.read_context(x)
        except InputError as why:
            raise InputError(f"row {i} of X: {why}") from None
        limit = learner.read_slots(limit)
        requests.append(Request(given, limit, only[i], without[i], draw, named=named))
    return requests


def read_limits(
    candidates: Iterable[Label] | None, exclude: Iterable[Label] | None
) -> tuple[Limit, Limit]:
    """What may be shown, as lists of labels."""
    return _read_limit(candidates, "candidates"), _read_limit(exclude, "exclude")


def _read_limit(labels: Iterable[Label] | None, what: str) -> Limit:
    if labels is None or isinstance(labels, CandidateSet):
        return labels
    return read_labels(labels, what)


def _one_for_each(given: Any, what: str, contexts: int) -> Sequence[Limit]:
    """The labels of each context, from one set for all of them or a sequence with one for each.

    A label is no collection, so a sequence of collections can only mean one for each context.
    """
    several = isinstance(given, Sequence | np.ndarray) and len(given) > 0
    if not several or not all(one is None or _is_collection(one) for one in given):
        return [_read_limit(given, what)] * contexts
    if len(given) != contexts:
        raise InputError(f"{what} has labels for {len(given)} contexts, but X has {contexts}")
    return [_read_limit(one, f"{what}[{i}]") for i, one in enumerate(given)]


def _is_collection(one: object) -> bool:
    return isinstance(one, Iterable) and not isinstance(one, str | bytes)
