"""Plackett-Luce around a learner: labels drawn by a softmax of its scores, without replacement."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.checks import is_number
from semibandit.errors import InputError
from semibandit.policies.choices import Choices
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.plackett_luce import PlackettLuceSlates, best_first
from semibandit.policies.learner import Learner
from semibandit.policies.randomised import Randomised

__all__ = ["PlackettLuce"]


class PlackettLuce(Randomised):
    """Draws one label after the other, each by a softmax of the learner's `prob` / temperature.

    A slate is as long as the learner's own. If the learner tries one more label now and then
    (`probe=`), one more is drawn, like the others.

    Parameters
    ----------
    learner : Learner
        The learner. Any will do whose learning does not need its own draws (Banditron's does).
    temperature : float
        How much to draw, above 0: a label that is better by the temperature is e times as likely.

    Raises
    ------
    InputError
        If the learner or the temperature cannot be used.

    Examples
    --------
    >>> import semibandit as sb
    >>> policy = PlackettLuce(sb.Greedy(n_features=2, labels=4, a=1.0), temperature=0.1)
    >>> policy.rank([1.0, 0.5], slots=2).prefix_propensity.round(3)  # all are equal: 1/4, 1/12
    array([0.25 , 0.083])
    """

    name = "plackett-luce"

    def __init__(self, learner: Learner, temperature: float = 0.05) -> None:
        super().__init__(learner)
        self.temperature = self.check(temperature)

    @staticmethod
    def check(temperature: float) -> float:
        """The temperature, or an `InputError` if it is none."""
        if not is_number(temperature) or not 1e-6 <= temperature < math.inf:
            raise InputError(
                f"temperature = {temperature!r}, but it must be a finite number of at least 1e-6"
            )
        return float(temperature)

    @property
    def number(self) -> float:
        return self.temperature

    def _distributions(self, choices: Choices) -> Sequence[SlateDistribution]:
        learner = choices.group.learner
        found = []
        for b, choice in enumerate(choices.each):
            probing = learner._probing if choice.has_room else 0.0
            by_label = dict(zip(choices.names(b), self._scores(choices, b).tolist(), strict=True))
            found.append(PlackettLuceSlates(by_label, len(choice.picked), probing))
        return found

    def _places(self, choices: Choices) -> tuple[Sequence[Ints], Sequence[bool]]:
        probed = choices.probed()
        places = []
        for b, numbers in enumerate(choices.uniforms()):
            size = len(choices.each[b].picked) + probed[b]
            places.append(best_first(self._scores(choices, b) + _gumbel(numbers), size))
        return places, probed

    def _scores(self, choices: Choices, b: int) -> Floats:
        """The scores of the labels that may be shown for request number b, by place."""
        return choices.group.views.at(b).prob / self.temperature


def _gumbel(uniforms: Floats) -> Floats:
    """Gumbel's distribution: minus the logarithm of an exponential draw."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(-np.log1p(-uniforms)))
