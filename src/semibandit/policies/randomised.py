"""A policy around a learner that draws slates with known probabilities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, Self

from semibandit._util.arrays import Ints
from semibandit._util.checks import check_keywords, shortened
from semibandit.errors import InputError
from semibandit.policies.batch import Group, from_one_state, search_of_own
from semibandit.policies.choices import Choices, decides_by_itself
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.random import Random
from semibandit.policies.read_requests import Limits, read_request, read_requests
from semibandit.policies.request import Request
from semibandit.policies.slate import Slate
from semibandit.policies.spec import number_words
from semibandit.policies.wrapper import LearnerWrapper

__all__ = ["Randomised", "distributions_for", "randomised", "rank_with_distributions"]


class Randomised(LearnerWrapper):
    """Ranks by a learner's scores and draws; the learner learns from what was shown.

    This is what `Mixed` and `PlackettLuce` have in common. It has no state of its own: draws follow
    from the learner's seed and round, the draw number and the context.

    Parameters
    ----------
    learner : Learner
        The learner. Any will do whose learning does not need its own draws (Banditron's does).

    Raises
    ------
    InputError
        If it is no such learner.
    """

    name: ClassVar[str]  # what its words begin with

    def __new__(cls, *args: object, **options: object) -> Self:
        check_keywords(cls, options)
        return super().__new__(cls)

    def __init__(self, learner: Learner) -> None:
        if not isinstance(learner, Learner):
            raise InputError(
                f"learner = {shortened(learner)}, but {type(self).__name__} takes a learner such "
                "as SlateUCB"
            )
        if learner.needs_own_draws or decides_by_itself(learner):
            raise InputError(
                f"{type(learner).__name__} draws what it shows itself, and learns by how likely "
                f"that was: {type(self).__name__} cannot draw in its place"
            )
        self.learner = learner

    # -- what a policy supplies ----------------------------------------------------------------

    @property
    @abstractmethod
    def number(self) -> float:
        """The policy's own number: how much it draws."""

    @abstractmethod
    def _distributions(self, choices: Choices) -> Sequence[SlateDistribution]:
        """How likely each slate is, for each request."""

    @abstractmethod
    def _places(self, choices: Choices) -> tuple[Sequence[Ints], Sequence[bool]]:
        """Places drawn by these probabilities, and whether the last is only tried."""

    # -- what users call -----------------------------------------------------------------------

    @property
    def words(self) -> str:
        """The policy in words, as `randomised` and `semibandit serve --randomise` take it."""
        return f"{self.name}:{number_words(self.number)}"

    def rank(
        self, x: Any, slots: int | None = None, *, candidates: Iterable[Label] | None = None,
        exclude: Iterable[Label] | None = None, draw: int = 0,
    ) -> Slate:  # fmt: skip
        """Draw which labels to show for a context; `Slate.distribution` says how likely it was.

        Parameters
        ----------
        x, slots, candidates, exclude
            As for `Learner.rank`.
        draw : int
            The same learner, context, round and number give the same slate; another number draws
            anew.

        Returns
        -------
        Slate
            With `slate_propensity`, `prefix_propensity` and `item_propensity`.

        Raises
        ------
        InputError
            If the context or the slots cannot be used.
        UnknownLabel
            If candidates or exclude name a label that the learner does not have.
        """
        request = read_request(self.learner, x, slots, candidates, exclude, draw)
        return self.rank_requests([request])[0]

    def rank_many(
        self, X: Any, slots: int | Sequence[int | None] | None = None, *,
        candidates: Limits = None, exclude: Limits = None, draw: int = 0,
    ) -> list[Slate]:  # fmt: skip
        """Draw for many contexts at once: the slates of `rank`, by one matrix product.

        Parameters
        ----------
        X, slots, candidates, exclude
            As for `Learner.rank_many`.
        draw : int
            As for `rank`.

        Returns
        -------
        list of Slate
            One for each row of X, all by one state of the learner.

        Raises
        ------
        InputError
            If a context or its slots cannot be used; the text names the row.
        """
        requests = read_requests(self.learner, X, slots, candidates, exclude, draw)
        return self.rank_requests(requests)

    def rank_requests(self, requests: Sequence[Request]) -> list[Slate]:
        """The slates of `rank` for requests that were read, all from one state of the learner."""
        return from_one_state(self.learner, requests, self._draw)

    def distributions(self, requests: Sequence[Request]) -> list[SlateDistribution]:
        """How likely each slate is for requests that were read, all from one state."""
        return from_one_state(
            self.learner, requests, lambda group: [*self._distributions(Choices(group))]
        )

    def _draw(self, group: Group) -> list[Slate]:
        choices = Choices(group)
        distributions = self._distributions(choices)
        return choices.slates(*self._places(choices), distributions)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.learner!r}, {number_words(self.number)})"


