"""`semibandit demo`: the quickest look, in a world whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from semibandit._util.progress import progress_bar
from semibandit.cli.errors import reporting_errors
from semibandit.cli.output import print_line, print_table
from semibandit.experiments import demo as demos
from semibandit.policies.spec import WORDS

__all__ = ["demo"]


def demo(
    rounds: Annotated[int, typer.Option(min=2, help="Rounds to play.")] = 4000,
    seeds: Annotated[int, typer.Option(min=1, help="Worlds to play them in, one per seed.")] = 3,
    labels: Annotated[int, typer.Option(min=1, help="How many labels can be shown (K).")] = 20,
    features: Annotated[int, typer.Option(min=2, help="Features of a context (d).")] = 10,
    density: Annotated[
        float, typer.Option(help="How likely a label is relevant, on average.")
    ] = 0.1,
    slots: Annotated[int, typer.Option(min=1, help="The most labels shown in a round (S).")] = 3,
    width: Annotated[
        str, typer.Option(help=f"How much SlateUCB explores: {WORDS['width']}.")
    ] = demos.DemoSettings.width,
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
    settings = demos.DemoSettings(features, labels, density, slots, width, rounds, seeds, seed)
    with reporting_errors("demo"):
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


def _show(settings: demos.DemoSettings, rows: list[demos.Row]) -> None:
    print_table(
        demos.COLUMNS,
        [row.cells for row in rows],
        title=f"{settings.labels} labels, {settings.slots} slots, {settings.rounds} rounds, "
        f"mean of {settings.seeds} seed{'s' if settings.seeds > 1 else ''}",
        caption="OBR is told every relevant label, Bayes knows the truth. growth is "
        "regret(T)/regret(T/2): about 2 has stopped learning, 1.41 or less keeps learning.",
    )
