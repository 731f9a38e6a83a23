"""The picture of the README: learners at work in a simulated shop, over several seeds."""

import numpy as np
from matplotlib import pyplot as plt
from tools.pictures.shop import Shop, share_of_the_way

import semibandit as sb

VISITS, SEEDS, SLOTS = 3000, 4, 4
SHOP = Shop(items=40, features=8)
EVERY = 150  # visits in a point of a curve
LEARNERS = {  # what the line says of each: how to make it, and its colour and dashes
    "OBR: told about every item": (sb.OBR, "#7f7f7f", "--"),
    "SlateUCB: told about what it showed": (sb.SlateUCB, "#0072b2", "-"),
    "Greedy: the same without exploring": (sb.Greedy, "#d55e00", "-."),
}


def learning():
    """The share of the way from random slates to the best possible ones, by visits."""
    figure, axes = plt.subplots()
    visits = np.arange(EVERY, VISITS + 1, EVERY)
    shops = [SHOP.visits(VISITS, seed) for seed in range(SEEDS)]
    for name, (learner, colour, dashes) in LEARNERS.items():
        runs = np.array([curve(learner, seed, *shop) for seed, shop in enumerate(shops)])
        axes.plot(visits, runs.mean(0), dashes, color=colour, label=name)
        axes.fill_between(visits, runs.min(0), runs.max(0), color=colour, alpha=0.2, linewidth=0)
    same = np.mean([share_of_the_way(P, best_list(P), SLOTS).mean() for _, P, _ in shops])
    axes.axhline(same, color="black", linestyle=":", label="the best list that all visitors get")
    axes.set(xlabel="visits", ylabel="share of what\nthe best slates gain", ylim=(0, 1))
    figure.legend(loc="outside upper left", ncols=2, frameon=False, fontsize=9)
    return figure


def curve(learner, seed, X, P, Y):
    """The share in each group of visits, by what was really likely to be clicked."""
    trace = sb.replay(learner(X.shape[1], P.shape[1], a=1, seed=seed), X, Y, SLOTS)
    return share_of_the_way(P, trace.slates, SLOTS).reshape(-1, EVERY).mean(1)


def best_list(P):
    """The items that are clicked most, on average over all visits: nobody knows them before."""
    return np.argsort(P.mean(0))[-SLOTS:]


PICTURES = {"readme-learning": learning}
