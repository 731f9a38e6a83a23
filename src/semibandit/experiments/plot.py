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
from semibandit.experiments.paper.plans import METHODS

import_extra("matplotlib", "plot", "a plot")

import matplotlib  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

__all__ = [
    "bound_plot",
    "evaluation_plot",
    "loss_curves",
    "losses_by_slots",
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
    """The figure as an <svg> element for a page: no background, its ink in the page's colour.

    A page may give its own colours for lines, `--line-0` to `--line-6`, for its dark form.
    """
    text = io.StringIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(text, format="svg", transparent=True, metadata=_undated(".svg"))
    document = text.getvalue()
    element = document[document.index("<svg") :].replace(INK, "currentColor")
    for number, colour in enumerate(COLOURS):
        element = element.replace(f": {colour}", f": var(--line-{number}, {colour})")
    return element


def loss_curves(panel: Mapping[str, Any], title: str, levels: Mapping[str, Any]) -> Figure:
    """The running average of ℓ of each method: means over seeds, from the least to the largest."""
    with _panel(title) as (figure, axes):
        for method, points in panel.items():
            curves, marks = points[None].values("curve"), points[None].results[0]["marks"]
            _line_with_range(axes, _number(method, panel), marks, curves, method, alpha=0.2)
        _levels(axes, levels, marks)
        axes.set(xscale="log", yscale="log", xlabel="round", ylabel="average loss so far")
        axes.set_xlim(left=10)
        _legend_below(figure, axes)
    return figure


def losses_by_slots(
    panel: Mapping[str, Any], key: str, title: str, levels: Mapping[str, Any]
) -> Figure:
    """A result of each method against S: means over seeds, from the least to the largest."""
    with _panel(title) as (figure, axes):
        for method, points in panel.items():
            number, slots = _number(method, panel), sorted(points)
            runs = np.transpose([points[S].values(key) for S in slots])
            _line_with_range(axes, number, slots, runs, method, alpha=0.2, marker="o", ms=3.5)
        _levels(axes, levels, slots)
        axes.set(xscale="log", xlabel="S, the most labels shown", ylabel="final average loss")
        axes.set_xticks(slots, [str(S) for S in slots])
        axes.minorticks_off()
        _legend_below(figure, axes)
    return figure


def width_plot(losses: Mapping[str, Sequence[float]], baseline: float) -> Figure:
    """The final loss of each width, a dot per seed, beside OBR's."""
    with _plot(height=3.4, width=5.2) as (figure, axes):
        for place, values in enumerate(losses.values()):
            axes.plot([place] * len(values), values, "o", color=COLOURS[0], ms=4, alpha=0.7)
            mean = sum(values) / len(values)
            axes.plot([place - 0.25, place + 0.25], [mean] * 2, color=COLOURS[0])
        axes.axhline(baseline, color=COLOURS[1], ls="--", label="OBR (full information)")
        axes.set_xticks(range(len(losses)), list(losses), rotation=45, ha="right")
        axes.set(ylabel="average ℓ$_{a,c}$", ylim=(0, None))
        axes.legend()
    return figure


def price_plot(prices: Mapping[str, Mapping[str, float]]) -> Figure:
    """Loss ÷ OBR's against the width, a line per data set."""
    with _plot(height=3.8, width=5.2) as (figure, axes):
        for number, (data, row) in enumerate(prices.items()):
            _line_over_names(axes, number, row, data)
        axes.set(ylabel="loss ÷ OBR's loss")
        axes.axhline(1.0, color=INK, lw=0.8)
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center")
    return figure


def bound_plot(lines: Mapping[str, Mapping[str, Any]], title: str) -> Figure:
    """Regret over time on log-log axes with bands over seeds, and the bounds, thin and dotted.

    Each line has its own dashes, so that one does not hide another, and √t is there to compare
    slopes with.
    """
    with _panel(title) as (figure, axes):
        labelled = False
        for number, (name, result) in enumerate(lines.items()):
            rounds, runs = result["marks"], np.asarray(result["regret"])
            dash = (5 * number, (5, 3 + 2 * number)) if number else "-"  # those below are seen
            _line_with_range(axes, number, rounds, runs, name, alpha=0.12, ls=dash)
            if result.get("bound"):
                bound, colour = result["bound"], COLOURS[number % len(COLOURS)]
                label = "" if labelled else "a bound"
                axes.plot(rounds, bound, color=colour, lw=1, ls=(0, (1, 2)), label=label)
                labelled = True
        longest = max((line["marks"] for line in lines.values()), key=lambda marks: marks[-1])
        axes.plot(longest, np.sqrt(longest), color=INK, lw=0.8, alpha=0.6, label="slope ½")
        axes.set(xscale="log", yscale="log", xlabel="round", ylabel="regret")
        axes.set_xlim(left=10)
        axes.set_ylim(bottom=0.5)
        _legend_below(figure, axes)
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
def _plot(height: float, width: float = 7.5) -> Iterator[tuple[Figure, Axes]]:
    """A figure with one pair of axes, in our style while the block draws."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.subplots()


@contextmanager
def _panel(title: str) -> Iterator[tuple[Figure, Axes]]:
    """A figure of one panel, small enough that its text can be read on a telephone."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.4, 4.2), layout="constrained")
        axes = figure.subplots()
        axes.set_title(title)
        yield figure, axes


def _line(axes: Axes, number: int, x: Any, y: Any, label: str, **more: Any) -> str:
    """A line that differs from the others also without its colour, which is returned."""
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
    axes.plot(x, y, **{"color": colour, "ls": dash, "lw": 1.6, "label": label, **more})
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


def _number(method: str, panel: Mapping[str, Any]) -> int:
    """The number of a method's colour: the same in all figures for the paper's methods."""
    return list(METHODS if method in METHODS else panel).index(method)


def _levels(axes: Axes, levels: Mapping[str, Any], x: Sequence[int]) -> None:
    """Lines that are there to compare with: a number, or a number for each x, by the name."""
    for dash, (name, level) in zip((":", "-."), levels.items(), strict=False):
        y = [level[at] for at in x] if isinstance(level, Mapping) else [level] * len(x)
        axes.plot(x, y, color=INK, lw=1.2, ls=dash, label=name)


def _legend_below(figure: Figure, axes: Axes) -> None:
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, handlelength=1.5,
        columnspacing=0.8, fontsize=8.5,
    )  # fmt: skip


def _top(curves: Mapping[str, Floats]) -> float:
    """A height that shows the learners that learn; one line may leave the picture."""
    finals = sorted(float(runs[:, -1].max()) for runs in curves.values())
    return 1.15 * (finals[-2] if len(finals) > 2 else finals[-1]) + 1e-9


def _undated(suffix: str) -> dict[str, Any]:
    """No date in SVG files: the same figure is the same file."""
    return {"Date": None} if suffix == ".svg" else {}
