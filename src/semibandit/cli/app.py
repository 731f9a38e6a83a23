"""The command line: a thin shell around the library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import semibandit
from semibandit._util.progress import progress_bar
from semibandit.cli import log as log_cli
from semibandit.cli import serve as serve_cli
from semibandit.cli.data import data
from semibandit.cli.errors import said
from semibandit.cli.replay import Address, Backend, Jobs, replay, sweep, tune
from semibandit.data.catalogue import SOURCE
from semibandit.experiments import demo as demos
from semibandit.experiments.paper.options import ReproduceOptions
from semibandit.experiments.paper.report import write_report
from semibandit.experiments.paper.running import run_experiments

app = typer.Typer(
    name="semibandit",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Learn which items to show, in which order and how many, from feedback on what was shown.",
)
app.add_typer(data, name="data")
app.command()(replay)
app.command()(tune)
app.command()(sweep)
serve_cli.add_to(app)
log_cli.add_to(app)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"semibandit {semibandit.__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Learn which items to show, in which order and how many, from feedback on what was shown."""


@app.command()
def reproduce(
    sets: Annotated[
        str,
        typer.Option(help="Figures for these sets: mediamill, sony-like, delicious, by commas."),
    ] = ",".join(ReproduceOptions.sets),
    prices: Annotated[
        str, typer.Option(help="The price of partial feedback on these sets, or `all`.")
    ] = ",".join(ReproduceOptions.price_sets),
    width: Annotated[
        str, typer.Option(help="SlateUCB's width in the figures: scaled:ALPHA, known:U, unknown.")
    ] = ReproduceOptions.width,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds for widths, prices and the lab.")] = (
        ReproduceOptions.seeds
    ),
    lab_rounds: Annotated[int, typer.Option(min=20, help="Rounds of the regret lab.")] = (
        ReproduceOptions.lab_rounds
    ),
    out: Annotated[
        Path, typer.Option(help="Folder for the report; a stopped run goes on there.")
    ] = Path("semibandit-report"),
    backend: Backend = "local",
    address: Address = None,
    jobs: Jobs = None,
) -> None:
    """The paper's experiments on real data, written down in one report.

    Fetches Mediamill (once), replays it as partial feedback with each method of the paper's
    section 5, sets widths against each other, prices partial feedback on several data sets, and
    measures exact regret against the bounds of the theorems. Without a network it says so, and
    uses a synthetic world of Mediamill's shape.

    Writes report.html (one file, needs nothing else), results.json (every number), figures/ and
    runs/. What is in runs/ is not run again: delete the folder to start anew.
    """
    console = Console(stderr=True)
    with said("reproduce"):
        named = [known.name for known in SOURCE.sets] if prices == "all" else _commas(prices)
        options = ReproduceOptions(
            _commas(sets), named, width, seeds, lab_rounds, backend, address, jobs
        )
        options.check()
        out.mkdir(parents=True, exist_ok=True)
        results = run_experiments(
            options, out, lambda text: console.print(text, highlight=False, soft_wrap=True)
        )
        write_report(results, out)
    held = sum(finding.holds for finding in results.findings)
    seconds = sum(results.seconds.values())
    total = len(results.findings)
    typer.echo(f"{held} of {total} statements of the paper hold in this run ({seconds:.0f} s)")
    typer.echo(f"wrote {out / 'report.html'}, {out / 'results.json'}, {out / 'figures'}")


def _commas(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


@app.command()
def demo(
    rounds: Annotated[int, typer.Option(min=2, help="Rounds to play.")] = 4000,
    seeds: Annotated[int, typer.Option(min=1, help="Worlds to play them in, one per seed.")] = 3,
    labels: Annotated[int, typer.Option(min=1, help="How many labels can be shown (K).")] = 20,
    features: Annotated[int, typer.Option(min=2, help="Features of a context (d).")] = 10,
    density: Annotated[
        float, typer.Option(help="How likely a label is relevant, on average.")
    ] = 0.1,
    slots: Annotated[int, typer.Option(min=1, help="The most labels shown in a round (S).")] = 3,
    alpha: Annotated[
        float, typer.Option(help="How much SlateUCB explores: the alpha of Scaled(alpha).")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    out: Annotated[
        Path, typer.Option(help="Folder for the table, the numbers and the plot.")
    ] = Path("semibandit-demo"),
) -> None:
    """Play SlateUCB against Greedy, Random, OBR and Bayes in a synthetic world.

    Every learner meets the same contexts and answers. Regret is exact: the expected loss of what
    was shown, less that of the best slate. A learner that learns has regret(T)/regret(T/2) falling
    towards 1.41 or less; one that stopped learning stays near 2.
    """
    settings = demos.DemoSettings(features, labels, density, slots, alpha, rounds, seeds, seed)
    console = Console()
    with said("demo"):
        out.mkdir(parents=True, exist_ok=True)  # before the work, not after it
        names = demos.players(settings, demos.world(settings, seed))
        with progress_bar(len(names) * seeds * rounds, "rounds") as advance:
            plays = demos.run(settings, advance)
        written = demos.write(settings, plays, out)
    console.print(_table(settings, demos.summarise(plays)))
    for path in written:
        console.print(f"wrote {path}", highlight=False)
    if not any(path.suffix == ".png" for path in written):
        console.print(
            "no plot: matplotlib is not installed (pip install 'semibandit[plot]')", markup=False
        )


def _table(settings: demos.DemoSettings, rows: list[demos.Row]) -> Table:
    table = Table(
        title=f"{settings.labels} labels, {settings.slots} slots, {settings.rounds} rounds, "
        f"mean of {settings.seeds} seed{'s' if settings.seeds > 1 else ''}",
        caption="OBR is told every relevant label, Bayes knows the truth. growth is "
        "regret(T)/regret(T/2): about 2 has stopped learning, 1.41 or less keeps learning.",
    )
    for name in demos.COLUMNS:
        learner = name == "learner"
        table.add_column(name, justify="left" if learner else "right", no_wrap=learner)
    for row in rows:
        table.add_row(*row.cells)
    return table
