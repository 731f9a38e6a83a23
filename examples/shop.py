"""A shop whose visitors look at the top first

A shop shows four of twelve items. What it knows of a visitor are named features, two categories and
a set, which `sb.Features` makes numbers of: `{"device": "phone", "season": "winter", "likes":
["books"]}`. Everybody looks at the first item, but only one in ten at the last. An item at the end
that was not clicked is not an item that nobody wants, but a learner takes it for one unless it is
told (`examination=`): how many people look at each position, or that they read down to the last
item that they click.

**In the picture**: how much of the way from random items (0) to the best four (1) each learner has
gone, the mean of four shops. Which of the two hints is worth more differs from shop to shop.

**To change**: make all of `LOOKS` 1, and there is nothing to tell. In a shop of your own, the
numbers come out of a log in which some slates were drawn at random: `sb.position_bias(log)`.
"""

import matplotlib.pyplot as plt
import numpy as np

import semibandit as sb

VISITS, SHOPS = 400, 4
LOOKS = [1.0, 0.4, 0.2, 0.1]  # how many people look at each position
SLOTS = len(LOOKS)
ITEMS = ["tent", "boots", "novel", "atlas", "sled", "scarf", "lamp", "sofa", "kayak", "grill",
         "puzzle", "mug"]  # fmt: skip
LIKES = ["books", "home", "outdoors"]
FEATURES = sb.Features(device=["phone", "desktop"], season=["summer", "winter"], likes="set")
LEARNERS = {
    "told nothing": ({}, "#D55E00"),
    "up to the last click": ({"examination": "up to the last click"}, "#009E73"),
    "how many look": ({"examination": LOOKS}, "#0072B2"),
}


def make_visitor(random):
    """Someone who comes to the shop, as the shop knows them."""
    return {
        "device": str(random.choice(["phone", "desktop"])),
        "season": str(random.choice(["summer", "winter"])),
        "likes": [word for word in LIKES if random.random() < 0.4],
    }


def wanted(tastes, visitor):
    """How likely the visitor wants each item, and so clicks it if they look at it."""
    words = [visitor["device"], visitor["season"], *visitor["likes"]]
    return 1 / (1 + np.exp(-0.5 - sum(tastes[word] for word in words)))


def play(options, seed):
    """Share of the way from random to the best slates, visit by visit."""
    random = np.random.default_rng(seed)
    words = ["phone", "desktop", "summer", "winter", *LIKES]
    tastes = {word: random.standard_normal(len(ITEMS)) for word in words}
    bandit = sb.SlateUCB(FEATURES, ITEMS, a=1.0, **options)
    share = []
    for _ in range(VISITS):
        visitor = make_visitor(random)
        p = wanted(tastes, visitor)
        slate = bandit.rank(visitor, slots=SLOTS)
        shown = p[[ITEMS.index(item) for item in slate.labels]]
        clicks = (random.random(SLOTS) < LOOKS) & (random.random(SLOTS) < shown)
        bandit.learn(slate, [slate.labels[k] for k in np.flatnonzero(clicks)])

        best, chance = np.sort(p)[::-1][:SLOTS] @ LOOKS, p.mean() * sum(LOOKS)
        share.append((shown @ LOOKS - chance) / (best - chance))
    return share


def main():
    """Play every learner in every shop, print and draw."""
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "semibandit"})
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    ends = np.arange(100, VISITS + 1, 100)
    print(f"share of the way from random items to the best {SLOTS}, mean of {SHOPS} shops")
    print(f"{'visits':<21}" + "".join(f"{f'{end - 99}-{end}':>9}" for end in ends))
    for name, (options, colour) in LEARNERS.items():
        shops = [play(options, seed) for seed in range(SHOPS)]
        share = np.mean(shops, axis=0).reshape(-1, 100).mean(axis=1)
        print(f"{name:<21}" + "".join(f"{one:9.2f}" for one in share))
        axes.plot(ends - 50, share, color=colour, marker="o", markersize=4, label=name)
    axes.set(xlabel="visits", ylabel="share of the best", xlim=(0, VISITS), ylim=(0, 1))
    axes.legend(reverse=True, frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig("shop.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
