"""Learners whose labels are divided among shards: processes of a Ray cluster, mostly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from semibandit._util.checks import check_keywords, shortened
from semibandit.errors import InputError
from semibandit.models.full import Full
from semibandit.models.sharded.model import ShardedModel
from semibandit.models.sharded.placement import Shards
from semibandit.policies.device import on_device
from semibandit.policies.features.encoder import NamedFeatures
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.persistence import divided
from semibandit.policies.slate_ucb import SecondOrder

__all__ = ["Sharded", "model_on_shards", "move_to_shards"]

L = TypeVar("L", bound=Learner)


def Sharded(  # it makes a learner, as its class does
    learner: type[L], n_features: int | NamedFeatures, labels: int | Sequence[Label], *,
    shards: int, on: str = "ray", address: str | None = None,
    ray_actor_options: Mapping[str, Any] | None = None, missing: str = "wait",
    timeout: float = 60.0, checkpoint_every: int = 10_000, **options: Any,
) -> L:  # fmt: skip
    """Make a learner whose labels are divided among shards, each with the model of its own labels.

    It is a learner like any other: the same slates, the same files, the same service. A context
    goes to all shards at once, each answers with its best labels, and `learn` reaches the shards
    of the labels that learn. Everything else (rounds, scaling, order among equals, probes) is the
    whole's, and is kept by this process.

    A shard that dies is restored from its last checkpoint and what it was told since, to the bit:
    nothing is lost, and what `learn` was told is learned by all shards or, if it raises, by none.

    Parameters
    ----------
    learner : class
        The class of the learner, one that takes a `model`: `SlateUCB`, `Greedy`, `EpsilonGreedy`,
        `Thompson` or `Confidit`.
    n_features, labels
        As for the class.
    shards, on, address, ray_actor_options, missing, timeout, checkpoint_every
        How many shards there are and where, and what happens if one is lost: see `Shards`.
    **options
        Any others that the class takes. `model` is that of every shard: `Full()` by default,
        `Diagonal()` or `Dual(...)`.

    Returns
    -------
    Learner
        Of the class that was given.

    Raises
    ------
    InputError
        If the class takes no model, or the model cannot be divided.
    MissingExtra
        If Ray is not installed.
    ClusterError
        If the Ray cluster cannot be reached, or is too small for so many shards.

    Examples
    --------
    >>> import semibandit as sb
    >>> bandit = Sharded(sb.SlateUCB, n_features=2, labels=["tea", "coffee"], shards=2, on="here")
    >>> bandit.learn(bandit.rank([1.0, 0.5], slots=2), clicked=["tea"])
    >>> bandit
    SlateUCB(n_features=2, labels=2, t=2)
    """
    if not isinstance(learner, type) or not issubclass(learner, Learner):
        raise InputError(f"learner = {shortened(learner)}, but it must be a class of learners")
    placed = Shards(
        shards, on, address, ray_actor_options or {}, missing, timeout, checkpoint_every
    )
    model = divided(learner, options.pop("model", Full()), placed)
    check_keywords(learner, options)
    return learner(n_features, labels, model=model, **options)  # type: ignore[call-arg]


def model_on_shards(learner: Learner, shards: Shards, device: str | None = None) -> ShardedModel:
    """The model that `move_to_shards` would give to a learner; raises what cannot be."""
    settings = on_device({"model": getattr(learner, "model", None)}, device)
    return divided(type(learner), settings["model"], shards)


def move_to_shards(learner: Learner, shards: Shards, device: str | None = None) -> None:
    """Divide the labels of a learner that is there among shards; nobody else may use it meanwhile.

    Parameters
    ----------
    learner : Learner
        One that takes a model.
    shards : Shards
        How many shards, and where.
    device : str, optional
        The device of each shard, see `Full`. By default that of the learner's model.

    Raises
    ------
    InputError
        If the learner takes no model, or its model cannot be divided.
    ClusterError
        If the Ray cluster cannot be reached, or is too small for so many shards.
    """
    model = model_on_shards(learner, shards, device)
    assert isinstance(learner, SecondOrder)
    state = model.start(len(learner._labels.names), learner.n_inputs)
    if learner.forget is not None:
        state.set_half_life(learner.forget)
    state.restore(learner._state.arrays())
    learner._state = state
