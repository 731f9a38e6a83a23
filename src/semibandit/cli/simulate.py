"""`semibandit simulate`: a world whose truth is known, played against a running service."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from semibandit.cli.errors import reporting_errors
from semibandit.cli.options import ApiKey
from semibandit.cli.output import print_line, print_table

__all__ = ["simulate"]

HARDLY = 0.1  # labels shown in a round of a simulation, on average


def simulate(
    url: Annotated[str, typer.Argument(help="Where the service is, http://127.0.0.1:8000.")],
    rounds: Annotated[int, typer.Option(min=2, help="Rounds to play.")] = 1000,
    slots: Annotated[int, typer.Option(min=1, help="The most labels shown in a round.")] = 3,
    density: Annotated[
        float, typer.Option(help="How likely a label is relevant, on average.")
    ] = 0.1,
    seed: Annotated[int, typer.Option(min=0, help="Of the world.")] = 0,
    first: Annotated[int, typer.Option(min=0, help="The round to begin with.")] = 0,
    api_key: ApiKey = None,
) -> None:
    """Play a synthetic world against a running service, and show its exact regret.

    The service learns from it for good: let it be one for trying. Regret that grows by less than
    twice while the rounds double is learning.
    """
    from semibandit.client import Client
    from semibandit.evaluation import simulate as simulating

    with reporting_errors("simulate"), Client(url, api_key) as client:
        world = simulating.world_for(client, density, seed)
        start = time.monotonic()
        result = simulating.simulate(client, world, rounds, slots, first=first)
        seconds = time.monotonic() - start
    trace, regret = result.trace, result.regret
    half = float(regret[rounds // 2 - 1])
    print_table(
        ("rounds", "per second", "precision", "slate size", "regret", "growth"),
        [
            (
                f"{rounds:,}",
                f"{rounds / seconds:.0f}",
                f"{trace.precision:.1%}",
                f"{trace.sizes.mean():.2f}",
                f"{float(regret[-1]):.1f}",
                f"{float(regret[-1]) / half:.2f}" if half > 0 else "",
            )
        ],
        words=0,
    )
    if trace.sizes.mean() < HARDLY:
        print_line(
            "Hardly anything was shown: too little is relevant in this world (--density), or the "
            "service has learned elsewhere that nothing is. A new service would tell."
        )
