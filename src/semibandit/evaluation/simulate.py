"""Simulate: a world whose truth is known, played against a running service."""

from __future__ import annotations

from typing import Any, NamedTuple

from semibandit._util.arrays import Floats
from semibandit._util.checks import whole_number
from semibandit._util.progress import ProgressOption
from semibandit.client import Client
from semibandit.errors import InputError
from semibandit.evaluation.play import Play, play_rounds
from semibandit.policies.spec import decode
from semibandit.theory.cost import Costs
from semibandit.worlds.synthetic import Synthetic

__all__ = ["simulate", "world_for"]


def world_for(client: Client, density: float | None = 0.1, seed: int = 0) -> Synthetic:
    """A world with as many features and labels as the service has."""
    state = client.state()
    _check_features(state)
    return Synthetic(state["n_features"], state["n_labels"], density=density, seed=seed)


def simulate(
    client: Client,
    world: Synthetic,
    rounds: int,
    slots: int | None = None,
    *,
    first: int = 0,
    progress: ProgressOption = None,
) -> Play:
    """Let a service play rounds of a world, with exact regret in the service's own loss.

    The service keeps what it learns, so it should not be one that is in use.

    Parameters
    ----------
    client : Client
        A client of the service.
    world : Synthetic
        The world. Its label i is the i-th label of the service.
    rounds : int
        How many rounds are played.
    slots : int, optional
        The most labels to show in a round. By default there is no limit.
    first : int
        The number of the first round in the world.
    progress : bool, callable or None
        Show a bar; by default if there is a terminal. A function is called with the rounds played.

    Raises
    ------
    InputError
        If the world has another number of features or labels than the service, or the service has
        features that are not numbers, or a cost that was written in Python.
    """
    service = ServicePlayer(client)
    if len(service.names) != world.n_labels or service.n_features != world.n_features:
        raise InputError(
            f"the world has {world.n_features} features and {world.n_labels} labels, "
            f"the service {service.n_features} and {len(service.names)}"
        )
    limits = [slots] * whole_number("rounds", rounds, least=0)
    return play_rounds(service, world, limits, first=first, progress=progress)


class ServiceSlate(NamedTuple):
    """A decision of the service, with the numbers of its labels in the world."""

    decision: Any  # the client's slate
    labels: list[int]


class ServicePlayer:
    """A service as a `LearningPlayer`: translates the world's numbers into the service's names."""

    full_information = False

    def __init__(self, client: Client) -> None:
        state = client.state()
        self.client, self.names = client, client.labels
        _check_features(state)
        self.n_features: int = state["n_features"]
        self.feature_names: list[str] | None = state["feature_names"]
        self.a, self.cost = float(state["settings"]["a"]), _cost(state["settings"]["cost"])
        self._number = {name: i for i, name in enumerate(self.names)}

    def rank(self, x: Floats, slots: int | None = None) -> ServiceSlate:
        names = self.feature_names
        context = x if names is None else dict(zip(names, x.tolist(), strict=True))
        slate = self.client.rank(context, slots)
        return ServiceSlate(slate, [self._number[label] for label in slate.labels])

    def learn(self, slate: ServiceSlate, clicked: list[int]) -> None:
        self.client.learn(slate.decision, [self.names[i] for i in clicked])


def _check_features(state: dict[str, Any]) -> None:
    """Refuse a service with features that are not numbers: a world has no others."""
    for one in state.get("features") or []:  # older services do not tell
        if one["kind"] != "number":
            what = (
                "hashed features" if one["name"] is None else f"the {one['kind']} {one['name']!r}"
            )
            raise InputError(f"the service has {what}, but a world's features are numbers")


def _cost(data: dict[str, Any]) -> Costs:
    """The service's cost, from its settings as JSON."""
    if data["is"] == "your own":
        raise InputError(
            f"the service has a cost that was written in Python, {data.get('name')!r}: regret can "
            "be measured only with decreasing or constant costs, or a table"
        )
    cost: Costs = decode({"cost": data}, {})["cost"]
    return cost
