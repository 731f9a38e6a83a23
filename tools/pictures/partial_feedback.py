"""The picture of docs/concepts/partial-feedback.md: who keeps learning."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from tools.pictures.runs import BLUE, GREEN, ORANGE, Rounds

import semibandit as sb

ROUNDS, SEEDS, D, K, SLOTS = 3000, 6, 10, 20, 3
LEARNERS = {
    "Greedy": (sb.Greedy, ORANGE, "--"),
    "SlateUCB": (sb.SlateUCB, BLUE, "-"),
    "OBR (told everything)": (sb.OBR, GREEN, ":"),
}


def greedy() -> Figure:
    """Regret of three learners in the worlds of `semibandit demo`: each world, and the mean."""
    worlds = [
        Rounds.of(sb.Synthetic(D, K, density=0.1, seed=seed), ROUNDS) for seed in range(SEEDS)
    ]
    figure, axes = plt.subplots(figsize=(5.6, 3.4))
    places = np.arange(0, ROUNDS + 1, 60)
    for name, (learner, colour, style) in LEARNERS.items():
        runs = [np.cumsum(world.regret(learner(D, K), SLOTS)) for world in worlds]
        lines = np.array([np.append(0.0, run)[places] for run in runs])
        axes.plot(places, lines.T, color=colour, linewidth=0.5, alpha=0.5)
        axes.plot(places, lines.mean(axis=0), style, color=colour, linewidth=2.5, label=name)
        axes.annotate(
            f"{lines[:, -1].mean():.0f}", (places[-1] + 30, lines[:, -1].mean()), va="center"
        )
    axes.set(xlabel="rounds", ylabel="regret so far", xlim=(0, ROUNDS + 200), ylim=(0, None))
    axes.legend(frameon=False)
    return figure


PICTURES = {"partial-feedback-greedy": greedy}
