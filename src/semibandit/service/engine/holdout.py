"""The holdout: a share of the visits that the learner does not decide, to compare it with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semibandit._util.stable_hash import stable_hash
from semibandit.models.model import dense
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.slate import Scores, Slate
from semibandit.service.engine.requests import PendingRank
from semibandit.service.engine.scores import allowed_scores
from semibandit.service.engine.statistics import Statistics
from semibandit.service.settings import Settings

__all__ = ["Holdout", "HoldoutSlates"]


@dataclass(frozen=True, eq=False)
class HoldoutSlates:
    """What is shown, and the ids of the visits that belong to the holdout."""

    slates: list[Slate | Exception]
    members: Collection[str]


class Holdout:
    """Gives a share of the visits another slate than the learner's.

    A visit belongs to it by a hash of its subject, or of its id if it has none: a visitor always
    belongs to it or never does, in every process, and whoever belongs to it still does so when the
    share is raised.

    Parameters
    ----------
    share : float
        The share of the visits, above 0 and below 1.
    policy : str
        What they are shown: "uniform" for slates that are drawn evenly and fill all slots, or
        "most-clicked" for the labels that were clicked most until then.
    learns : bool
        Whether the learner learns from feedback to them.
    statistics : Statistics
        They know how often each label was clicked.

    Examples
    --------
    >>> one = Holdout(0.02, "uniform", False, Statistics())
    >>> sum(one.contains(f"visitor-{i}") for i in range(10_000))
    179
    """

    def __init__(self, share: float, policy: str, learns: bool, statistics: Statistics) -> None:
        self.share, self.policy, self.learns = share, policy, learns
        self._statistics = statistics
        self._labels: tuple[Learner, int] | None = None  # that the order of clicks is made for

    @classmethod
    def from_settings(cls, settings: Settings, statistics: Statistics) -> Holdout | None:
        """The holdout that the settings ask for, or None."""
        if not settings.holdout:
            return None
        return cls(settings.holdout, settings.holdout_policy, settings.learn_holdout, statistics)

    @property
    def words(self) -> str:
        """The comparison in words: results with another policy or share are not mixed with it."""
        return f"{self.policy}:{self.share:g}"

    def contains(self, visitor: str) -> bool:
        """Whether the visits of this visitor, by subject or id, belong to the holdout."""
        return stable_hash(f"holdout {visitor}") < self.share * 2.0**64

    def apply(
        self,
        learner: Learner,
        pending: Sequence[PendingRank],
        ids: Sequence[str],
        slates: Sequence[Slate | Exception],
    ) -> HoldoutSlates:
        """Replace the slates of visits that belong to the holdout.

        Every slate then says how likely it was over both: with the probability `share` it is one of
        the holdout, else one of the learner's policy.

        Parameters
        ----------
        learner : Learner
            Who ranked.
        pending : sequence of PendingRank
            The requests.
        ids : sequence of str
            The ids of their decisions.
        slates : sequence of Slate or Exception
            What the learner, or a policy around it, shows, with distributions. An exception is left
            as it is.
        """
        if self.policy == "most-clicked":
            self._update_order(learner)
        found: list[Slate | Exception] = []
        members = set()
        for one, id, slate in zip(pending, ids, slates, strict=True):
            if isinstance(slate, Exception):
                found.append(slate)
                continue
            if self.contains(id if one.subject is None else one.subject):
                members.add(id)
                found.append(self._held_out(learner, one, id, slate))
            else:
                other = self._distribution(learner, one, _count(learner, one))
                found.append(replace(slate, distribution=self._mixture(slate, other)))
        return HoldoutSlates(found, members)

    def marks(self, member: bool) -> dict[str, Any]:
        """What a decision says of the holdout."""
        if not member:
            return {"comparison": self.words}
        return {"comparison": self.words, "holdout": self.policy, "learns": self.learns}

    def uplift(self, now: float) -> dict[str, Any]:
        """What the learner gains over it, as /v1/state says it."""
        found = self._statistics.uplift(self.words, now)
        return {"share": self.share, "policy": self.policy, "learned": self.learns, **found}

    def _held_out(self, learner: Learner, one: PendingRank, id: str, slate: Slate) -> Slate:
        """The slate of the holdout, with what the learner thinks of its labels."""
        assert slate.given is not None
        scores = allowed_scores(learner, dense(slate.given), one.candidates, one.exclude, one.draw)
        allowed = scores.labels
        distribution = self._distribution(learner, one, len(allowed))
        if isinstance(distribution, FixedSlate):
            labels = list(distribution.slate)
        else:
            random = np.random.default_rng(stable_hash(f"holdout slate {id}"))
            drawn = random.choice(
                len(allowed), learner.room(len(allowed), one.slots), replace=False
            )
            labels = [allowed[i] for i in drawn.tolist()]
        chance = None
        if slate.propensity is not None and labels:  # Banditron divides by it
            chance = float(distribution.item_propensity(labels)[0])
        return replace(
            slate,
            **_numbers(scores, labels),
            probe=None,
            propensity=chance,
            distribution=self._mixture(slate, distribution),
        )

    def _distribution(self, learner: Learner, one: PendingRank, allowed: int) -> SlateDistribution:
        """How likely each slate of the holdout is, if so many labels may be shown."""
        room = learner.room(allowed, one.slots)
        order = self._statistics.click_order
        if self.policy == "most-clicked" and order is not None:
            return FixedSlate(order.top(room, one.candidates, one.exclude))
        return UniformSlates(allowed, room)

    def _mixture(self, slate: Slate, other: SlateDistribution) -> Mixture:
        assert slate.distribution is not None
        return Mixture([(1.0 - self.share, slate.distribution), (self.share, other)])

    def _update_order(self, learner: Learner) -> None:
        """Make the order of clicks anew if the learner or its labels have changed."""
        now = learner, learner.label_changes
        if self._labels != now:
            self._statistics.order_by_clicks(learner.labels)
            self._labels = now


def _count(learner: Learner, one: PendingRank) -> int:
    """How many labels may be shown; those that the request names are known, and named once."""
    if one.candidates is not None:
        return len(set(one.candidates).difference(one.exclude or ()))
    return learner.n_labels - len(one.exclude or ())


def _numbers(scores: Scores, labels: list[Label]) -> dict[str, Any]:
    """These labels, of those that have scores, and what the learner thinks of them."""
    wanted = set(labels)
    place = {label: i for i, label in enumerate(scores.labels) if label in wanted}
    known = [label for label in labels if label in place]
    rows = [place[label] for label in known]
    columns = ("margin", "width", "estimate", "prob")
    return {"labels": known, **{name: getattr(scores, name)[rows] for name in columns}}
