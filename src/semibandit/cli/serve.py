"""`semibandit serve`: a learner as a service."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from semibandit.cli.errors import said
from semibandit.errors import InputError

__all__ = ["add_to"]

HERE = "semibandit-store"


def add_to(app: typer.Typer) -> None:
    """Give the command line its commands of the service."""
    app.command()(serve)


def serve(
    store: Annotated[
        str, typer.Option(help="A folder (SQLite), or postgresql://user:password@host/database.")
    ] = HERE,
    features: Annotated[
        str | None, typer.Option(help="How many numbers a context has, or their names: a,b,c.")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="How many labels, their names: a,b,c, or @FILE with one a line."),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help="SlateUCB (if nothing is said), Thompson, Greedy, EpsilonGreedy, Random."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="full (if nothing is said) or diagonal.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="How much to explore; 0.25 if nothing is said.")
    ] = None,
    a: Annotated[
        float | None,
        typer.Option(
            help="What a missed label weighs, 0 to 1; else 0.5. A label is shown from a chance of "
            "about 1 - a on: where clicks are rare, say 0.95; 1 fills all slots."
        ),
    ] = None,
    bias: Annotated[
        bool | None,
        typer.Option(
            "--bias/--no-bias", help="Add a constant feature; it is added if nothing is said."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of all that is drawn; else 0.")] = None,
    start_from: Annotated[
        Path | None,
        typer.Option(help="A learner that was saved in Python, in place of the options above."),
    ] = None,
    wait: Annotated[
        float | None,
        typer.Option(
            help="Seconds after which a decision without feedback counts as nothing clicked. "
            "Without it, such a decision is not learned, and feedback may come at any time."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    api_key: Annotated[
        str | None,
        typer.Option(envvar="SEMIBANDIT_API_KEY", help="Needed for everything, if there is one."),
    ] = None,
    read_key: Annotated[
        str | None,
        typer.Option(envvar="SEMIBANDIT_READ_KEY", help="A second key that may only look."),
    ] = None,
    snapshot_every: Annotated[
        int, typer.Option(help="Events learned between snapshots of the learner.")
    ] = 5000,
    max_body: Annotated[int, typer.Option(min=1, help="Bytes of a request.")] = 1 << 20,
    max_slots: Annotated[int, typer.Option(min=1, help="Slots of a request.")] = 1000,
    max_labels: Annotated[int, typer.Option(min=1, help="Labels of the learner.")] = 100_000,
    max_waiting: Annotated[
        int, typer.Option(min=1, help="Requests that may wait; more are told to come again.")
    ] = 1024,
) -> None:
    """Serve a learner over HTTP: rank, feedback, a page to watch it learn.

    Features and labels are needed once, when the store is made; afterwards `semibandit serve` with
    the same store goes on where it stopped, however it stopped.
    """
    with said("serve"):
        try:
            from semibandit.service import serve as service
            from semibandit.service.config import Shape
            from semibandit.service.settings import Limits, Settings
        except ImportError as why:
            raise InputError(
                f"{why.name} is not installed: pip install 'semibandit[service]'"
            ) from None
        limits = Limits(body=max_body, slots=max_slots, labels=max_labels, queue=max_waiting)
        settings = Settings(wait, snapshot_every, api_key, read_key, limits)
        shape = Shape(
            features=_count_or_names(features, "features"),
            labels=_count_or_names(labels, "labels"),
            learner=learner,
            model=model,
            alpha=alpha,
            a=a,
            bias=bias,
            seed=seed,
            start_from=None if start_from is None else str(start_from),
        )
        with suppress(KeyboardInterrupt):  # Ctrl-C is how one stops it
            service.serve(store, shape, settings, host, port, lambda text: typer.echo(text))


def _count_or_names(text: str | None, what: str) -> Any:
    """7, or a,b,c, or @FILE."""
    if text is None:
        return None
    if text.startswith("@"):
        names = Path(text[1:]).read_text(encoding="utf-8").splitlines()
        return [name.strip() for name in names if name.strip()]
    if text.isdigit():
        return int(text)
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise InputError(f"--{what} = {text!r} has an empty name")
    return names
