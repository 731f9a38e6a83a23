"""`semibandit reproduce`: the paper's experiments, in one report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from semibandit.cli.errors import reporting_errors
from semibandit.cli.options import Address, Backend, Jobs
from semibandit.data.catalogue import SOURCE
from semibandit.errors import InputError
from semibandit.experiments.paper.options import ReproduceOptions
from semibandit.experiments.paper.report import write_report
from semibandit.experiments.paper.running import run_experiments
from semibandit.policies.spec import WORDS

__all__ = ["reproduce"]

_default = ReproduceOptions()


def reproduce(
    sets: Annotated[
        str,
        typer.Option(
            help="Figures for these sets, by commas, such as mediamill, delicious-98, tags-world."
        ),
    ] = ",".join(_default.sets),
    prices: Annotated[
        str, typer.Option(help="The price of partial feedback on these sets, or `all`.")
    ] = ",".join(_default.price_sets),
    width: Annotated[
        str, typer.Option(help=f"SlateUCB's width in the figures: {WORDS['width']}.")
    ] = _default.width,
    seeds: Annotated[
        str,
        typer.Option(
            help="Seeds of each learner, and orders of the data: of each set, by commas. The last "
            "number holds for further sets. Verdicts take ten or more: --seeds 10."
        ),
    ] = ",".join(map(str, _default.seeds)),
    lab_rounds: Annotated[int, typer.Option(min=20, help="Rounds of the regret lab.")] = (
        _default.lab_rounds
    ),
    out: Annotated[
        Path, typer.Option(help="Folder for the report; a stopped run goes on there.")
    ] = Path("semibandit-report"),
    backend: Backend = "local",
    address: Address = None,
    jobs: Jobs = None,
) -> None:
    """Run the paper's experiments on real data, and write one report.

    Fetches Mediamill and Delicious (once), replays them as partial feedback with each method of the
    paper's section 5, and a synthetic world of the size of Sony's data; sets widths against each
    other, prices partial feedback on several data sets, and measures exact regret against the
    bounds of the theorems. Without a network it says so, and uses a synthetic world of Mediamill's
    shape.

    Writes report.html (one file, needs nothing else), results.json (every number), figures/ and
    runs/. What is in runs/ is not run again: delete the folder to start anew.
    """
    console = Console(stderr=True)
    with reporting_errors("reproduce"):
        named = [entry.name for entry in SOURCE.sets] if prices == "all" else _commas(prices)
        options = ReproduceOptions(
            _commas(sets), named, width, _numbers(seeds), lab_rounds, backend, address, jobs
        )
        options.check()
        out.mkdir(parents=True, exist_ok=True)
        results = run_experiments(
            options, out, lambda text: console.print(text, highlight=False, soft_wrap=True)
        )
        write_report(results, out)
    typer.echo(f"{sum(results.seconds.values()):.0f} s")
    typer.echo(f"wrote {out / 'report.html'}, {out / 'results.json'}, {out / 'figures'}")


def _commas(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in _commas(text)]
    except ValueError:
        raise InputError(f"--seeds has {text!r}, expected numbers such as 3,2") from None
