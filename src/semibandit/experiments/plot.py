"""Plots, with matplotlib (the extra `plot`); import this module only to draw."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from semibandit._util.arrays import Floats, Ints

__all__ = [
    "figure_of_paper",
    "price_plot",
    "regret_plot",
    "replay_plot",
    "save",
    "svg",
    "theory",
    "tune_plot",
    "width_plot",
]

COLOURS = ("#0072b2", "#d55e00", "#8a8a8a", "#009e73", "#cc79a7", "#b8860b", "#56b4e9")
INK = "#4a4b4c"  # all that is not data; in a page it becomes the page's own colour
STYLE: Any = {
    "font.size": 10,
    "svg.hashsalt": "semibandit",
    "svg.fonttype": "none",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.25,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "axes.titlesize": 10,
}
DASHES = ("-", "--", "-.", ":")


def save(figure: Figure, path: Path) -> list[Path]:
    """The figure as PNG and SVG; their paths."""
    written = []
    for kind in (".png", ".svg"):
        with matplotlib.rc_context(STYLE):
            figure.savefig(path.with_suffix(kind), dpi=150, metadata=_undated(kind))
        written.append(path.with_suffix(kind))
    return written


def svg(figure: Figure) -> str:
    """The figure for a page: no background, text as text, its ink in the page's colour."""
    text = io.StringIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(text, format="svg", transparent=True, metadata=_undated(".svg"))
    found = text.getvalue()
    found = found[found.index("<svg") :]
    return found.replace(INK, "currentColor")


def figure_of_paper(panels: Mapping[str, Any], title: str, n_labels: int) -> Figure:
    """The paper's three panels: loss over time; Hamming loss and ranking loss / S against S."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(11, 3.6), layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        for number, (method, runs) in enumerate(panels["left"].items()):
            result = runs[None]
            _line(left, number, result["marks"], result["curve"], method)
        left.set(xscale="log", yscale="log", xlabel="round")
        left.set_title("average ℓ$_{a,c}$, decreasing c, no limit")
        left.set_xlim(left=10)
        for axes, panel, key, name in (
            (middle, "middle", "hamming", "final Hamming loss, constant c"),
            (right, "right", "rank_per_slot", "final ranking loss / S, decreasing c"),
        ):
            for number, (method, runs) in enumerate(panels[panel].items()):
                S = sorted(runs)
                _line(axes, number, S, [runs[s][key] for s in S], method, marker="o", ms=3.5)
            axes.set(xscale="log", xlabel="S, the most labels shown", title=name)
            ticks = sorted(next(iter(panels[panel].values())))
            axes.set_xticks(ticks, [str(s) for s in ticks])
            axes.minorticks_off()
        right.set_yscale("log")
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5)
        figure.suptitle(f"{title}, K = {n_labels}", fontsize=11)
    return figure


def width_plot(values: Mapping[str, Sequence[float]], baseline: float) -> Figure:
    """The final loss of each width, a dot per seed, beside OBR's."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 3.4), layout="constrained")
        axes = figure.subplots()
        for place, runs in enumerate(values.values()):
            axes.plot([place] * len(runs), runs, "o", color=COLOURS[0], ms=4, alpha=0.7)
            axes.plot([place - 0.25, place + 0.25], [sum(runs) / len(runs)] * 2, color=COLOURS[0])
        axes.axhline(baseline, color=COLOURS[1], ls="--", label="OBR (full information)")
        axes.set_xticks(range(len(values)), list(values))
        axes.set(ylabel="average ℓ$_{a,c}$", ylim=(0, None))
        axes.legend()
    return figure


