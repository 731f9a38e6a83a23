"""Whether a learner has the labels that a log could show."""

from __future__ import annotations

from collections.abc import Sequence

from semibandit.policies.labels import Label

__all__ = ["LabelsOfLog"]

NAMED = 3  # labels that a note names


class LabelsOfLog:
    """Compares the labels of a learner with those of a log.

    Parameters
    ----------
    known : sequence of labels
        Those of the learner.
    """

    def __init__(self, known: Sequence[Label]) -> None:
        self._known = dict.fromkeys(known)
        self._seen: dict[Label, None] = {}
        self._last: list[Label] | None = None

    def add(self, items: Sequence[list[Label]]) -> None:
        """Add the labels that there were, for each visit."""
        for one in items:
            if one is not self._last:  # visits share the list until labels come or go
                self._seen |= dict.fromkeys(one)
                self._last = one

    def notes(self) -> list[str]:
        """What is in one of them alone."""
        if not self._seen:
            return []
        beyond = [label for label in self._known if label not in self._seen]
        lacks = [label for label in self._seen if label not in self._known]
        notes = []
        if beyond:
            notes.append(
                f"it has {_some(beyond)} that the log could not show: what they would have earned "
                "is not known"
            )
        if lacks:
            notes.append(f"it lacks {_some(lacks)} of the log, and so never shows them")
        return notes


def _some(labels: list[Label]) -> str:
    names = ", ".join(repr(label) for label in labels[:NAMED])
    more = ", ..." if len(labels) > NAMED else ""
    return f"{len(labels):,} label{'s' if len(labels) > 1 else ''} ({names}{more})"
