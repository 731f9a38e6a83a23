"""`semibandit sweep`: every setting of a grid, with every seed."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer

from semibandit._util.checks import nearest, shortened
from semibandit._util.csv_file import write_csv
from semibandit.cli.errors import reporting_errors
from semibandit.cli.options import Address, Backend, Jobs
from semibandit.cli.output import print_line, print_table
from semibandit.errors import FileError, MissingFile, UnknownKeyword
from semibandit.experiments.setting import Setting, run
from semibandit.experiments.sweep import grid
from semibandit.experiments.sweep import sweep as run_all

__all__ = ["sweep"]


def sweep(
    plan: Annotated[Path, typer.Argument(help="A TOML file with tables `setting` and `grid`.")],
    out: Annotated[
        Path, typer.Option(help="Folder for the results; a stopped sweep goes on there.")
    ] = Path("semibandit-sweep"),
    backend: Backend = "local",
    address: Address = None,
    jobs: Jobs = None,
) -> None:
    """Run every setting of a grid, with every seed, on all cores or a cluster.

    The file has a table `setting` of what all runs share (data = "mediamill", slots = 10) and a
    table `grid` of lists (width = ["scaled:0.1", "scaled:1"], seed = [0, 1, 2]): every way to
    choose one of each is a run. The keys are the options of `semibandit replay`.

    Results go to results.csv. Each run is kept as soon as it is done: nothing is run twice.
    """
    with reporting_errors("sweep"):
        runs = _read_plan(plan)
        out.mkdir(parents=True, exist_ok=True)
        results = run_all(
            run, runs, folder=out / "runs", backend=backend, address=address, jobs=jobs
        )
        _write_results(out / "results.csv", runs, results)
        varied = [key for key in runs[0] if len({json.dumps(one[key]) for one in runs}) > 1]
        print_table(
            [*varied, "loss ac", "precision", "slate size"],
            [
                (
                    *(str(one[key]) for key in varied),
                    f"{result['ac']:.4f}",
                    f"{result['precision']:.1%}",
                    f"{result['size']:.2f}",
                )
                for one, result in zip(runs, results, strict=True)
            ],
            words=len(varied),
        )
        print_line(f"wrote {out / 'results.csv'}")


def _read_plan(path: Path) -> list[dict[str, Any]]:
    """The settings of all runs."""
    try:
        plan = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingFile(f"there is no file {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as why:
        raise FileError(f"{path} is not TOML: {why}") from None
    for key in plan:
        if key not in ("setting", "grid"):
            hint = nearest(key, ["setting", "grid"])
            raise UnknownKeyword(f"{path}: [{key}] is unknown; there is [setting] and [grid]{hint}")
    for key, table in plan.items():
        if not isinstance(table, dict):
            raise FileError(f"{path}: {key} = {shortened(table)}, but it must be a table [{key}]")
    shared = plan.get("setting", {})
    for key, choices in plan.get("grid", {}).items():
        if isinstance(choices, list) and not choices:
            raise FileError(f"{path}: {key} = [] in [grid], but it needs at least one choice")
    return [Setting.from_dict({**shared, **one}).json() for one in grid(**plan.get("grid", {}))]


def _write_results(path: Path, runs: list[dict[str, Any]], results: list[dict[str, Any]]) -> None:
    """A row per run: its settings, and every result that is one number."""
    numbers = [key for key, value in results[0].items() if not isinstance(value, list)]
    rows = (
        [*one.values(), *(result[key] for key in numbers)]
        for one, result in zip(runs, results, strict=True)
    )
    write_csv(path, [*runs[0], *numbers], rows)
