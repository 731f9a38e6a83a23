"""The shape of a service: its features, its labels, its learner. Fixed when the store is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semibandit.errors import InputError
from semibandit.models.diagonal import Diagonal
from semibandit.models.full import Full
from semibandit.models.model import Model
from semibandit.policies.greedy import EpsilonGreedy, Greedy
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.persistence import config_of, load
from semibandit.policies.random import Random
from semibandit.policies.slate_ucb import SlateUCB
from semibandit.policies.thompson import Thompson
from semibandit.store.store import Store
from semibandit.theory.width import Scaled

__all__ = ["LEARNERS", "MODELS", "Shape", "open_store"]

LEARNERS = ("SlateUCB", "Thompson", "Greedy", "EpsilonGreedy", "Random")
MODELS: dict[str, Model] = {"full": Full(), "diagonal": Diagonal()}
DEFAULTS: dict[str, Any] = {
    "learner": "SlateUCB",
    "model": "full",
    "alpha": Scaled.alpha,
    "a": 0.5,
    "bias": True,
    "seed": 0,
}


@dataclass(frozen=True)
class Shape:
    """What is known of it; None where nothing was said."""

    features: int | list[str] | None = None  # how many, or their names
    labels: int | list[Label] | None = None  # how many, or their names
    learner: str | None = None  # one of LEARNERS
    model: str | None = None  # one of MODELS
    alpha: float | None = None  # how much SlateUCB and Thompson explore
    a: float | None = None
    bias: bool | None = None
    seed: int | None = None
    start_from: str | None = None  # a file of a learner, in place of all but the features' names

    def make(self) -> tuple[Learner, dict[str, Any]]:
        """A new learner of this shape, and what a store keeps of it."""
        if self.start_from is not None:
            return self._loaded()
        for what in ("features", "labels"):
            if getattr(self, what) is None:
                raise InputError(f"a new store needs to know its {what}: say --{what}")
        told = DEFAULTS | {k: v for k, v in vars(self).items() if v is not None}
        if told["learner"] not in LEARNERS:
            raise InputError(f"learner = {told['learner']!r}, expected {' | '.join(LEARNERS)}")
        if told["model"] not in MODELS:
            raise InputError(f"model = {told['model']!r}, expected {' | '.join(MODELS)}")
        names = _checked_names(told["features"])
        n = told["features"] if names is None else len(names)
        common = {key: told[key] for key in ("a", "bias", "seed")}
        kept = {key: told[key] for key in (*DEFAULTS, "features", "labels")}
        return _learner(told, n, common), kept | {"feature_names": names}

    def _loaded(self) -> tuple[Learner, dict[str, Any]]:
        assert self.start_from is not None
        for name, value in vars(self).items():
            if value is not None and name not in ("features", "start_from"):
                raise InputError(f"--start-from says it all: leave out --{name}")
        learner = load(self.start_from)
        names = _checked_names(self.features)
        n = self.features if names is None else len(names)
        if n is not None and n != learner.n_features:
            raise InputError(
                f"--features says {n}, but the learner in {self.start_from} has "
                f"{learner.n_features}"
            )
        started = {**config_of(learner), "t": learner.t, "labels": learner.labels}
        return learner, {
            "features": self.features if names else learner.n_features,
            "feature_names": names,
            "start_from": started,
        }

    def check(self, about: dict[str, Any]) -> None:
        """Refuse a store that was made for something else: what was said must be what it says."""
        given = {k: v for k, v in vars(self).items() if v is not None}
        if "start_from" in given:
            given["start_from"] = self._loaded()[1]["start_from"]
        for key, value in given.items():
            there = about.get(key)
            if there != value:
                raise InputError(
                    f"this store was made with {key} = {_short(there)}, not {_short(value)}: "
                    "leave it out, or take another store"
                )


def open_store(where: str, shape: Shape) -> Store:
    """The store at a folder or URL, made for this shape if there is none yet."""
    if not Store.exists(where):
        learner, about = shape.make()
        return Store.create(where, learner, about)
    store = Store(where)
    try:
        shape.check(store.about)
    except BaseException:
        store.close()
        raise
    return store


def _learner(told: dict[str, Any], n: int, common: dict[str, Any]) -> Learner:
    labels, model, alpha = told["labels"], MODELS[told["model"]], told["alpha"]
    if told["learner"] == "SlateUCB":
        return SlateUCB(n, labels, model=model, width=Scaled(alpha), **common)
    if told["learner"] == "Thompson":
        return Thompson(n, labels, model=model, alpha=alpha, **common)
    if told["learner"] == "Random":
        return Random(n, labels, **common)
    kind = Greedy if told["learner"] == "Greedy" else EpsilonGreedy
    return kind(n, labels, model=model, **common)


def _checked_names(features: int | list[str] | None) -> list[str] | None:
    if not isinstance(features, list):
        return None
    twice = {name for name in features if features.count(name) > 1}
    if twice:
        raise InputError(f"features names {twice.pop()!r} twice")
    return features


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
