"""`semibandit export`, `replay-log`, `simulate`: what to do with a service from outside."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from semibandit.cli.errors import said
from semibandit.cli.serve import HERE
from semibandit.errors import InputError

__all__ = ["add_to"]

HARDLY = 0.1  # labels shown in a round of a simulation, on average


def add_to(app: typer.Typer) -> None:
    """Give the command line these commands."""
    app.command()(export)
    app.command("replay-log")(replay_log)
    app.command()(simulate)


def export(
    out: Annotated[Path, typer.Argument(help="The file to write: .jsonl or .parquet.")],
    store: Annotated[str, typer.Option(help="A folder, or postgresql://...")] = HERE,
) -> None:
    """Write the log of a service to one file; the service may be running."""
    from semibandit.store.export import write_log
    from semibandit.store.store import Store

    with said("export"), Store(store, write=False) as opened:
        typer.echo(f"wrote {write_log(opened, out)} events to {out}")


def replay_log(
    log: Annotated[str, typer.Argument(help="A file of `semibandit export`, or a store.")],
    learner: Annotated[str | None, typer.Option(help="Another learner.")] = None,
    model: Annotated[str | None, typer.Option(help="Another model: full | diagonal.")] = None,
    alpha: Annotated[float | None, typer.Option(help="How much to explore.")] = None,
    a: Annotated[float | None, typer.Option(help="What a missed label weighs.")] = None,
    bias: Annotated[bool | None, typer.Option("--bias/--no-bias")] = None,
    seed: Annotated[int | None, typer.Option()] = None,
    save: Annotated[Path | None, typer.Option(help="Write the learner to this file.")] = None,
) -> None:
    """Learn a service's log again, in another configuration or in its own.

    It learns from what was shown then. The Brier score says how well each answer was foretold
    before it was learned: smaller is better.
    """
    told = {"learner": learner, "model": model, "alpha": alpha, "a": a, "bias": bias, "seed": seed}
    changed = {key: value for key, value in told.items() if value is not None}
    with said("replay-log"):
        from semibandit._util.blas import one_thread
        from semibandit.evaluation.replay_log import replay_log as replay

        one_thread()
        found = replay(log, _configured(log, changed) if changed else None)
        if save is not None:
            found.learner.save(save)
    table = Table("learner", "events", "passed over", "click rate", "expected", "Brier score")
    expected = found.expected / max(found.labels, 1)
    table.add_row(
        type(found.learner).__name__,
        f"{found.events:,}",
        f"{found.passed_over:,}",
        f"{found.rate:.2%}",
        f"{expected:.2%}",
        f"{found.brier:.4f}",
    )
    Console().print(table)


def _configured(log: str, changed: dict[str, Any]) -> Any:
    """A fresh learner as the log's, but for what was changed."""
    from semibandit.service.config import Shape
    from semibandit.store.export import open_log

    with open_log(log) as opened:
        about = opened.about
    if "start_from" in about:
        raise InputError("this log began with a learner made in Python: change it there")
    names = Shape.__dataclass_fields__
    return Shape(**{key: value for key, value in about.items() if key in names} | changed).make()[0]


def simulate(
    url: Annotated[str, typer.Argument(help="Where the service is, http://127.0.0.1:8000.")],
    rounds: Annotated[int, typer.Option(min=2, help="Rounds to play.")] = 1000,
    slots: Annotated[int, typer.Option(min=1, help="The most labels shown in a round.")] = 3,
    density: Annotated[
        float, typer.Option(help="How likely a label is relevant, on average.")
    ] = 0.1,
    seed: Annotated[int, typer.Option(min=0, help="Of the world.")] = 0,
    first: Annotated[int, typer.Option(min=0, help="The round to begin with.")] = 0,
    api_key: Annotated[
        str | None, typer.Option(envvar="SEMIBANDIT_API_KEY", help="The service's key.")
    ] = None,
) -> None:
    """Play a synthetic world against a running service, and show its exact regret.

    The service learns from it for good: let it be one for trying. Regret that grows by less than
    twice while the rounds double is learning.
    """
    from semibandit.client import Client
    from semibandit.evaluation import simulate as simulating

    with said("simulate"), Client(url, api_key) as client:
        world = simulating.world_for(client, density, seed)
        start = time.monotonic()
        result = simulating.simulate(client, world, rounds, slots, first=first)
        seconds = time.monotonic() - start
    trace, regret = result.trace, result.regret
    half = float(regret[rounds // 2 - 1])
    table = Table("rounds", "per second", "precision", "slate size", "regret", "growth")
    table.add_row(
        f"{rounds:,}",
        f"{rounds / seconds:.0f}",
        f"{trace.precision:.1%}",
        f"{trace.sizes.mean():.2f}",
        f"{float(regret[-1]):.1f}",
        f"{float(regret[-1]) / half:.2f}" if half > 0 else "",
    )
    Console().print(table)
    if trace.sizes.mean() < HARDLY:
        Console().print(
            "Hardly anything was shown: too little is relevant in this world (--density), or the "
            "service has learned elsewhere that nothing is. A new service would tell."
        )
