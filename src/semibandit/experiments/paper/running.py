"""Running the paper's experiments: four sweeps, whose results are kept in a folder."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from semibandit._util.version import __version__
from semibandit.data.catalogue import SOURCE
from semibandit.data.dataset import Dataset
from semibandit.data.download.cache import cached_path, download_dataset
from semibandit.errors import DownloadError
from semibandit.experiments.paper.findings import PANELS, findings
from semibandit.experiments.paper.options import ReproduceOptions
from semibandit.experiments.paper.plans import (
    BASELINE,
    LEFT,
    SLOTS,
    FigurePlan,
    figure_plan,
    price_runs,
    width_runs,
)
from semibandit.experiments.paper.point import (
    Panel,
    Point,
    best_losses,
    frequent_labels,
    replay_point,
)
from semibandit.experiments.paper.regret_lab import lab_runs, play_run
from semibandit.experiments.paper.results import Results
from semibandit.experiments.sets import STAND_INS, dataset, needs
from semibandit.experiments.setting import run
from semibandit.experiments.sweep import sweep

__all__ = ["run_experiments"]

Log: TypeAlias = Callable[[str], object]
PACKAGES = ("numpy", "scipy", "numba", "joblib", "matplotlib")


def run_experiments(options: ReproduceOptions, folder: Path, log: Log) -> Results:
    """Run every experiment whose result is not in the folder yet.

    Parameters
    ----------
    options : ReproduceOptions
        What to run.
    folder : Path
        Results are kept in its subfolder runs/, one file per run.
    log : callable
        Called with a line of text at each step.

    Returns
    -------
    Results
        All the numbers.
    """
    experiments = Experiments(options, folder, log)
    results = experiments.results
    sets = list(dict.fromkeys(experiments.available(name) for name in options.sets))
    for place, data in enumerate(sets):
        with _timed(results, data):
            experiments.run_figure(data, options.seeds_of(place))
    with _timed(results, "widths"):
        experiments.run_widths(sets[0])
    with _timed(results, "prices"):
        experiments.run_prices()
    with _timed(results, "regret lab"):
        experiments.run_regret_lab()
    results.machine = _machine()
    return results


class Experiments:
    """The experiments of one report: each method runs one and adds its numbers to `results`."""

    def __init__(self, options: ReproduceOptions, folder: Path, log: Log) -> None:
        self.options, self.folder, self.log = options, folder, log
        self.results = Results(options)

    def run_figure(self, data: str, seeds: int) -> None:
        """The paper's panels for one data set, and its statements about them."""
        self.results.data[data] = _description(data)
        plan = self._plan(data, seeds)
        panels: dict[str, Panel] = {name: {} for name in PANELS}
        title = f"{data}: the paper's figure"
        for (name, method, S, _), result in self._sweep(plan.runs(), replay_point, title):
            if name != LEFT:  # curves are for the left panel alone
                result = {key: one for key, one in result.items() if key not in ("marks", "curve")}
            points = panels[name].setdefault(method, {})
            seeds_before = points[S].results if S in points else ()
            points[S] = Point([*seeds_before, result])
        if data in STAND_INS:
            known = {S: {"data": data, "slots": S} for S in plan.slots}
            self.results.bayes[data] = dict(
                self._sweep(known, best_losses, f"{data}: what Bayes loses")
            )
        self.results.panels[data] = panels
        self.results.findings += findings(data, panels)

    def run_widths(self, data: str) -> None:
        """The loss of every width on one data set, and OBR's."""
        runs: dict[Any, dict[str, Any]] = {**width_runs(data, self.options.seeds[0])}
        runs[BASELINE, 0] = self._plan(data, 1).setting(BASELINE, "decreasing", SLOTS)
        for (player, _), result in self._sweep(runs, run, f"{data}: widths"):
            if player == BASELINE:
                self.results.width_baseline = result["ac"]
            else:
                self.results.widths.setdefault(player, []).append(result["ac"])
        self.results.width_data = data

    def run_prices(self) -> None:
        """The loss of SlateUCB, Greedy and OBR on each data set."""
        sets = [*dict.fromkeys(self.available(name) for name in self.options.price_sets)]
        runs = price_runs(sets, self.options.seeds[0])
        for (data, player, _), result in self._sweep(runs, run, "the price of partial feedback"):
            self.results.losses.setdefault(data, {}).setdefault(player, []).append(result["ac"])
        for data in sets:
            if data not in self.results.data:
                self.results.data[data] = _description(data)

    def run_regret_lab(self) -> None:
        """Exact regret in worlds whose truth is known; the bound is that of the last seed."""
        runs = lab_runs(self.options.lab_rounds, self.options.seeds[0])
        for (picture, line, _), result in self._sweep(runs, play_run, "the regret lab"):
            numbers = self.results.regret_lab.setdefault(picture, {}).setdefault(line, {})
            numbers["marks"], numbers["bound"] = result["marks"], result.get("bound")
            for name in ("regret", "final", "slope_before", "slope", "covered"):
                numbers.setdefault(name, []).append(result[name])

    def available(self, name: str) -> str:
        """The data set, downloaded if need be; if that fails, a stand-in and a note about it."""
        original = needs(name)
        known = {entry.name for entry in SOURCE.sets}
        if original not in known or cached_path(original) is not None:
            return name
        try:
            self.log(f"fetching {original} (once; it stays in the cache)")
            download_dataset(original)
        except DownloadError as error:
            note = (
                f"{name} could not be fetched ({error}). In its place: mediamill-like, a synthetic "
                "world of Mediamill's size. It does not check what the paper says of real data."
            )
            self.log(note)
            if note not in self.results.notes:
                self.results.notes.append(note)
            return "mediamill-like"
        return name

    def _plan(self, data: str, seeds: int) -> FigurePlan:
        labels = self.results.data[data]["labels"]
        return figure_plan(data, labels, self.options.width, seeds)

    def _sweep(
        self,
        runs: Mapping[Any, dict[str, Any]],
        function: Callable[[dict[str, Any]], dict[str, Any]],
        title: str,
    ) -> list[tuple[Any, dict[str, Any]]]:
        """The name of each run with its result."""
        self.log(f"{title}: {len(runs)} runs")
        results = sweep(
            function,
            list(runs.values()),
            folder=self.folder / "runs",
            backend=self.options.backend,
            address=self.options.address,
            jobs=self.options.jobs,
        )
        return list(zip(runs, results, strict=True))


@contextmanager
def _timed(results: Results, part: str) -> Iterator[None]:
    """Record how many seconds the block took."""
    start = time.perf_counter()
    yield
    results.seconds[part] = round(time.perf_counter() - start, 1)


def _description(name: str) -> dict[str, Any]:
    data = dataset(name)
    return {
        "rows": data.n_train,
        "features": data.d,
        "labels": data.K,
        "cardinality": float(data.Y_train.sum()) / data.n_train,
        "frequent": _shares(data),
        "source": data.source,
        "checksum": data.checksum,
    }


def _shares(data: Dataset) -> dict[str, float]:
    """How often the most frequent labels are relevant, by their numbers."""
    counts = np.asarray(data.Y_train.sum(axis=0)).ravel()
    return {str(label): float(counts[label]) / data.n_train for label in frequent_labels(data)}


def _machine() -> dict[str, str]:
    """What the numbers were computed on and with."""
    machine = {
        "semibandit": __version__,
        "Python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }
    for name in PACKAGES:
        try:
            machine[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            machine[name] = "not installed"
    return machine
