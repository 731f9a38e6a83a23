"""Plots, with matplotlib (the extra `plot`); import this module only to draw."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from semibandit._arrays import Floats, Ints

__all__ = ["regret_plot"]

COLOURS = ("#0072b2", "#d55e00", "#999999", "#009e73", "#000000")


def regret_plot(curves: dict[str, Floats], rounds: Ints, path: Path) -> None:
    """Regret over time, a line per learner with a band from its lowest to its highest seed."""
    with matplotlib.rc_context({"font.size": 10, "svg.hashsalt": "semibandit"}):
        figure = Figure(figsize=(7.5, 4.5), layout="constrained")
        axes = figure.add_subplot()
        for (name, runs), colour in zip(curves.items(), COLOURS * 9, strict=False):
            mean = runs.mean(axis=0)
            axes.plot(rounds, mean, color=colour, lw=1.8, label=name)
            axes.fill_between(
                rounds, runs.min(axis=0), runs.max(axis=0), color=colour, alpha=0.15, lw=0
            )
        axes.set_xlabel("round")
        axes.set_ylabel("regret against the Bayes slate")
        axes.set_xlim(0, rounds[-1])
        axes.set_ylim(bottom=0, top=_top(curves))
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        figure.savefig(path, dpi=150)


def _top(curves: dict[str, Floats]) -> float:
    """A height that shows the learners that learn; a line that leaves the picture may do so."""
    finals = sorted(float(runs[:, -1].max()) for runs in curves.values())
    return 1.15 * (finals[-2] if len(finals) > 2 else finals[-1]) + 1e-9
