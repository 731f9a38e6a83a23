"""The slate: what `rank` decides, and what `learn` needs to know of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from semibandit._util.arrays import Floats
from semibandit.errors import InputError
from semibandit.models.model import Vector
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.features.encoded import NewValues
from semibandit.policies.labels import Label

__all__ = ["Scores", "Slate", "check_slate"]


@dataclass(frozen=True, eq=False)
class Scores:
    """What a learner thinks of every label for one context, in the order of `labels`.

    Parameters
    ----------
    labels : list of labels
        The labels that can be shown.
    margin, width, estimate, prob : arrays
        As in `Slate`, one number per label.

    Examples
    --------
    >>> import semibandit as sb
    >>> sb.SlateUCB(n_features=2, labels=["tea", "coffee"]).scores([1.0, 0.0]).width
    array([0.25, 0.25])
    """

    labels: list[Label]
    margin: Floats
    width: Floats
    estimate: Floats
    prob: Floats


@dataclass(frozen=True, eq=False)
class Slate:
    """The labels to show, best first, and why each is there.

    Parameters
    ----------
    labels : list of labels
        What to show. `len(slate)` is how many.
    margin : array
        The estimated margin w'·x of each label, within D.
    width : array
        The upper-confidence width ε. (Thompson: the standard deviation of its draws.)
    estimate : array
        p(margin): how likely the label is relevant, by what was learned so far.
    prob : array
        What labels are ranked and cut by: p([margin + ε]_D), or with the learner's own draw in
        place of ε. (Banditron: how likely it was to show the label.)
    slots : int or None
        The most that could be shown.
    x : array or Sparse
        The context as the model sees it.
    context_format : str
        How the learner that ranked it reads contexts.
    propensity : float, optional
        How likely a learner that draws was to show this label.
    leader : label, optional
        The label that it would have shown without drawing.
    t : int, optional
        The round it was ranked in.
    given : array or Sparse, optional
        The context as it was given: `learn` counts it, so that later ones are scaled by it.
    probe : label, optional
        The last label, if it is there only to be tried (`probe=` of the learner).
    new : mapping
        The values of open categories and sets that the learner did not know yet, by feature:
        `learn` adds them.
    distribution : SlateDistribution, optional
        How likely each slate was, if a randomised policy drew it (`Mixed`, `PlackettLuce`).
    missing : int
        How many labels could not be considered, because their shard was lost and the learner was
        made to answer without it (`Sharded(..., missing="answer")`).
    labels_ever : int, optional
        How many labels there had been when it was ranked. A label that was retired and added again
        since is another one, about which the answer to this slate says nothing.
    retired : set of labels
        Those of its labels of which a log says that they were retired before the answer came.

    Examples
    --------
    >>> import semibandit as sb
    >>> slate = sb.SlateUCB(n_features=2, labels=["tea", "coffee"], seed=1).rank([1.0, 0.0])
    >>> slate
    Slate('tea': 0.625, 'coffee': 0.625)
    """

    labels: list[Label]
    margin: Floats
    width: Floats
    estimate: Floats
    prob: Floats
    slots: int | None
    x: Vector
    context_format: str
    propensity: float | None = None
    leader: Label | None = None
    t: int | None = None
    given: Vector | None = None
    probe: Label | None = None
    new: NewValues = field(default_factory=dict)
    distribution: SlateDistribution | None = None
    missing: int = 0
    labels_ever: int | None = None
    retired: frozenset[Label] = frozenset()

    @property
    def context(self) -> Vector:
        """The context as it was given; as the model sees it, if the slate does not hold that."""
        return self.x if self.given is None else self.given

    @property
    def slate_propensity(self) -> float | None:
        """How likely exactly this slate was; None if no randomised policy drew it."""
        return (
            None if self.distribution is None else self.distribution.slate_propensity(self.labels)
        )

    @property
    def prefix_propensity(self) -> Floats | None:
        """For each position how likely a slate began with the labels up to it; or None."""
        one = self.distribution
        return None if one is None else one.prefix_propensity(self.labels)

    @property
    def item_propensity(self) -> Floats | None:
        """How likely each label was at its position; None if no randomised policy drew it."""
        one = self.distribution
        return None if one is None else one.item_propensity(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        pairs = zip(self.labels, self.prob, strict=True)
        return f"Slate({', '.join(f'{label!r}: {prob:.3g}' for label, prob in pairs)})"


def check_slate(slate: Slate, context_format: str) -> None:
    """Raise an `InputError` unless it is a slate of a learner that reads contexts like this."""
    if not isinstance(slate, Slate):
        raise InputError(f"learn takes the slate that rank gave, got {type(slate).__name__}")
    if slate.context_format != context_format:
        raise InputError(
            f"this slate is for {slate.context_format}, this learner takes "
            f"{context_format}: it was ranked by another learner"
        )
