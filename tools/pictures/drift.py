"""The picture of docs/how-to/drift.md: learners that forget, when all tastes change at once."""

import numpy as np
from matplotlib import pyplot as plt
from tools.pictures.shop import Shop, share_of_the_way

import semibandit as sb

SHOP, SLOTS, SEEDS = Shop(items=20, features=6), 3, 2
BEFORE, AFTER, EVERY = 2000, 3000, 250
HALF_LIVES = {
    "never forgets": (None, "#7f7f7f", ":"),
    "forget=1000": (1000, "#0072b2", "-"),
    "forget=100": (100, "#d55e00", "--"),
}


def forgetting():
    """The share of what the best slates gain, before and after the change."""
    figure, axes = plt.subplots()
    visits = np.arange(EVERY, BEFORE + AFTER + 1, EVERY)
    for name, (half_life, colour, dashes) in HALF_LIVES.items():
        runs = [curve(half_life, seed) for seed in range(SEEDS)]
        axes.plot(visits, np.mean(runs, 0), dashes, color=colour, label=name)
    axes.axvline(BEFORE, color="black", linewidth=0.8)
    axes.text(BEFORE - 40, 0.02, "all tastes change", rotation=90, ha="right", va="bottom")
    axes.set(xlabel="visits", ylabel="share of what\nthe best slates gain", ylim=(0, 1))
    figure.legend(loc="outside upper left", ncols=3, frameon=False)
    return figure


def curve(half_life, seed):
    """The share in each group of visits."""
    change = SHOP.visits(AFTER, seed + 100, tastes=SHOP.tastes(seed + 50))
    pairs = zip(SHOP.visits(BEFORE, seed), change, strict=True)
    X, P, Y = (np.concatenate(pair) for pair in pairs)
    learner = sb.SlateUCB(SHOP.features, SHOP.items, a=1, forget=half_life, seed=seed)
    slates = sb.replay(learner, X, Y, SLOTS).slates
    return share_of_the_way(P, slates, SLOTS).reshape(-1, EVERY).mean(1)


PICTURES = {"drift-forget": forgetting}
