"""What a learner would show for a group of requests, and the draws of a policy around it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.policies.base import LearnerBase
from semibandit.policies.batch import Group, choices_of, make_slates
from semibandit.policies.choice import Choice, padded
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.labels import Label
from semibandit.policies.randomness import coins_by_seed, uniforms
from semibandit.policies.request import Request
from semibandit.policies.slate import Slate

__all__ = ["Choices", "decides_by_itself", "policy_coins"]

SALT = 0x51A7E_D1CE  # draws of a policy are independent of those of the learner inside it


class Choices:
    """The choices of a learner for requests in one state, made while nobody learns."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.each: list[Choice] = choices_of(group)

    @cached_property
    def probes(self) -> list[int | None]:
        """The place that the learner may try for each request; None if it tries none."""
        learner, views, xs, _ = self.group
        return learner._probes(views, xs, self.each)

    def own(self) -> list[SlateDistribution]:
        """How likely each slate is that the learner itself may show."""
        learner, views, xs, requests = self.group
        if learner.fast_rule() is not None:  # it goes by the scores alone
            picked = (one.picked for one in self.each)
            return [*map(learner._fixed, views.rows, picked, self.probes)]
        found: list[SlateDistribution] = []
        known = type(learner)._distribution is not LearnerBase._distribution
        for b, (request, choice) in enumerate(zip(requests, self.each, strict=True)):
            view = views.at(b)
            if decides_by_itself(learner) and not known:
                found.append(FixedSlate(learner._decide(view, xs[b], request).labels))
            else:
                one = learner._distribution(view, xs[b], request, choice, self.probes[b])
                found.append(one)
        return found

    def own_places(self) -> tuple[list[Ints], list[bool]]:
        """What the learner itself shows, as places, and whether the last is only tried."""
        probed = self.probed()
        places = [one.picked for one in self.each]
        for b, tried in enumerate(self.probes if any(probed) else ()):
            if probed[b] and tried is not None:
                places[b] = np.append(places[b], tried)
        return places, probed

    def probed(self) -> list[bool]:
        """Whether the learner's own coin says that one more label is tried, and there is room."""
        probing = self.group.learner._probing
        room = [one.has_room for one in self.each]
        if not probing or not any(room):
            return [False] * len(room)
        return [yes and coin < probing for yes, coin in zip(room, self._tossed[0], strict=True)]

    def names(self, b: int) -> list[Label]:
        """The labels that may be shown for request number b, by place."""
        rows = self.group.views.rows[b]
        return self.group.learner._labels.at(rows, np.arange(self.each[b].n))

    def coins(self) -> list[float]:
        """A number in [0, 1) for each request, by seed, round, draw and the context as given."""
        return self._tossed[1]

    @cached_property
    def _tossed(self) -> list[list[float]]:
        """The learner's own coins, by which it tries a label, and those of the policy around it."""
        learner = self.group.learner
        asked = [(request.draw, request.given) for request in self.group.requests]
        return coins_by_seed([learner.seed, learner.seed + SALT], learner.t, asked)

    def uniforms(self) -> list[Floats]:
        """For each request a number in [0, 1) for every label that may be shown."""
        most = max((one.n for one in self.each), default=0)
        lines = uniforms(self.coins(), most)
        return [line[: one.n] for line, one in zip(lines, self.each, strict=True)]

    def slates(
        self, places: Sequence[Ints], probed: Sequence[bool],
        distributions: Sequence[SlateDistribution],
    ) -> list[Slate]:  # fmt: skip
        """The slates of these places, drawn from these distributions."""
        best, sizes = padded(places)
        return make_slates(self.group, best, sizes.tolist(), probed, distributions)


def policy_coins(learner: LearnerBase, requests: Sequence[Request]) -> list[float]:
    """`Choices.coins` of these requests, before anything is looked at."""
    asked = [(request.draw, request.given) for request in requests]
    return coins_by_seed([learner.seed + SALT], learner.t, asked)[0]


def decides_by_itself(learner: LearnerBase) -> bool:
    """Whether a learner decides in a way that is not that of `LearnerBase`."""
    return type(learner)._decide is not LearnerBase._decide
