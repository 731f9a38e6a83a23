"""Simulate: a world whose truth is known, played against a running service."""

from __future__ import annotations

from typing import Any

import numpy as np

from semibandit._util.progress import Show, progress_of
from semibandit.client import Client
from semibandit.errors import InputError
from semibandit.evaluation.play import Play
from semibandit.evaluation.trace import Recorder
from semibandit.theory.cost import Costs, constant, decreasing
from semibandit.worlds.synthetic import Synthetic

__all__ = ["simulate", "world_of"]


def world_of(client: Client, density: float | None = 0.1, seed: int = 0) -> Synthetic:
    """A world with as many features and labels as the service has."""
    state = client.state()
    return Synthetic(state["n_features"], state["n_labels"], density=density, seed=seed)


def simulate(
    client: Client,
    world: Synthetic,
    rounds: int,
    slots: int | None = None,
    *,
    first: int = 0,
    progress: Show = None,
) -> Play:
    """Let the service play rounds of the world, with exact regret in its own loss.

    The world's label i is the i-th label of the service. The service keeps what it learns: its
    store should be one for trying.
    """
    state, names = client.state(), client.labels
    if len(names) != world.n_labels or state["n_features"] != world.n_features:
        raise InputError(
            f"the world has {world.n_features} features and {world.n_labels} labels, "
            f"the service {state['n_features']} and {len(names)}"
        )
    a, cost = float(state["settings"]["a"]), _cost(state["settings"]["cost"])
    number = {name: i for i, name in enumerate(names)}
    features = state["feature_names"]
    record = Recorder(world.n_labels, a, cost)
    expected, best = np.empty(rounds), np.empty(rounds)
    with progress_of(rounds, "rounds", progress) as advance:
        for i in range(rounds):
            t = first + i
            x = world.context(t)
            relevant = world.relevant(t, x)
            asked = x if features is None else dict(zip(features, x.tolist(), strict=True))
            slate = client.rank(asked, slots)
            shown = np.array([number[label] for label in slate.labels], dtype=np.intp)
            hit = np.isin(shown, relevant)
            client.learn(slate, [names[j] for j in shown[hit].tolist()])
            target = world.best("ac", x, a=a, cost=cost, slots=slots)
            expected[i] = world.expected("ac", x, shown, a=a, cost=cost, slots=slots)
            best[i] = world.expected("ac", x, target, a=a, cost=cost, slots=slots)
            record.add(
                shown[None, :],
                hit[None, :],
                np.array([len(shown)]),
                np.array([len(relevant)]),
                np.array([world.n_labels if slots is None else slots]),
            )
            advance(1)
    return Play(record.trace(), expected, best, None)


def _cost(told: dict[str, Any]) -> Costs:
    if told["is"] == "table":
        return Costs(told["rows"])
    if told["is"] not in ("decreasing", "constant"):
        raise InputError(f"the service has a cost of its own, {told.get('name')!r}")
    return Costs(decreasing if told["is"] == "decreasing" else constant)
