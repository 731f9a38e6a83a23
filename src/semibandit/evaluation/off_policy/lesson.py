"""A lesson: what a learner can learn from one event of a log."""

from __future__ import annotations

from typing import NamedTuple

from semibandit._util.arrays import Floats
from semibandit.policies.feedback_batch import ShownFeedback
from semibandit.policies.labels import Label
from semibandit.store.event import Decision, Event
from semibandit.store.log_rows import LogRow

__all__ = ["NOT_LEARNED", "Lesson"]

NOT_LEARNED = ("prob", "estimate", "width", "distribution")  # what takes most of the memory


class Lesson(NamedTuple):
    """Feedback with its decision, or a change of labels, as the log has them."""

    row: LogRow
    decision: LogRow | None

    @property
    def clicked(self) -> list[Label]:
        """What was clicked; nothing if it is a change of labels."""
        return [] if self.decision is None else list(self.row.body["clicked"])

    @property
    def counts(self) -> bool:
        """Whether the log's learner learned it: it does not learn from a holdout."""
        return self.decision is None or bool(self.decision.body.get("learns", True))

    @property
    def context(self) -> Floats | None:
        """The context, if this is learned in groups; None if it must be learned by itself."""
        if self.decision is None or self.decision.body.get("named") is not None:
            return None
        return self.decision.context

    def feedback(self, seen: Floats | None) -> ShownFeedback:
        """The feedback as it is learned in groups; `seen` is what the model sees of the context."""
        assert self.decision is not None
        shown, answer = self.decision.body, self.row.body
        return ShownFeedback(
            self.decision.context, seen, shown["labels"], shown["slots"], answer["clicked"],
            answer.get("examined"), answer.get("retired", ()),
        )  # fmt: skip

    def events(self) -> tuple[Event, Decision | None]:
        """The event, and the decision that it is about."""
        if self.decision is None:
            return self.row.event(), None
        body = self.decision.body | {key: [] for key in NOT_LEARNED[:3]} | {"distribution": None}
        decision = self.decision.with_body(body).event()
        assert isinstance(decision, Decision)
        return self.row.event(), decision
