"""`python -m benchmarks.quality`: how well we learn, on one page, with JSON and plots."""

from __future__ import annotations

import json
import os
import platform
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # one BLAS thread, before numpy is imported

import typer
from rich.console import Console

from benchmarks import peers
from benchmarks.quality import page, plots, sets, shop_runs, synthetic
from benchmarks.quality.settings import SETTINGS
from semibandit._util.version import __version__

RESULTS = Path(__file__).parents[1] / "results"
RUN = {"sets": sets.run, "shop": shop_runs.run, "peers": synthetic.run}
say = partial(Console(stderr=True).print, soft_wrap=True, highlight=False)


class Part(StrEnum):
    """A part of the page."""

    sets = "sets"
    shop = "shop"
    peers = "peers"


def run(task: dict[str, Any]) -> dict[str, Any]:
    """One run, in a process of the pool; its record is the task and what was found."""
    before = os.times()
    done = RUN[task["part"]](task)
    return task | done | {"cpu": sum(os.times()[:4]) - sum(before[:4])}


def run_all(tasks: list[dict[str, Any]], jobs: int) -> list[dict[str, Any]]:
    """All runs, the long ones first, with a line for each that is done; in the tasks' order."""
    start, found = time.perf_counter(), {}
    longest_first = sorted(range(len(tasks)), key=lambda i: -tasks[i]["seconds"])
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(run, tasks[i]): i for i in longest_first}
        for done in as_completed(waiting):
            one = found[waiting[done]] = done.result()
            what = [one.get(key) for key in ("set", "world", "what", "setting", "who", "seed")]
            words = " ".join(str(word) for word in what if word is not None)
            say(
                f"{len(found)} of {len(tasks)}, {time.perf_counter() - start:.0f} s: "
                f"{one['part']} {words} {one.get('settings', '')} ({one['cpu']:.1f} s)"
                f"{' failed: ' + one['failed'] if 'failed' in one else ''}"
            )
    return [found[i] for i in range(len(tasks))]


def tasks_of(only: Part | None, seeds: int, quick: bool, grid: bool) -> list[dict[str, Any]]:
    """Every run that was asked for."""
    found: list[dict[str, Any]] = []
    if only in (None, Part.sets):
        found += sets.tasks(SETTINGS, seeds, quick)
    if only in (None, Part.shop):
        found += shop_runs.tasks(SETTINGS, seeds, quick)
    if only in (None, Part.peers):
        missing = {peer.script: peers.install(peer) for peer in peers.PEERS}
        for script, why in missing.items():
            if why:
                say(f"{script} is left out: {why}")
        runs = synthetic.tasks(seeds, quick, grid)
        found += [task for task in runs if not missing.get(task.get("peer"))]
    return found


def main(
    out: Annotated[
        Path, typer.Option(help="Folder for quality.md, quality.json and the plots.")
    ] = RESULTS,
    only: Annotated[Part | None, typer.Option(help="Measure this part alone.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds per run; Mediamill has at least 6.")] = 3,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time.")] = 2,
    quick: Annotated[bool, typer.Option("--quick", help="A few hundred rounds of each.")] = False,
    grid: Annotated[
        bool, typer.Option("--grid", help="Play the peers with all of their settings.")
    ] = False,
) -> None:
    """Measure how well we learn: real sets, a shop whose truth is known, and other libraries.

    With --only, the other parts of an earlier run stay on the page.
    """
    out.mkdir(parents=True, exist_ok=True)
    file = out / "quality.json"
    found = json.loads(file.read_text(encoding="utf-8")) if only and file.exists() else {}
    records = run_all(tasks_of(only, seeds, quick, grid), jobs)
    for part in RUN:
        rows = [one for one in records if one["part"] == part]
        if rows:
            found[part] = {
                "version": __version__,
                "seeds": seeds,
                "quick": quick,
                "cpu minutes": sum(one["cpu"] for one in rows) / 60,
                "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
                "load": os.getloadavg()[0],
                "rows": sets.compare(rows) if part == "sets" else rows,
            }
    file.write_text(_json(found), encoding="utf-8")
    plots.draw(found, out)
    text = page.text(found)
    (out / "quality.md").write_text(text, encoding="utf-8")
    print(text)


def _json(found: dict[str, Any]) -> str:
    """JSON with every row on a line of its own."""
    parts = []
    for name, part in found.items():
        about = {key: value for key, value in part.items() if key != "rows"}
        head = json.dumps(about | {"rows": []})[:-2]  # the rows come last, whatever their place was
        rows = ",\n".join(json.dumps(_rounded(row)) for row in part["rows"])
        parts.append(f"{json.dumps(name)}: {head}\n{rows}\n]}}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _rounded(value: Any) -> Any:
    """Five digits are enough for people and plots."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    typer.run(main)
