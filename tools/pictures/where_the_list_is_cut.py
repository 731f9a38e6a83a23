"""The pictures of docs/concepts/where-the-list-is-cut.md."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from tools.pictures.runs import BLUE, GREEN, ORANGE, PURPLE

import semibandit as sb

PROB = np.array([0.95, 0.7, 0.55, 0.45, 0.35, 0.25, 0.2, 0.1, 0.05, 0.02])
STYLES = ((ORANGE, "--"), (BLUE, "-"), (GREEN, ":"), (PURPLE, "-."))


def losses(a: float, cost: object) -> np.ndarray:
    """The expected loss of the first s labels, s = 0, 1, ..."""
    sizes = range(len(PROB) + 1)
    return np.array([sb.expected_loss("ac", PROB, range(s), a=a, cost=cost) for s in sizes])


def loss() -> Figure:
    """The expected loss by where the list is cut, for three a; its least is marked."""
    figure, axes = plt.subplots(figsize=(5.6, 3.4))
    for a, (colour, style) in zip((0.3, 0.5, 0.8), STYLES, strict=False):
        line = losses(a, sb.decreasing)
        best = len(sb.best_slate(PROB, a=a))
        axes.plot(line, style, color=colour, marker=".", label=f"a = {a}")
        axes.plot(best, line[best], "o", color=colour, markersize=11, fillstyle="none", mew=2)
        axes.annotate(
            f"{best}", (best, line[best]), (0, -16), textcoords="offset points", ha="center"
        )
    axes.set(xlabel="labels shown, the most probable first", ylabel="expected loss", ylim=(0, None))
    axes.set_xticks(range(len(PROB) + 1))
    axes.legend(frameon=False)
    return figure


def sizes() -> Figure:
    """How many labels are shown, by a, for three kinds of costs."""
    kinds = {
        "decreasing: (s - i + 1)/s": sb.decreasing,
        "constant: 1": sb.constant,
        "only the first two cost": lambda i, s: 1.0 if i <= 2 else 0.0,
    }
    figure, axes = plt.subplots(figsize=(5.6, 3.1))
    weights = np.linspace(0, 1, 101)
    for (name, cost), (colour, style) in zip(kinds.items(), STYLES[1:], strict=True):
        shown = [len(sb.best_slate(PROB, a=a, cost=cost)) for a in weights]
        axes.step(weights, shown, style, where="post", color=colour, label=name, linewidth=2)
    axes.set(xlabel="a, the weight of what is missed", ylabel="labels shown")
    axes.set_yticks(range(0, len(PROB) + 1, 2))
    axes.legend(frameon=False)
    return figure


PICTURES = {"where-the-list-is-cut-loss": loss, "where-the-list-is-cut-sizes": sizes}