def price_plot(prices: Mapping[str, Mapping[str, float]]) -> Figure:
    """Loss ÷ OBR's against the width, a line per data set."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 3.8), layout="constrained")
        axes = figure.subplots()
        for number, (data, row) in enumerate(prices.items()):
            _line(axes, number, range(len(row)), list(row.values()), data, marker="o", ms=3)
            axes.set_xticks(range(len(row)), list(row))
        axes.set(ylabel="loss ÷ OBR's loss", yscale="log")
        axes.axhline(1.0, color=INK, lw=0.8)
        axes.legend(ncols=3)
    return figure


def theory(cases: Mapping[str, Mapping[str, Any]], title: str) -> Figure:
    """Regret over time on log-log axes with bands over seeds, and the bounds, dashed."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 4.6), layout="constrained")
        axes = figure.subplots()
        for number, (case, found) in enumerate(cases.items()):
            colour = COLOURS[number % len(COLOURS)]
            runs, marks = found["regret"], found["marks"]
            mean = [sum(column) / len(column) for column in zip(*runs, strict=True)]
            _line(axes, number, marks, mean, case)
            axes.fill_between(
                marks,
                [min(column) for column in zip(*runs, strict=True)],
                [max(column) for column in zip(*runs, strict=True)],
                color=colour,
                alpha=0.12,
                lw=0,
            )
            if found.get("bound"):
                axes.plot(marks, found["bound"], color=colour, lw=1, ls=(0, (1, 2)))
        axes.set(xscale="log", yscale="log", xlabel="round", ylabel="regret", title=title)
        axes.set_xlim(left=10)
        axes.set_ylim(bottom=0.1)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def replay_plot(curves: Mapping[str, tuple[Sequence[int], Sequence[float]]]) -> Figure:
    """The running average loss of each learner."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 4.2), layout="constrained")
        axes = figure.subplots()
        for number, (name, (marks, values)) in enumerate(curves.items()):
            _line(axes, number, marks, values, name)
        axes.set(xscale="log", xlabel="round", ylabel="average ℓ$_{a,c}$ so far")
        axes.legend()
    return figure


def tune_plot(curves: Mapping[str, Mapping[float, float]]) -> Figure:
    """The loss against alpha, a line per surrogate and bias."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 4.2), layout="constrained")
        axes = figure.subplots()
        for number, (name, curve) in enumerate(curves.items()):
            _line(axes, number, range(len(curve)), list(curve.values()), name, marker="o", ms=3)
            axes.set_xticks(range(len(curve)), [f"{alpha:g}" for alpha in curve])
        axes.set(xlabel="alpha of Scaled(alpha)", ylabel="average ℓ$_{a,c}$")
        axes.legend(ncols=2)
    return figure


def regret_plot(curves: dict[str, Floats], rounds: Ints, path: Path) -> None:
    """Regret over time, a line per learner with a band from its lowest to its highest seed."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.5, 4.5), layout="constrained")
        axes = figure.add_subplot()
        for number, (name, runs) in enumerate(curves.items()):
            _line(axes, number, rounds, runs.mean(axis=0), name)
            low, high = runs.min(axis=0), runs.max(axis=0)
            colour = COLOURS[number % len(COLOURS)]
            axes.fill_between(rounds, low, high, color=colour, alpha=0.15, lw=0)
        axes.set_xlabel("round")
        axes.set_ylabel("regret against the Bayes slate")
        axes.set_xlim(0, rounds[-1])
        axes.set_ylim(bottom=0, top=_top(curves))
        axes.legend()
        figure.savefig(path, dpi=150)


def _line(axes: Axes, number: int, x: Any, y: Any, label: str, **more: Any) -> None:
    """A line that can be told from the others without its colour, too."""
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
    axes.plot(x, y, color=colour, ls=dash, lw=1.6, label=label, **more)


def _top(curves: dict[str, Floats]) -> float:
    """A height that shows the learners that learn; a line that leaves the picture may do so."""
    finals = sorted(float(runs[:, -1].max()) for runs in curves.values())
    return 1.15 * (finals[-2] if len(finals) > 2 else finals[-1]) + 1e-9


def _undated(kind: str) -> dict[str, Any]:
    return {"Date": None} if kind == ".svg" else {}
