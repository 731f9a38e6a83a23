"""The demo: SlateUCB against its baselines in a world whose truth is known."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semibandit._util.arrays import Ints
from semibandit._util.progress import Advance
from semibandit.errors import MissingExtra
from semibandit.evaluation.bayes import Bayes
from semibandit.evaluation.play import Play, play
from semibandit.policies.greedy import Greedy
from semibandit.policies.learner import Learner
from semibandit.policies.obr import OBR
from semibandit.policies.random import Random
from semibandit.policies.slate_ucb import SlateUCB
from semibandit.policies.spec import parse
from semibandit.worlds.synthetic import Synthetic

__all__ = ["COLUMNS", "DemoSettings", "Row", "players", "run", "summarise", "world", "write"]

COLUMNS = ("learner", "average loss", "precision", "slate size", "regret", "growth")


@dataclass(frozen=True)
class DemoSettings:
    """One demo: the size of its worlds, how long and how often they are played, and the width."""

    features: int = 10
    labels: int = 20
    density: float = 0.1
    slots: int = 3
    width: str = "scaled:1"
    rounds: int = 4000
    seeds: int = 3
    seed: int = 0


@dataclass(frozen=True)
class Row:
    """One learner, averaged over seeds; `spread` is the standard deviation of its regret."""

    learner: str
    loss: float
    precision: float
    size: float
    regret: float
    spread: float
    growth: float | None  # regret after all rounds / after half of them

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text, a cell for each of COLUMNS."""
        return (
            self.learner,
            f"{self.loss:.3f}",
            f"{self.precision:.1%}",
            f"{self.size:.2f}",
            f"{self.regret:.0f} ± {self.spread:.0f}",
            "" if self.growth is None else f"{self.growth:.2f}",
        )


def world(settings: DemoSettings, seed: int) -> Synthetic:
    """The world of one seed."""
    return Synthetic(settings.features, settings.labels, density=settings.density, seed=seed)


def players(settings: DemoSettings, place: Synthetic) -> dict[str, Learner]:
    """The learners by the names the table gives them."""
    d, K, seed = settings.features, settings.labels, place.seed
    return {
        "SlateUCB": SlateUCB(d, K, width=parse("width", settings.width), seed=seed),
        "Greedy": Greedy(d, K, seed=seed),
        "Random": Random(d, K, seed=seed),
        "OBR": OBR(d, K, seed=seed),
        "Bayes": Bayes(place),
    }


def run(settings: DemoSettings, advance: Advance) -> dict[str, list[Play]]:
    """Every learner on every seed's world; `advance` is called after each round."""
    plays: dict[str, list[Play]] = {}
    for seed in range(settings.seed, settings.seed + settings.seeds):
        place = world(settings, seed)
        for name, learner in players(settings, place).items():
            result = play(learner, place, settings.rounds, settings.slots, progress=advance)
            plays.setdefault(name, []).append(result)
    return plays


def summarise(plays: dict[str, list[Play]]) -> list[Row]:
    """A row per learner."""
    rows = []
    for name, results in plays.items():
        final = np.array([result.regret[-1] for result in results])
        half = np.array([result.regret[(len(result.regret) - 1) // 2] for result in results])
        rows.append(
            Row(
                learner=name,
                loss=float(np.mean([result.trace.losses("ac").mean() for result in results])),
                precision=float(np.mean([result.trace.precision for result in results])),
                size=float(np.mean([result.trace.sizes.mean() for result in results])),
                regret=float(final.mean()),
                spread=float(final.std()),
                growth=float(final.sum() / half.sum()) if half.sum() > 1e-9 else None,
            )
        )
    return rows


def write(settings: DemoSettings, plays: dict[str, list[Play]], folder: Path) -> list[Path]:
    """Write the table (Markdown), every number (JSON) and the plot, if matplotlib is installed.

    Returns
    -------
    list of Path
        The files that were written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows, rounds = summarise(plays), _plotted_rounds(settings.rounds)
    curves = {
        name: np.array([result.regret[rounds - 1] for result in results])
        for name, results in plays.items()
    }
    numbers: dict[str, Any] = {
        "settings": asdict(settings),
        "rows": [asdict(row) for row in rows],
        "rounds": rounds.tolist(),
        "regret": {name: runs.tolist() for name, runs in curves.items()},
    }
    written = [folder / "table.md", folder / "results.json"]
    written[0].write_text(_markdown(settings, rows), encoding="utf-8")
    written[1].write_text(json.dumps(numbers, indent=1), encoding="utf-8")
    try:
        from semibandit.experiments import plot
    except MissingExtra:
        return written
    figure = plot.regret_plot(curves, rounds)
    return [*written, *plot.save(figure, folder / "regret.png", formats=(".png",))]


def _plotted_rounds(rounds: int) -> Ints:
    """Up to 400 of the rounds, evenly spaced."""
    return np.unique(np.linspace(1, rounds, min(rounds, 400)).astype(int))


def _markdown(settings: DemoSettings, rows: list[Row]) -> str:
    columns = (*COLUMNS[:-1], "regret(T)/regret(T/2)")
    lines = [
        f"{settings.labels} labels, {settings.features} features, density {settings.density:g}, "
        f"{settings.slots} slots, {settings.rounds} rounds, {settings.seeds} seeds.",
        "",
        f"| {' | '.join(columns)} |",
        "|" + "---|" * len(columns),
        *(f"| {' | '.join(row.cells)} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"
