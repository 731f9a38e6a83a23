"""Pictures of docs/how-to/choose.md: what a, costs, slots and the width do to slates."""

import numpy as np
from matplotlib import pyplot as plt
from tools.pictures.shop import Shop, share_of_the_way

import semibandit as sb

PROB = np.array([0.9, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.12, 0.06, 0.02])  # of ten items
COSTS = {"decreasing": sb.decreasing, "constant": sb.constant}
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#7f7f7f"


def by_a():
    """From which a on each item is on the best slate, for both costs."""
    figure, panels = plt.subplots(1, 2, sharey=True)
    values = np.linspace(0, 1, 1001)
    for axes, (name, cost) in zip(panels, COSTS.items(), strict=True):
        sizes = np.array([len(sb.best_slate(PROB, None, a, cost)) for a in values])
        for item in range(len(PROB)):
            first = values[np.argmax(sizes > item)]
            axes.barh(item, 1 - first, left=first, height=0.7, color=BLUE)
        _items(axes)
        axes.set(title=f"cost = {name}", xlabel="a", xlim=(0, 1))
    panels[0].set_ylabel("probability of each item")
    return figure


def by_slots():
    """Which items are on the best slate for each number of slots, for three values of a."""
    figure, panels = plt.subplots(1, 3, sharey=True)
    for axes, a in zip(panels, (0.5, 0.8, 1.0), strict=True):
        for slots in range(1, len(PROB) + 1):
            size = len(sb.best_slate(PROB, slots, a))
            axes.bar(slots, size, bottom=-0.5, width=0.7, color=BLUE)
        _items(axes)
        axes.set(title=f"a = {a:g}", xlabel="slots", xticks=[1, 5, 10])
    panels[0].set_ylabel("probability of each item")
    return figure


def by_width():
    """How soon and how well a shop's tastes are learned, by how much is explored."""
    figure, axes = plt.subplots()
    visits, every, slots, seeds = 3000, 250, 4, 3
    shop = Shop()
    widths = {
        "Scaled(0): never explores": (sb.Scaled(0), GREY, ":"),
        "Scaled(0.25): the default": (sb.Scaled(), BLUE, "-"),
        "Scaled(1)": (sb.Scaled(1), GREEN, "--"),
        "Scaled(4)": (sb.Scaled(4), ORANGE, "-."),
    }
    for name, (width, colour, dashes) in widths.items():
        runs = []
        for seed in range(seeds):
            X, P, Y = shop.visits(visits, seed)
            learner = sb.SlateUCB(shop.features, shop.items, a=1, width=width, seed=seed)
            share = share_of_the_way(P, sb.replay(learner, X, Y, slots).slates, slots)
            runs.append(share.reshape(-1, every).mean(1))
        seen = np.arange(every, visits + 1, every)
        axes.plot(seen, np.mean(runs, 0), dashes, color=colour, label=name)
    axes.set(xlabel="visits", ylabel="share of what\nthe best slates gain", ylim=(-0.05, 1))
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    return figure


def _items(axes):
    """A line for each item, the most probable on top."""
    axes.set_yticks(range(len(PROB)), [f"{p:g}" for p in PROB])
    axes.set_ylim(len(PROB) - 0.5, -0.5)


PICTURES = {"choose-a": by_a, "choose-slots": by_slots, "choose-width": by_width}
