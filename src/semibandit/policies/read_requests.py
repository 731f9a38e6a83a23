"""What `rank` and `rank_many` are asked, read into requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semibandit._util.checks import shortened, whole_number
from semibandit.errors import InputError
from semibandit.policies.labels import Label, read_labels
from semibandit.policies.request import Request

if TYPE_CHECKING:
    from semibandit.policies.learner import Learner

__all__ = ["read_limits", "read_request", "read_requests"]


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
    candidates: Iterable[Label] | None, exclude: Iterable[Label] | None, draw: int,
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
    only, without = read_limits(candidates, exclude)
    requests = []
    for i, (x, limit) in enumerate(zip(rows, limits, strict=True)):
        named = x if learner.features is not None and isinstance(x, Mapping) else None
        try:
            given = np.empty(0) if named is not None else learner.read_context(x)
        except InputError as why:
            raise InputError(f"row {i} of X: {why}") from None
        limit = learner.read_slots(limit)
        requests.append(Request(given, limit, only, without, draw, named=named))
    return requests


def read_limits(
    candidates: Iterable[Label] | None, exclude: Iterable[Label] | None
) -> tuple[list[Label] | None, list[Label] | None]:
    """What may be shown, as lists of labels."""
    only = None if candidates is None else read_labels(candidates, "candidates")
    return only, None if exclude is None else read_labels(exclude, "exclude")
