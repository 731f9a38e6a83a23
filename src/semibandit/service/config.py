"""What a store is made for: features, labels and a learner. Fixed when the store is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from semibandit._util.checks import shortened
from semibandit.errors import InputError
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.learner_spec import LearnerSpec
from semibandit.policies.persistence import config_of, load
from semibandit.store.rebuild import check_learns_from_shown
from semibandit.store.store import Store

__all__ = ["DEFAULT", "StoreConfig", "open_store"]

DEFAULT = LearnerSpec(bias=True)  # what a service learns with unless it is told otherwise


@dataclass(frozen=True)
class StoreConfig:
    """What a new store is made for, or what an existing one must have been made for.

    Parameters
    ----------
    features : int or list of str, optional
        How many numbers a context has, or their names. A new store needs it.
    labels : int or list of labels, optional
        How many labels there are at first, or their names. A new store needs it.
    learner : mapping
        The settings of `LearnerSpec` that were given, in words; the others are `DEFAULT`'s.
    start_from : str, optional
        A file of a learner, in place of labels and learner.
    """

    features: int | list[str] | None = None
    labels: int | list[Label] | None = None
    learner: Mapping[str, Any] = field(default_factory=dict)
    start_from: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.features, list):
            twice = {name for name in self.features if self.features.count(name) > 1}
            if twice:
                raise InputError(f"features names {twice.pop()!r} twice")
        if self.start_from is not None and (self.labels is not None or self.learner):
            extra = "labels" if self.labels is not None else next(iter(self.learner))
            raise InputError(f"--start-from says it all: leave out --{extra}")

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features, if they have names."""
        return self.features if isinstance(self.features, list) else None

    def create(self, where: str) -> Store:
        """A new store for this configuration."""
        learner, about = self._load() if self.start_from is not None else self._build()
        check_learns_from_shown(learner)
        return Store.create(where, learner, {**about, "feature_names": self.feature_names})

    def check(self, store: Store) -> None:
        """Refuse a store that was made for something else than what is given here."""
        about = store.about
        for key in ("features", "labels"):
            given = getattr(self, key)
            if given is not None and given != about.get(key):
                raise _mismatch(key, about.get(key), given)
        if self.start_from is not None:
            given = self._load()[1]["start_from"]
            if given != about.get("start_from"):
                raise _mismatch("start_from", about.get("start_from"), given)
        if self.learner:
            there = LearnerSpec.of(store.snapshot(0))
            for key, given in self.learner.items():
                if key == "learner" and given == there.learner.partition(":")[0]:
                    continue  # it was made with another number, which nothing is said about now
                if not there.changed(**{key: given}).same_as(there):
                    raise _mismatch(key, getattr(there, key), given)

    def _build(self) -> tuple[Learner, dict[str, Any]]:
        if self.features is None or self.labels is None:
            missing = "features" if self.features is None else "labels"
            raise InputError(f"a new store needs to know its {missing}: say --{missing}")
        n = len(self.features) if isinstance(self.features, list) else self.features
        spec = DEFAULT.changed(**self.learner)
        about = {**spec.json(), "features": self.features, "labels": self.labels}
        return spec.build(n, self.labels), about

    def _load(self) -> tuple[Learner, dict[str, Any]]:
        assert self.start_from is not None
        learner = load(self.start_from)
        n = len(self.features) if isinstance(self.features, list) else self.features
        if n is not None and n != learner.n_features:
            raise InputError(
                f"--features says {n}, but the learner in {self.start_from} has "
                f"{learner.n_features}"
            )
        started = {**config_of(learner), "t": learner.t, "labels": learner.labels}
        return learner, {"features": self.features or learner.n_features, "start_from": started}


def open_store(where: str, config: StoreConfig) -> Store:
    """The store at a folder or URL, made for this configuration if there is none yet."""
    if not Store.exists(where):
        return config.create(where)
    store = Store(where)
    try:
        config.check(store)
    except BaseException:
        store.close()
        raise
    return store


def _mismatch(key: str, there: object, given: object) -> InputError:
    return InputError(
        f"this store was made with {key} = {shortened(there)}, not {shortened(given)}: "
        "leave it out, or take another store"
    )
