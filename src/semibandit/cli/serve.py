"""`semibandit serve`: a learner as a service."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from semibandit.cli.errors import reporting_errors
from semibandit.cli.options import (
    FEATURE_WORDS,
    ApiKey,
    AtLeast,
    Bias,
    Cost,
    Forget,
    Learner,
    Loss,
    Model,
    Probe,
    Project,
    Scale,
    Seed,
    ServedA,
    Width,
    learner_words,
    read_features,
    read_lines,
)
from semibandit.errors import InputError, MissingExtra

__all__ = ["DEFAULT_STORE", "serve"]

DEFAULT_STORE = "semibandit-store"


def serve(
    context: typer.Context,
    store: Annotated[
        str, typer.Option(help="A folder (SQLite), or postgresql://user:password@host/database.")
    ] = DEFAULT_STORE,
    features: Annotated[
        str | None,
        typer.Option(
            help="How many numbers a context has; or its features by name, "
            f"{FEATURE_WORDS}; or @FILE with one feature a line."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="How many labels, their names: a,b,c, or @FILE with one a line."),
    ] = None,
    learner: Learner = None,
    loss: Loss = None, model: Model = None, width: Width = None, cost: Cost = None,
    a: ServedA = None, scale: Scale = None, bias: Bias = None, project: Project = None,
    probe: Probe = None, at_least: AtLeast = None, forget: Forget = None, seed: Seed = None,
    start_from: Annotated[
        Path | None,
        typer.Option(help="A learner that was saved in Python, in place of --labels to --seed."),
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
    api_key: ApiKey = None,
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
) -> None:  # fmt: skip
    """Serve a learner over HTTP: rank, feedback, a page to watch it learn.

    Features and labels are needed once, when the store is made, and so is what the learner is made
    with (--learner to --seed); afterwards `semibandit serve` with the same store goes on where it
    stopped, however it stopped. Every learner but OBR can be served.
    """
    with reporting_errors("serve"):
        try:
            from semibandit.service import serve as service
            from semibandit.service.config import StoreConfig
            from semibandit.service.settings import Limits, Settings
        except ModuleNotFoundError as why:
            raise MissingExtra(
                f"{why.name} is not installed: pip install 'semibandit[service]'", name=why.name
            ) from None
        limits = Limits(body=max_body, slots=max_slots, labels=max_labels, queue=max_waiting)
        settings = Settings(wait, snapshot_every, api_key, read_key, limits)
        words = learner_words(context)
        config = StoreConfig(
            features=read_features(features),
            labels=_count_or_names(labels),
            learner=words,
            start_from=None if start_from is None else str(start_from),
        )
        with suppress(KeyboardInterrupt):  # Ctrl-C is how one stops it
            service.serve(store, config, settings, host, port, lambda text: typer.echo(text))


def _count_or_names(text: str | None) -> Any:
    """A number, names by commas, or @FILE with a name in each line."""
    if text is None:
        return None
    if text.startswith("@"):
        return read_lines(text, "labels")
    if text.isdecimal():
        return int(text)
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise InputError(f"--labels = {text!r} has an empty name")
    return names
