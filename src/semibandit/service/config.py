"""What a store is made for: features, labels and a learner. Fixed when the store is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from semibandit._util.checks import shortened
from semibandit.errors import InputError
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.features.features import Features
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.learner_spec import LearnerSpec
from semibandit.policies.persistence import config_of, load
from semibandit.store.rebuild import check_learns_from_shown
from semibandit.store.store import Store

__all__ = ["DEFAULT", "StoreConfig", "open_store"]

Check = Callable[[Learner], object]  # raises an error if it refuses the learner
DEFAULT = LearnerSpec(a=1.0)  # unless it is told otherwise, a service fills its slots


@dataclass(frozen=True)
class StoreConfig:
    """What a new store is made for, or what an existing one must have been made for.

    Parameters
    ----------
    features : int, Features or Hashed, optional
        How many numbers a context has, or its named features. A new store needs it.
    labels : int or list of labels, optional
        How many labels there are at first, or their names. A new store needs it.
    learner : mapping
        The settings of `LearnerSpec` that were given, in words; the others are `DEFAULT`'s.
    start_from : str, optional
        A file of a learner, in place of labels and learner.
    """

    features: int | NamedFeatures | None = None
    labels: int | list[Label] | None = None
    learner: Mapping[str, Any] = field(default_factory=dict)
    start_from: str | None = None

    def __post_init__(self) -> None:
        if self.start_from is not None and (self.labels is not None or self.learner):
            extra = "labels" if self.labels is not None else next(iter(self.learner))
            raise InputError(f"--start-from says it all: leave out --{extra}")

    @property
    def features_in_words(self) -> int | str | None:
        """The features as JSON can hold them."""
        return self.features.words if isinstance(self.features, NamedFeatures) else self.features

    def create(
        self, where: str, *, timeout: float | None = None, check: Check | None = None
    ) -> Store:
        """A new store for this configuration; none is made if `check` refuses its learner."""
        learner, about = self._load() if self.start_from is not None else self._build()
        check_learns_from_shown(learner)
        if check is not None:
            check(learner)
        return Store.create(where, learner, about, timeout=timeout)

    def check(self, store: Store) -> None:
        """Refuse a store that was made for something else than what is given here."""
        about = store.about
        there = about.get("features")
        if self.features is not None and self.features_in_words != _words(there):
            raise _mismatch("features", _words(there), self.features_in_words)
        if self.labels is not None and self.labels != about.get("labels"):
            raise _mismatch("labels", about.get("labels"), self.labels)
        if self.start_from is not None:
            given = self._load()[1]["start_from"]
            if given != about.get("start_from"):
                raise _mismatch("start_from", about.get("start_from"), given)
        if self.learner:
            spec = LearnerSpec.of(_present_learner(store))
            for key, given in self.learner.items():
                if key == "learner" and given == spec.learner.partition(":")[0]:
                    continue  # it was made with another number, which nothing is said about now
                if not spec.changed(**{key: given}).same_as(spec):
                    raise _mismatch(key, getattr(spec, key), given, _how_to_change(key, given))

    def _build(self) -> tuple[Learner, dict[str, Any]]:
        if self.features is None or self.labels is None:
            missing = "features" if self.features is None else "labels"
            raise InputError(f"a new store needs to know its {missing}: say --{missing}")
        spec = DEFAULT.changed(**self.learner)
        about = {**spec.json(), "features": self.features_in_words, "labels": self.labels}
        return spec.build(self.features, self.labels), about

    def _load(self) -> tuple[Learner, dict[str, Any]]:
        assert self.start_from is not None
        learner = load(self.start_from)
        there = learner.n_features if learner.features is None else learner.features.words
        names = _names_for(learner, self.features)
        if self.features is not None and self.features_in_words != there and names is None:
            raise InputError(
                f"--features says {self.features_in_words}, but the learner in {self.start_from} "
                f"has {there}"
            )
        started = {**config_of(learner), "t": learner.t, "labels": learner.labels}
        about = {"features": there if names is None else names, "feature_names": names}
        return learner, {**about, "start_from": started}


def open_store(
    where: str, config: StoreConfig, *, timeout: float | None = None, follow: bool = False,
    check: Check | None = None,
) -> Store:  # fmt: skip
    """The store at a folder or URL, made for this configuration if there is none yet.

    With `follow`, another process may be its owner; `Store.owned` says if this one is. A new store
    is made only if `check`, which is called with its learner, raises no error.
    """
    if not Store.exists(where, timeout=timeout):
        return config.create(where, timeout=timeout, check=check)
    store = Store(where, timeout=timeout, lock=not follow)
    try:
        config.check(store)
        if follow:
            store.try_lock()
    except BaseException:
        store.close()
        raise
    return store


def _present_learner(store: Store) -> Learner:
    """The learner that the store was made with, or the last one that took its place."""
    learners = store.new_learners()
    if not learners:
        return store.snapshot(0)
    seq, event = learners[-1]
    newest = store.snapshots()[-1]  # a file is dropped once a snapshot has come after it
    return store.snapshot(newest) if newest >= seq else store.file_learner(event.file)


def _names_for(learner: Learner, features: int | NamedFeatures | None) -> list[str] | None:
    """Names for the numbers of a learner that was made without any; None if they do not fit."""
    if learner.features is not None or not isinstance(features, Features):
        return None
    fits = features.size == learner.n_features == len(features.names)
    numbers = all(one.kind == "number" for _, one in features.declared)
    return list(features.names) if fits and numbers else None


def _words(features: Any) -> Any:
    """The features of a store in words; at first there were only names, of numbers."""
    if not isinstance(features, list):
        return features
    return Features(**dict.fromkeys(features, "number")).words


def _mismatch(key: str, there: object, given: object, more: str = "") -> InputError:
    return InputError(
        f"this store was made with {key} = {shortened(there)}, not {shortened(given)}: "
        f"leave it out, or take another store{more}"
    )


def _how_to_change(key: str, given: object) -> str:
    """How a setting of the learner is changed: the log is learned anew with the other one."""
    option = "--" + key.replace("_", "-")
    words = f"{option} {given}"
    if isinstance(given, bool):
        words = option if given else "--no-" + option[2:]
    return (
        f". To change it, learn the log anew, “semibandit replay STORE {words} --save new.npz”, "
        "and send that file to the running service: POST /v1/learner"
    )
