"""What the learner thinks of the labels that may be shown for a request."""

from __future__ import annotations

from collections.abc import Iterable

from semibandit._util.arrays import Floats
from semibandit.errors import UnknownLabel
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.slate import Scores

__all__ = ["allowed_scores"]


def allowed_scores(
    learner: Learner, context: Floats, candidates: Iterable[Label] | None,
    exclude: Iterable[Label] | None, draw: int,
) -> Scores:  # fmt: skip
    """The scores of the labels that may be shown, in the order of the learner's labels.

    Only these labels are looked at. Labels that the learner does not have are passed over: they
    may have been retired since the request was decided.
    """
    while True:
        try:
            return learner.scores(context, candidates=candidates, exclude=exclude, draw=draw)
        except UnknownLabel:
            known = set(learner.labels)
        if candidates is not None:
            candidates = [label for label in candidates if label in known]
        if exclude is not None:
            exclude = [label for label in exclude if label in known]
