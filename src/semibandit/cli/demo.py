"""`semibandit demo`: the quickest look, in a world whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semibandit._util.progress import progress_bar
from semibandit.cli.demo_service import serve_demo
from semibandit.cli.errors import reporting_errors
from semibandit.cli.output import print_line, print_table
from semibandit.errors import InputError
from semibandit.experiments import demo as demos
from semibandit.policies.spec import WORDS

__all__ = ["demo"]

TABLE, SERVICE = "The table", "The service (--serve)"


def demo(
    context: typer.Context,
    serve: Annotated[
        bool,
        typer.Option(
            "--serve",
            help="Run a service with a simulated shop's visitors on it, and a page on which you "
            "play a visitor yourself, until Ctrl-C.",
        ),
    ] = False,
    rounds: Annotated[
        int, typer.Option(min=2, help="Rounds to play.", rich_help_panel=TABLE)
    ] = 4000,
    seeds: Annotated[
        int,
        typer.Option(min=1, help="Worlds to play them in, one per seed.", rich_help_panel=TABLE),
    ] = 3,
    labels: Annotated[
        int, typer.Option(min=1, help="How many labels can be shown (K).", rich_help_panel=TABLE)
    ] = 20,
    features: Annotated[
        int, typer.Option(min=2, help="Features of a context (d).", rich_help_panel=TABLE)
    ] = 10,
    density: Annotated[
        float,
        typer.Option(help="How likely a label is relevant, on average.", rich_help_panel=TABLE),
    ] = 0.1,
    slots: Annotated[
        int,
        typer.Option(min=1, help="The most labels shown in a round (S).", rich_help_panel=TABLE),
    ] = 3,
    width: Annotated[
        str,
        typer.Option(help=f"How much SlateUCB explores: {WORDS['width']}.", rich_help_panel=TABLE),
    ] = demos.DemoSettings.width,
    out: Annotated[
        Path,
        typer.Option(help="Folder for the table, the numbers and the plot.", rich_help_panel=TABLE),
    ] = Path("semibandit-demo"),
    seed: Annotated[
        int, typer.Option(min=0, help="The first seed; with --serve, the one of the shop.")
    ] = 0,
    visitors_per_second: Annotated[
        float,
        typer.Option(
            min=0, help="Simulated visits in a second; 0 for none.", rich_help_panel=SERVICE
        ),
    ] = 40.0,
    store: Annotated[
        Path | None,
        typer.Option(
            help="A folder for what it learns. Without it, a temporary folder, which is removed "
            "at the end.",
            rich_help_panel=SERVICE,
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen on: 0.0.0.0 to play on a phone in the same network. The "
            "link that is printed then has a key.",
            rich_help_panel=SERVICE,
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="0 takes a free one.", rich_help_panel=SERVICE)
    ] = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A name besides localhost by which browsers reach it: laptop.local. Addresses "
            "need none. May be repeated.",
            metavar="NAME",
            rich_help_panel=SERVICE,
        ),
    ] = None,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser.", rich_help_panel=SERVICE)
    ] = False,
) -> None:
    """See it learn: as a table, or with --serve as a running service that you can play with.

    The table: SlateUCB against Greedy, Random, OBR and Bayes in a synthetic world. Every learner
    meets the same contexts and answers. Regret is exact: the expected loss of what was shown, less
    that of the best slate. A learner that learns has regret(T)/regret(T/2) falling towards 1.41 or
    less; one that stopped learning stays near 2.

    The service: a shop of 30 items and its regular visitors, who come through the HTTP API and
    whose tastes the learner finds out. You are one more visitor: http://127.0.0.1:8000/demo
    """
    with reporting_errors("demo"):
        _check_options(context, serve)
        if serve:
            serve_demo(
                seed=seed, per_second=visitors_per_second, store=store, host=host, port=port,
                allow_hosts=allow_host or (), open_browser=open_browser,
            )  # fmt: skip
            return
        settings = demos.DemoSettings(features, labels, density, slots, width, rounds, seeds, seed)
        out.mkdir(parents=True, exist_ok=True)  # before the work, not after it
        names = demos.players(settings, demos.world(settings, seed))
        with progress_bar(len(names) * seeds * rounds, "rounds") as advance:
            plays = demos.run(settings, advance)
        written = demos.write(settings, plays, out)
    _show(settings, demos.summarise(plays))
    for path in written:
        print_line(f"wrote {path}")
    if not any(path.suffix == ".png" for path in written):
        print_line("no plot: matplotlib is not installed (pip install 'semibandit[plot]')")


def _check_options(context: typer.Context, serve: bool) -> None:
    """Refuse options of the one demo that were given to the other."""
    for option in context.command.params:
        panel = getattr(option, "rich_help_panel", None)
        source = context.get_parameter_source(option.name or "")
        if panel != (TABLE if serve else SERVICE) or source is None or source.name == "DEFAULT":
            continue
        name = option.opts[0]
        raise InputError(f"{name} does not go with --serve" if serve else f"{name} needs --serve")


def _show(settings: demos.DemoSettings, rows: list[demos.Row]) -> None:
    print_table(
        demos.COLUMNS,
        [row.cells for row in rows],
        title=f"{settings.labels} labels, {settings.slots} slots, {settings.rounds} rounds, "
        f"mean of {settings.seeds} seed{'s' if settings.seeds > 1 else ''}",
        caption="OBR is told every relevant label, Bayes knows the truth. growth is "
        "regret(T)/regret(T/2): about 2 has stopped learning, 1.41 or less keeps learning.",
    )
