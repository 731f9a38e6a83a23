"""Plots, with matplotlib (the extra `plot`); import this module only to draw."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.extras import import_extra

import_extra("matplotlib", "plot", "a plot")

import matplotlib  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

__all__ = [
    "bound_plot",
    "evaluation_plot",
    "paper_figure",
    "price_plot",
    "regret_plot",
    "replay_plot",
    "save",
    "svg",
    "tune_plot",
    "width_plot",
]

COLOURS = ("#0072b2", "#d55e00", "#8a8a8a", "#009e73", "#cc79a7", "#b8860b", "#56b4e9")
INK = "#4a4b4c"  # of all that is not data; a page replaces it by its own colour
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


def save(figure: Figure, path: Path, formats: Sequence[str] = (".png", ".svg")) -> list[Path]:
    """Write the figure in each format; returns the paths."""
    written = []
    for suffix in formats:
        with matplotlib.rc_context(STYLE):
            figure.savefig(path.with_suffix(suffix), dpi=150, metadata=_undated(suffix))
        written.append(path.with_suffix(suffix))
    return written


def svg(figure: Figure) -> str:
    """The figure as an <svg> element for a page: no background, its ink in the page's colour."""
    text = io.StringIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(text, format="svg", transparent=True, metadata=_undated(".svg"))
    document = text.getvalue()
    return document[document.index("<svg") :].replace(INK, "currentColor")


def paper_figure(panels: Mapping[str, Any], title: str, n_labels: int) -> Figure:
    """The paper's three panels: loss over time; Hamming loss and ranking loss ÷ S against S.

    Lines are means over seeds, in a band from the least to the largest.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(11, 3.6), layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        for number, (method, points) in enumerate(panels["left"].items()):
            curves, marks = points[None].values("curve"), points[None].results[0]["marks"]
            _line_with_range(left, number, marks, curves, method, alpha=0.2)
        left.set(xscale="log", yscale="log", xlabel="round")
        left.set_title("average ℓ$_{a,c}$, decreasing c, no limit")
        left.set_xlim(left=10)
        _against_slots(middle, panels["middle"], "hamming", "final Hamming loss, constant c")
        _against_slots(
            right, panels["right"], "p_rank_per_slot", "final ranking loss ÷ S, decreasing c"
        )
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5)
        figure.suptitle(f"{title}, K = {n_labels}", fontsize=11)
    return figure


def width_plot(losses: Mapping[str, Sequence[float]], baseline: float) -> Figure:
    """The final loss of each width, a dot per seed, beside OBR's."""
    with _plot(height=3.4) as (figure, axes):
        for place, values in enumerate(losses.values()):
            axes.plot([place] * len(values), values, "o", color=COLOURS[0], ms=4, alpha=0.7)
            mean = sum(values) / len(values)
            axes.plot([place - 0.25, place + 0.25], [mean] * 2, color=COLOURS[0])
        axes.axhline(baseline, color=COLOURS[1], ls="--", label="OBR (full information)")
        axes.set_xticks(range(len(losses)), list(losses))
        axes.set(ylabel="average ℓ$_{a,c}$", ylim=(0, None))
        axes.legend()
    return figure


def price_plot(prices: Mapping[str, Mapping[str, float]]) -> Figure:
    """Loss ÷ OBR's against the width, a line per data set."""
    with _plot(height=3.8) as (figure, axes):
        for number, (data, row) in enumerate(prices.items()):
            _line_over_names(axes, number, row, data)
        axes.set(ylabel="loss ÷ OBR's loss", yscale="log")
        axes.axhline(1.0, color=INK, lw=0.8)
        axes.legend(ncols=3)
    return figure


def bound_plot(cases: Mapping[str, Mapping[str, Any]], title: str) -> Figure:
    """Regret over time on log-log axes with bands over seeds, and the bounds, dotted."""
    with _plot(height=4.6) as (figure, axes):
        for number, (case, result) in enumerate(cases.items()):
            rounds, runs = result["marks"], np.asarray(result["regret"])
            colour = _line_with_range(axes, number, rounds, runs, case, alpha=0.12)
            if result.get("bound"):
                axes.plot(rounds, result["bound"], color=colour, lw=1, ls=(0, (1, 2)))
        axes.set(xscale="log", yscale="log", xlabel="round", ylabel="regret", title=title)
        axes.set_xlim(left=10)
        axes.set_ylim(bottom=0.1)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def replay_plot(curves: Mapping[str, tuple[Sequence[int], Sequence[float]]]) -> Figure:
    """The running average loss of each learner."""
    with _plot(height=4.2) as (figure, axes):
        for number, (name, (rounds, values)) in enumerate(curves.items()):
            _line(axes, number, rounds, values, name)
        axes.set(xscale="log", xlabel="round", ylabel="average ℓ$_{a,c}$ so far")
        axes.legend()
    return figure


