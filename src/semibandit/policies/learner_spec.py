"""A learner in words: what every command, plan, store and report calls it by."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any, Self

from semibandit._util.checks import nearest, shortened
from semibandit.errors import InputError, UnknownKeyword
from semibandit.policies.banditron import Banditron
from semibandit.policies.confidit import Confidit
from semibandit.policies.device import on_device
from semibandit.policies.examination import EXAMINATION_WORDS, examination_words
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.greedy import EpsilonGreedy, Greedy
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.obr import OBR
from semibandit.policies.random import Random
from semibandit.policies.slate_ucb import SlateUCB
from semibandit.policies.spec import parse, to_words
from semibandit.policies.thompson import Thompson

__all__ = ["LEARNERS", "LEARNER_WORDS", "LearnerSpec"]

LEARNERS: dict[str, type[Learner]] = {
    cls.__name__: cls
    for cls in (SlateUCB, OBR, Greedy, EpsilonGreedy, Thompson, Random, Banditron, Confidit)
}
OWN_NUMBER = {  # the parameter that a number after the learner's name stands for
    "EpsilonGreedy": "epsilon",
    "Thompson": "alpha",
    "Banditron": "gamma",
    "Confidit": "alpha",
}
LEARNER_WORDS = " | ".join(
    f"{name}:{OWN_NUMBER[name].upper()}" if name in OWN_NUMBER else name for name in LEARNERS
)
PARTS = ("loss", "model", "width", "cost")
NUMBERS = ("a", "scale", "bias", "project", "probe", "at_least", "forget", "examination", "seed")

LATER = [("examination", None)]  # as settings were written before there was one


@dataclass(frozen=True, kw_only=True)
class LearnerSpec:
    """What a learner is made with, each part in words (see `policies/spec.py`).

    Parameters
    ----------
    learner : str
        The class, and for those that have one their own number: "SlateUCB", "Thompson:0.5",
        "EpsilonGreedy:0.1", "Banditron:0.05", "Confidit:1".
    loss, model, width, cost : str
        The parts. A learner that has no such part ignores it.
    a, scale, bias, project, probe, at_least, forget, seed
        As for `SlateUCB`. A learner that has no such setting ignores it.
    examination : str, optional
        The same in words: "1,0.7,0.5", or "last-click".

    Examples
    --------
    >>> LearnerSpec(width="scaled:0.5").build(3, ["sea", "sun"])
    SlateUCB(n_features=3, labels=2, t=1)
    """

    learner: str = "SlateUCB"
    loss: str = "square"
    model: str = "full"
    width: str = "scaled:0.25"
    cost: str = "decreasing"
    a: float = 0.5
    scale: str = "standard"
    bias: bool = True
    project: str = "learned"
    probe: float = 0.1
    at_least: int = 0
    forget: float | None = None
    examination: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.bias, bool):
            raise InputError(f"bias = {self.bias!r}, but it must be true or false")
        for name in ("learner", *PARTS, "scale", "project"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise InputError(f"{name} = {shortened(value)}, but it must be words")
        if not isinstance(self.examination, str | None):
            raise InputError(
                f"examination = {shortened(self.examination)}, but it must be words: "
                f"{EXAMINATION_WORDS}"
            )

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """From a dictionary whose keys are checked, such as a table of a TOML file."""
        cls._check_names(given)
        for field in fields(cls):
            if field.default is MISSING and field.name not in given:
                raise InputError(f"{field.name} is missing: every setting needs it")
        return cls(**given)

    @classmethod
    def _check_names(cls, given: Iterable[str]) -> None:
        known = [field.name for field in fields(cls)]
        for key in given:
            if key not in known:
                raise UnknownKeyword(
                    f"{key!r} is not a setting{nearest(key, known)} (there are {', '.join(known)})"
                )

    @classmethod
    def of(cls, learner: Learner) -> LearnerSpec:
        """The words for this learner.

        Raises
        ------
        InputError
            If the learner, or a part of it, is of the user's own making.
        """
        name = type(learner).__name__
        if LEARNERS.get(name) is not type(learner):
            raise InputError(f"the learner {name!r} is your own: it cannot be spelled in words")
        takes = inspect.signature(type(learner)).parameters
        own = OWN_NUMBER.get(name)
        number = "" if own is None else f":{getattr(learner, own)!r}"
        words: dict[str, Any]
        words = {part: to_words(part, getattr(learner, part)) for part in PARTS if part in takes}
        numbers = {key: getattr(learner, key) for key in NUMBERS if key in takes}
        if "examination" in numbers:
            numbers["examination"] = examination_words(numbers["examination"])
        return LearnerSpec(learner=f"{name}{number}", **words, **numbers)

    def build(
        self,
        n_features: int | NamedFeatures,
        labels: int | Sequence[Label],
        device: str | None = None,
    ) -> Learner:
        """A new learner with so many features, or with these, and these labels, on this device."""
        cls, own = self._class()
        takes = inspect.signature(cls).parameters
        parts = {part: parse(part, getattr(self, part)) for part in PARTS}  # all, to find mistakes
        parts = on_device({part: made for part, made in parts.items() if part in takes}, device)
        numbers = {key: getattr(self, key) for key in NUMBERS if key in takes}
        return cls(n_features, labels, **parts, **numbers, **own)  # type: ignore[arg-type]

    def changed(self, **changes: Any) -> Self:
        """The same, except for what is given here."""
        self._check_names(changes)
        return replace(self, **changes)

    def ignores(self, given: Iterable[str]) -> list[str]:
        """Which of these settings the learner does not have: OBR has no model, Greedy no width."""
        takes = inspect.signature(self._class()[0]).parameters
        known = (*PARTS, *NUMBERS)
        return [name for name in given if name in known and name not in takes]

    def same_as(self, other: LearnerSpec) -> bool:
        """Whether both spell the same learner, in whatever words."""
        one, two = (LearnerSpec.of(spec.build(1, 1)) for spec in (self, other))
        return one == two

    def json(self) -> dict[str, Any]:
        """All settings, as JSON can hold them.

        A setting that came later is left out if it is not used: kept results are found by the rest.
        """
        return {name: value for name, value in asdict(self).items() if (name, value) not in LATER}

    def _class(self) -> tuple[type[Learner], dict[str, float]]:
        """The learner's class, and its own number, if one is given."""
        name, _, number = self.learner.partition(":")
        if name not in LEARNERS:
            raise InputError(
                f"learner = {self.learner!r}, expected {LEARNER_WORDS}{nearest(name, LEARNERS)}"
            )
        if not number:
            return LEARNERS[name], {}
        try:
            return LEARNERS[name], {OWN_NUMBER[name]: float(number)}
        except (KeyError, ValueError):
            raise InputError(f"learner = {self.learner!r}, expected {LEARNER_WORDS}") from None
