"""The slate: what `rank` decides, and what `learn` needs to know of it."""

from __future__ import annotations

from dataclasses import dataclass

from semibandit._util.arrays import Floats
from semibandit.models.model import Vector
from semibandit.policies.labels import Label

__all__ = ["Scores", "Slate"]


@dataclass(frozen=True, eq=False)
class Scores:
    """Every label's standing for one context, in the order of `labels`."""

    labels: list[Label]
    margin: Floats
    width: Floats
    estimate: Floats
    prob: Floats


@dataclass(frozen=True, eq=False)
class Slate:
    """The labels to show, best first, and why each is there.

    margin    the estimated margin w'·x, within D
    width     the upper-confidence width ε (of Thompson, the spread it draws with)
    estimate  p(margin), how likely the label is relevant by what was learned so far
    prob      what labels are ranked and cut by: p([margin + ε]_D), or with the learner's own draw
              in place of ε; of Banditron, how likely it was to show the label
    """

    labels: list[Label]
    margin: Floats
    width: Floats
    estimate: Floats
    prob: Floats
    slots: int | None  # the most that could be shown
    x: Vector  # the context as the model sees it
    context_format: str  # how the learner that ranked it reads contexts
    propensity: float | None = None  # how likely a learner that draws was to show this label
    leader: Label | None = None  # the label it would have shown without drawing
    t: int | None = None  # the round it was ranked in

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        rows = ", ".join(
            f"{label!r}: {prob:.3g}" for label, prob in zip(self.labels, self.prob, strict=True)
        )
        return f"Slate({rows})"