def distributions_for(
    policy: Learner | Randomised, requests: Sequence[Request]
) -> list[SlateDistribution]:
    """How likely each slate is that a policy may show for these requests, all from one state.

    Parameters
    ----------
    policy : Learner or Randomised
        A plain learner gives one slate, with the label that it may try; `Random`, `EpsilonGreedy`
        and `Banditron` give what they draw from. What other learners draw is taken as given.
    requests : sequence of Request
        What was asked, each with its context and slots read.

    Returns
    -------
    list of SlateDistribution
        One for each request.

    Raises
    ------
    InputError
        If a request cannot be ranked.
    """
    if isinstance(policy, Randomised):
        return policy.distributions(requests)
    if type(policy) is Random:
        return policy.distributions(requests)
    return from_one_state(policy, requests, lambda group: Choices(group).own())


def rank_with_distributions(
    policy: Learner | Randomised, requests: Sequence[Request]
) -> list[Slate]:
    """The slates of a policy for requests that were read, each with its distribution.

    Parameters
    ----------
    policy : Learner or Randomised
        A learner shows what it would by itself; see `distributions_for`.
    requests : sequence of Request
        What was asked, each with its context and slots read.

    Returns
    -------
    list of Slate
        One for each request, all from one state of the learner.

    Raises
    ------
    InputError
        If a request cannot be ranked.
    """
    if isinstance(policy, Randomised):
        return policy.rank_requests(requests)
    return from_one_state(policy, requests, _own_slates, search=search_of_own(policy))


def _own_slates(group: Group) -> list[Slate]:
    """The learner's own slates with their distributions."""
    choices, (learner, views, xs, requests) = Choices(group), group
    if not decides_by_itself(learner):
        return choices.slates(*choices.own_places(), choices.own())
    return [
        replace(learner._decide(views.at(b), xs[b], request), distribution=distribution)
        for b, (request, distribution) in enumerate(zip(requests, choices.own(), strict=True))
    ]


@lru_cache(maxsize=64)  # a service asks for every group of requests
def randomised(words: str) -> Callable[[Learner], Randomised]:
    """A policy from its words, as a function that puts it around a learner.

    Parameters
    ----------
    words : str
        "mixed:0.05" is `Mixed(learner, epsilon=0.05)`, "plackett-luce:0.1" is
        `PlackettLuce(learner, temperature=0.1)`. Without a number the default is taken.

    Raises
    ------
    InputError
        If there is no such policy, or the number cannot be used.

    Examples
    --------
    >>> import semibandit as sb
    >>> randomised("mixed:0.05")(sb.SlateUCB(2, ["tea", "milk"])).words
    'mixed:0.05'
    """
    from semibandit.policies.mixed import Mixed  # they are made of this module
    from semibandit.policies.plackett_luce import PlackettLuce

    kinds: dict[str, type[Mixed] | type[PlackettLuce]] = {
        one.name: one for one in (Mixed, PlackettLuce)
    }
    name, colon, rest = words.partition(":")
    if name not in kinds:
        raise InputError(
            f"randomise = {words!r}, expected mixed:EPSILON or plackett-luce:TEMPERATURE"
        )
    if not colon:
        return kinds[name]
    try:
        number = float(rest)
    except ValueError:
        raise InputError(f"randomise = {words!r}, but {rest!r} is no number") from None
    kinds[name].check(number)
    return lambda learner: kinds[name](learner, number)
