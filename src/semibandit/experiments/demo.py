"""The demo: SlateUCB against its baselines in a world whose truth is known."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.progress import Advance
from semibandit.evaluation.bayes import Bayes
from semibandit.evaluation.play import Play, play
from semibandit.policies.greedy import Greedy
from semibandit.policies.learner import Learner
from semibandit.policies.obr import OBR
from semibandit.policies.random import Random
from semibandit.policies.slate_ucb import SlateUCB
from semibandit.policies.spec import parse
from semibandit.worlds.synthetic import Synthetic

__all__ = ["DemoSettings", "Row", "players", "run", "summarise", "world", "write"]


@dataclass(frozen=True)
class DemoSettings:
    """One demo: a world's shape, how long it is played, how often, and the width."""

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
    """One learner, averaged over seeds."""

    learner: str
    loss: float
    precision: float
    size: float
    regret: float
    spread: float
    growth: float | None  # regret after all rounds / after half of them


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
    """The table (Markdown), every number (JSON) and, with matplotlib, the plot; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = summarise(plays)
    table, numbers = folder / "table.md", folder / "results.json"
    table.write_text(_markdown(settings, rows), encoding="utf-8")
    curves = {name: _curves(results).tolist() for name, results in plays.items()}
    every: dict[str, Any] = {
        "settings": asdict(settings),
        "rows": [asdict(row) for row in rows],
        "rounds": _marks(settings.rounds).tolist(),
        "regret": curves,
    }
    numbers.write_text(json.dumps(every, indent=1), encoding="utf-8")
    written = [table, numbers]
    try:
        from semibandit.experiments.plot import regret_plot
    except ImportError:
        return written
    picture = folder / "regret.png"
    regret_plot(
        {name: _curves(results) for name, results in plays.items()},
        _marks(settings.rounds),
        picture,
    )
    return [*written, picture]


def _marks(rounds: int) -> Ints:
    return np.unique(np.linspace(1, rounds, min(rounds, 400)).astype(int))


def _curves(results: list[Play]) -> Floats:
    marks = _marks(len(results[0].regret)) - 1
    return np.array([result.regret[marks] for result in results])


def _markdown(settings: DemoSettings, rows: list[Row]) -> str:
    lines = [
        f"{settings.labels} labels, {settings.features} features, density {settings.density:g}, "
        f"{settings.slots} slots, {settings.rounds} rounds, {settings.seeds} seeds.",
        "",
        "| learner | average loss | precision | slate size | regret | regret(T)/regret(T/2) |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        growth = "" if row.growth is None else f"{row.growth:.2f}"
        lines.append(
            f"| {row.learner} | {row.loss:.3f} | {row.precision:.1%} | {row.size:.2f} "
            f"| {row.regret:.0f} ± {row.spread:.0f} | {growth} |"
        )
    return "\n".join(lines) + "\n"
