"""The picture of docs/concepts/bounds.md: measured regret and what Theorem 1 says."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from tools.pictures.runs import BLUE, ORANGE, Rounds

import semibandit as sb

ROUNDS, D, K, SLOTS = 4000, 5, 10, 3
WORST = 2.5  # all slots wrong: (1-a)(1 + 2/3 + 1/3), and as many certain labels missed: 3a
FIGURE2 = {"scale": "unit", "bias": False, "project": "all", "probe": 0}


def regret() -> Figure:
    """Regret with the theorem's width and with `Scaled(0.25)`, and what it can be at most."""
    world = sb.Synthetic(D, K, seed=0)
    rounds = Rounds.of(world, ROUNDS)
    places = np.unique(np.geomspace(10, ROUNDS, 40).astype(int))
    players = {
        "Figure 2 with the theorem's width": (
            sb.SlateUCB(D, K, width=sb.KnownNorm(world.U), **FIGURE2),
            ORANGE,
            "--",
        ),
        "Figure 2 with Scaled(0.25)": (sb.SlateUCB(D, K, **FIGURE2), BLUE, "-"),
    }
    figure, axes = plt.subplots(figsize=(5.6, 3.8))
    far = np.unique(np.geomspace(10, 1e9, 60).astype(int))
    bound = [
        sb.bounds.theorem1(T=int(T), d=D, K=K, U=1.0, loss=world.loss, slots=SLOTS) for T in far
    ]
    axes.plot(far, bound, color="black", linewidth=2, label="Theorem 1's bound")
    axes.plot(far, WORST * far, ":", color="grey", label="the worst that could happen")
    for name, (learner, colour, style) in players.items():
        total = np.cumsum(rounds.regret(learner, SLOTS))
        axes.plot(places, total[places - 1], style, color=colour, linewidth=2, label=name)
    axes.set(xscale="log", yscale="log", xlabel="rounds", ylabel="regret so far")
    axes.minorticks_off()
    axes.legend(frameon=False)
    return figure


PICTURES = {"bounds-regret": regret}
