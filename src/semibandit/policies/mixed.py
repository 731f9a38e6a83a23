"""Mixed: a learner's slates, and now and then one that is drawn evenly from all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semibandit._util.arrays import Ints
from semibandit._util.checks import is_number
from semibandit.errors import InputError
from semibandit.policies.batch import from_one_state, search_of_own
from semibandit.policies.choices import Choices, policy_coins
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import uniform_slates
from semibandit.policies.learner import Learner
from semibandit.policies.randomised import Randomised
from semibandit.policies.randomness import even_draw
from semibandit.policies.request import Request
from semibandit.policies.slate import Slate

__all__ = ["Mixed"]


class Mixed(Randomised):
    """Shows the learner's slate; with probability epsilon, one that is drawn evenly from all.

    A coin is tossed once per slate. Drawn slates fill all slots, so that every slate of the learner
    and of other settings has a known probability to begin one. With epsilon = 0 it shows what the
    learner would, and says how likely that was.

    Parameters
    ----------
    learner : Learner
        The learner. Any will do whose learning does not need its own draws (Banditron's does).
    epsilon : float
        The probability of a drawn slate, from 0 to 1.

    Raises
    ------
    InputError
        If the learner or epsilon cannot be used.

    Examples
    --------
    >>> import semibandit as sb
    >>> policy = Mixed(sb.Greedy(n_features=2, labels=4, a=1.0), epsilon=0.2)
    >>> slate = policy.rank([1.0, 0.5], slots=2)
    >>> slate.prefix_propensity.round(3)  # 0.8 + 0.2/4, 0.8 + 0.2/12
    array([0.85 , 0.817])
    >>> policy.learn(slate, clicked=slate.labels[:1])
    """

    name = "mixed"

    def __init__(self, learner: Learner, epsilon: float = 0.05) -> None:
        super().__init__(learner)
        self.epsilon = self.check(epsilon)

    @staticmethod
    def check(epsilon: float) -> float:
        """The probability, or an `InputError` if it is none."""
        if not is_number(epsilon) or not 0 <= epsilon <= 1:
            raise InputError(f"epsilon = {epsilon!r}, but a probability must lie in [0, 1]")
        return float(epsilon)

    @property
    def number(self) -> float:
        return self.epsilon

    def rank_requests(self, requests: Sequence[Request]) -> list[Slate]:
        return from_one_state(
            self.learner,
            requests,
            self._draw,
            search=search_of_own(self.learner),
            best=self._shows_own,
        )

    def _shows_own(self, requests: Sequence[Request]) -> list[bool]:
        """Whether the coin says that the learner's own slate is shown for each request."""
        return [coin >= self.epsilon for coin in policy_coins(self.learner, requests)]

    def _distributions(self, choices: Choices) -> Sequence[SlateDistribution]:
        own, epsilon = choices.own(), self.epsilon
        if not epsilon:
            return own
        return [
            Mixture([(1.0 - epsilon, one), (epsilon, uniform_slates(choice.n, choice.room))])
            for one, choice in zip(own, choices.each, strict=True)
        ]

    def _places(self, choices: Choices) -> tuple[Sequence[Ints], Sequence[bool]]:
        places, probed = choices.own_places()
        for b, coin in enumerate(choices.coins() if self.epsilon else ()):
            if coin < self.epsilon:
                n, room = choices.each[b].n, choices.each[b].room
                places[b] = np.array(even_draw(coin, n, room), dtype=np.intp)
                probed[b] = False
        return places, probed
