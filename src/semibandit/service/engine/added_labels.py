"""When labels were added: feedback to what was shown before is not about a label of that name."""

from __future__ import annotations

from dataclasses import replace

from semibandit.policies.labels import Label
from semibandit.store.event import Decision, Event, Feedback, LabelChange
from semibandit.store.store import SCAN, Store

__all__ = ["AddedLabels"]


class AddedLabels:
    """The labels that the log says were added, and the seq of the event that added each last."""

    def __init__(self, store: Store) -> None:
        self._seq: dict[Label, int] = {}
        with store.allowing(SCAN):
            for seq, event in store.events(0, ("labels",)):
                self.note(seq, event)

    def note(self, seq: int, event: Event) -> None:
        """Remember the labels that this event adds. Numbers are never given twice: they may be left
        out."""
        if isinstance(event, LabelChange) and isinstance(event.add, list):
            self._seq |= dict.fromkeys(event.add, seq)

    def mark(self, feedback: Feedback, decision: Decision) -> Feedback:
        """The feedback, with those labels of the decision that were added again since then.

        A label can be added only after it was retired, so what the decision showed is gone. A
        decision's draw is its seq.
        """
        if not self._seq:
            return feedback
        later = [one for one in decision.labels if self._seq.get(one, 0) > decision.draw]
        return replace(feedback, retired=later) if later else feedback
