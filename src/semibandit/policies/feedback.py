"""Feedback: from the labels a user clicked to the rows and signs a learner learns from."""

from __future__ import annotations

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.checks import shortened
from semibandit.errors import InputError, NotShown
from semibandit.policies.labels import Label, Labels
from semibandit.policies.slate import Slate

__all__ = ["all_signs", "check_feedback", "shown_signs"]


def check_feedback(shown: list[Label], clicked: list[Label], examined: list[Label] | None) -> None:
    """Raise an error unless clicked ⊆ examined ⊆ shown; None for examined means all shown."""
    there = set(shown)
    for what, labels in (("clicked", clicked), ("examined", examined or [])):
        if not there.issuperset(labels):
            label = next(label for label in labels if label not in there)
            raise NotShown(f"{what} has {label!r}, which was not shown: {shortened(shown)}")
    unseen = set() if examined is None else set(clicked) - set(examined)
    if unseen:
        raise InputError(f"{unseen.pop()!r} was clicked, but is not among the examined labels")


def shown_signs(
    labels: Labels, slate: Slate, clicked: list[Label], examined: list[Label] | None
) -> tuple[Ints, Floats]:
    """The rows to learn from, and their signs: 1 if clicked, -1 if examined and not clicked."""
    check_feedback(slate.labels, clicked, examined)
    seen, relevant = slate.labels if examined is None else examined, set(clicked)
    pairs = [(labels.row_shown(one, slate), 1.0 if one in relevant else -1.0) for one in seen]
    known = [(row, sign) for row, sign in pairs if row is not None]  # the others were retired
    return np.array([row for row, _ in known], dtype=np.intp), np.array([s for _, s in known])


def all_signs(labels: Labels, relevant: list[Label]) -> tuple[Ints, Floats]:
    """With full information: every row that holds a label, and its sign."""
    labels.check_known(relevant, "clicked")
    rows = labels.rows_of_known()
    signs = np.full(len(labels.names), -1.0)
    signs[[row for row in map(labels.row, relevant) if row is not None]] = 1.0
    return rows, signs[rows]