def tune_plot(curves: Mapping[str, Mapping[float, float]]) -> Figure:
    """The loss against alpha, a line per surrogate and bias."""
    with _plot(height=4.2) as (figure, axes):
        for number, (name, curve) in enumerate(curves.items()):
            named = {f"{alpha:g}": loss for alpha, loss in curve.items()}
            _line_over_names(axes, number, named, name)
        axes.set(xlabel="alpha of Scaled(alpha)", ylabel="average ℓ$_{a,c}$")
        axes.legend(ncols=2)
    return figure


def evaluation_plot(
    values: Mapping[str, Mapping[str, tuple[float, float, float]]], logged: float, reward: str
) -> Figure:
    """The value of each policy by estimator, as (value, low, high), beside the log's own."""
    names = list(values)
    kinds = list(dict.fromkeys(kind for row in values.values() for kind in row))
    with _plot(height=1.5 + 0.17 * len(names) * max(len(kinds), 2)) as (figure, axes):
        for number, kind in enumerate(kinds):
            offset = 0.7 * ((number + 0.5) / len(kinds) - 0.5)
            rows = [
                (i + offset, *row[kind]) for i, row in enumerate(values.values()) if kind in row
            ]
            y, value, low, high = np.array(rows).T
            axes.hlines(y, low, high, color=COLOURS[number % len(COLOURS)], lw=1.6)
            axes.plot(value, y, "o", ms=5, color=COLOURS[number % len(COLOURS)], label=kind)
        axes.axvline(logged, color=INK, lw=0.9, ls="--", label="the log's own policy")
        for i in (i for i, row in enumerate(values.values()) if not row):
            axes.text(logged, i, " refused", va="center")
        axes.set_yticks(range(len(names)), names)
        axes.set(xlabel=f"{reward} per visit", ylim=(len(names) - 0.4, -0.6))
        axes.grid(visible=False, axis="y")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def regret_plot(curves: Mapping[str, Floats], rounds: Ints) -> Figure:
    """Regret over time, a line per learner with a band from its lowest to its highest seed."""
    with _plot(height=4.5) as (figure, axes):
        for number, (name, runs) in enumerate(curves.items()):
            _line_with_range(axes, number, rounds, runs, name, alpha=0.15)
        axes.set(xlabel="round", ylabel="regret against the Bayes slate")
        axes.set_xlim(0, rounds[-1])
        axes.set_ylim(bottom=0, top=_top(curves))
        axes.legend()
    return figure


@contextmanager
def _plot(height: float) -> Iterator[tuple[Figure, Axes]]:
    """A figure with one pair of axes, in our style while the block draws."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.5, height), layout="constrained")
        yield figure, figure.subplots()


def _line(axes: Axes, number: int, x: Any, y: Any, label: str, **more: Any) -> str:
    """A line that differs from the others also without its colour, which is returned."""
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
    axes.plot(x, y, color=colour, ls=dash, lw=1.6, label=label, **more)
    return colour


def _line_with_range(
    axes: Axes, number: int, x: Any, runs: Floats, label: str, *, alpha: float, **more: Any
) -> str:
    """The mean of the runs (one row each) as a line, in a band from the least to the largest."""
    colour = _line(axes, number, x, runs.mean(axis=0), label, **more)
    axes.fill_between(x, runs.min(axis=0), runs.max(axis=0), color=colour, alpha=alpha, lw=0)
    return colour


def _line_over_names(axes: Axes, number: int, row: Mapping[str, float], label: str) -> None:
    """A line with a dot for each name on the x axis."""
    _line(axes, number, range(len(row)), list(row.values()), label, marker="o", ms=3)
    axes.set_xticks(range(len(row)), list(row))


def _against_slots(axes: Axes, panel: Mapping[str, Any], key: str, title: str) -> None:
    """A result of each method against S."""
    for number, (method, points) in enumerate(panel.items()):
        slots = sorted(points)
        runs = np.transpose([points[S].values(key) for S in slots])
        _line_with_range(axes, number, slots, runs, method, alpha=0.2, marker="o", ms=3.5)
    axes.set(xscale="log", xlabel="S, the most labels shown", title=title)
    ticks = sorted(next(iter(panel.values())))
    axes.set_xticks(ticks, [str(S) for S in ticks])
    axes.minorticks_off()


def _top(curves: Mapping[str, Floats]) -> float:
    """A height that shows the learners that learn; one line may leave the picture."""
    finals = sorted(float(runs[:, -1].max()) for runs in curves.values())
    return 1.15 * (finals[-2] if len(finals) > 2 else finals[-1]) + 1e-9


def _undated(suffix: str) -> dict[str, Any]:
    """No date in SVG files: the same figure is the same file."""
    return {"Date": None} if suffix == ".svg" else {}
