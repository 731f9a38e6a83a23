"""The plots of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality import sets, shop, shop_runs, synthetic

COLOURS = (  # as many as a plot has lines: no two have the same
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"),
    *("#56b4e9", "#666666", "#000000", "#882255", "#999933"),
)


def draw(found: dict[str, Any], out: Path) -> None:
    """A plot for each part that was measured."""
    for name, plot in (("sets", _sets), ("shop", _shop), ("peers", _peers)):
        if name in found:
            figure = plot(found[name]["rows"])
            figure.savefig(out / f"quality-{name}.svg", metadata={"Date": None})


def _figure(columns: int, width: float = 9.0, height: float = 4.0) -> tuple[Any, Any]:
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["svg.hashsalt"] = "semibandit"  # the same file from the same figures
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def _sets(rows: list[dict[str, Any]]) -> Any:
    """The price on each set: a dot per setting, a line from the mean to the worst seed."""
    figure, (axes,) = _figure(1, height=4.5)
    names = list(dict.fromkeys(row["setting"] for row in rows if row["what"] == "loss"))
    for j, name in enumerate(names):
        found = sets.by_set(rows, name, "price paper")
        at = np.arange(len(found)) + (j - (len(names) - 1) / 2) * 0.08
        mean, worst = (np.array(column) for column in zip(*found.values(), strict=True))
        axes.vlines(at, mean, worst, color=COLOURS[j % len(COLOURS)], lw=1)
        axes.plot(at, mean, "o", ms=4, color=COLOURS[j % len(COLOURS)], label=name)
        axes.set_xticks(range(len(found)), list(found), rotation=20)
    axes.axhline(1.0, color="0.6", lw=0.8)
    axes.set_ylabel("loss ÷ the paper's OBR")
    axes.set_title("Price on each set: mean over seeds, line to the worst", fontsize=10)
    axes.grid(alpha=0.25, axis="y")
    axes.legend(fontsize=7, ncols=2)
    return figure


def _shop(rows: list[dict[str, Any]]) -> Any:
    """The share of the way over visits, on raw scales, without and with a change of tastes."""
    worlds = ("nice", "raw", "raw, change of tastes")
    figure, panels = _figure(len(worlds), width=12.0)
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    for axes, world in zip(panels, worlds, strict=True):
        for j, name in enumerate(settings):
            some = [r for r in rows if r["world"] == world and r["setting"] == name]
            if some:
                y = np.mean([r["curve"] for r in some], axis=0)
                x = some[0]["step"] * (1 + np.arange(len(y)))
                axes.plot(x, y, "o-", ms=2, lw=1, color=COLOURS[j % len(COLOURS)], label=name)
        if shop_runs.WORLDS[world].get("change"):
            axes.axvline(shop.BEFORE, color="0.6", lw=0.8)
        axes.set_title(world, fontsize=10)
        axes.set_xlabel("visits")
        axes.set_ylim(-0.2, 1.0)
        axes.grid(alpha=0.25)
    panels[0].set_ylabel("share of the way from random to best")
    panels[-1].legend(fontsize=7)
    return figure


def _peers(rows: list[dict[str, Any]]) -> Any:
    """The average loss so far against rounds, with those of random and of Bayes' slates."""
    figure, panels = _figure(len(synthetic.WORLDS), width=11.0)
    good = [row for row in rows if "failed" not in row]
    names = list(dict.fromkeys(row["who"] for row in good))
    for axes, world in zip(panels, synthetic.WORLDS, strict=True):
        for j, name in enumerate(names):
            some = [r for r in good if r["world"] == world and r["who"] == name]
            if some:
                y = np.mean([r["losses"] for r in some], axis=0)
                style = {"color": COLOURS[j % len(COLOURS)], "label": name}
                axes.plot(some[0]["ends"], y, "--" if "peer" in some[0] else "-", lw=1.2, **style)
        for key in ("random loss", "best loss"):
            values = [r[key] for r in good if r["world"] == world]
            if values:
                axes.axhline(float(np.mean(values)), color="0.6", lw=0.8, ls=":")
        axes.set_title(f"{world} (dotted: random, Bayes)", fontsize=10)
        axes.set_xlabel("rounds")
        axes.set_ylabel("average loss so far, a = 1")
        axes.grid(alpha=0.25)
    panels[0].legend(fontsize=7)
    return figure
