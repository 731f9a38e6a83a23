"""How likely what was shown was, as a log keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.plackett_luce import PlackettLuceSlates
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.labels import Label

__all__ = ["Propensities", "known_propensities", "propensities_of"]

Form: TypeAlias = tuple[Any, ...]  # what the probabilities follow from, whatever the labels are


class Propensities(NamedTuple):
    """The probabilities of a slate, as `SlateDistribution` defines them.

    The lists may be those of many slates, and must not be changed.
    """

    slate: float
    prefix: list[float]
    item: list[float] | None  # None if it takes long: it follows from the distribution


def propensities_of(distribution: SlateDistribution, labels: Sequence[Label]) -> Propensities:
    """How likely this slate was, by the distribution that it was drawn from.

    A learner's own slate that is now and then replaced by one drawn evenly has the probabilities
    of every other such slate of its length: they are computed once.

    Examples
    --------
    >>> mix = Mixture([(0.9, FixedSlate(["tea"])), (0.1, UniformSlates(4, 1))])
    >>> propensities_of(mix, ["tea"])
    Propensities(slate=0.925, prefix=[0.925], item=[0.925])
    """
    return known_propensities(distribution, labels) or _computed(distribution, labels)


def known_propensities(
    distribution: SlateDistribution, labels: Sequence[Label]
) -> Propensities | None:
    """`propensities_of`, if they are those of many slates; None if they have to be computed."""
    form = _form(distribution, labels)
    return None if form is None else _of_form(form, len(labels))


def _form(one: Any, labels: Sequence[Label]) -> Form | None:
    """What the probabilities follow from; None if they have to be computed from the labels."""
    kind = type(one)  # isinstance takes ten times as long, since their base class is abstract
    if kind is UniformSlates:
        return "uniform", one.n, one.length
    if kind is FixedSlate:
        if labels == one.slate:
            return "fixed", len(labels), one.probing
        probed = one.probing > 0 and labels[-1:] == [one.probe] and labels[:-1] == one.slate
        return ("fixed", len(labels) - 1, one.probing) if probed else None
    if kind is Mixture:
        forms = [(weight, _form(part, labels)) for weight, part in one.parts]
        for _, form in forms:
            if form is None:
                return None
        return "mixture", *forms
    return None


@lru_cache(maxsize=4096)
def _of_form(form: Form, length: int) -> Propensities:
    return _computed(_with_numbers(form), list(range(length)))


def _with_numbers(form: Form) -> SlateDistribution:
    """A distribution of this form whose labels are 0, 1, 2, ..., in the order of the slate."""
    kind, *rest = form
    if kind == "uniform":
        return UniformSlates(*rest)
    if kind == "fixed":
        size, probing = rest
        return FixedSlate(list(range(size)), size, probing)
    return Mixture([(weight, _with_numbers(part)) for weight, part in rest])


def _computed(distribution: SlateDistribution, labels: Sequence[Label]) -> Propensities:
    slate, prefix = distribution.slate_propensity(labels), distribution.prefix_propensity(labels)
    item = None if _takes_long(distribution) else distribution.item_propensity(labels).tolist()
    return Propensities(float(slate), prefix.tolist(), item)


def _takes_long(one: SlateDistribution) -> bool:
    if isinstance(one, Mixture):
        return any(_takes_long(part) for _, part in one.parts)
    return isinstance(one, PlackettLuceSlates)
