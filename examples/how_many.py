"""How many to show: let the costs decide

A slate may have up to eight of twelve labels. How many are shown is up to the loss: `a` is the
weight of a label that was missed, 1 - a that of a wrong one, and `cost` says what a wrong one costs
in its position. With `sb.constant` a label is shown if it is relevant with probability 1 - a or
more. With `sb.decreasing`, the default, mistakes further down cost less, and slates get longer.
For some visitors much is relevant, for others nothing: nobody sets the length, slates follow.

**In the picture**: slates of the last 200 of 400 visits, by how many labels are relevant for such a
visitor on average. On the grey line, just as many are shown.

**To change**: `a=1` fills every slot: a ranking without an end. `at_least=2` never shows fewer than
two. `cost` may be any function c(i, s) of the position i and the length s of the slate.
"""

import matplotlib.pyplot as plt
import numpy as np

import semibandit as sb

VISITS, SLOTS, LABELS, TOPICS = 400, 8, 12, 4
WEIGHTS = {0.3: "#009E73", 0.5: "#0072B2", 0.7: "#D55E00"}  # of missed labels
COSTS = {"constant": sb.constant, "decreasing": sb.decreasing}
GROUPS = [(0, 2), (2, 4), (4, 6), (6, 9)]  # visitors, by how many labels are relevant for them


def make_visitors(random):
    """Contexts, how likely each label is relevant for each of them, and whether it is."""
    interest = random.uniform(-1, 1, (VISITS, 1))
    topics = random.dirichlet([0.5] * TOPICS, VISITS)
    labels = random.uniform(-1, 1, (TOPICS, LABELS))
    P = 1 / (1 + np.exp(1.0 - 2.5 * interest - 3.0 * topics @ labels))
    return np.hstack([interest, topics]), P, random.random(P.shape) < P


def play(a, cost, X, Y):
    """How many labels were shown in each visit, and how many of these were relevant."""
    bandit = sb.SlateUCB(TOPICS + 1, LABELS, a=a, cost=cost)
    shown, right = [], []
    for x, y in zip(X, Y, strict=True):
        slate = bandit.rank(x, slots=SLOTS)
        clicked = [label for label in slate.labels if y[label]]
        bandit.learn(slate, clicked)
        shown.append(len(slate))
        right.append(len(clicked))
    return np.array(shown), np.array(right)


def main():
    """Play with every cost and weight, print and draw."""
    X, P, Y = make_visitors(np.random.default_rng(4))
    late, relevant = np.arange(VISITS) >= 200, P.sum(axis=1)
    groups = [late & (relevant >= low) & (relevant < high) for low, high in GROUPS]
    middle = [relevant[group].mean() for group in groups]
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "semibandit"})
    figure, panels = plt.subplots(1, 2, figsize=(7, 3.2), sharey=True, layout="constrained")
    print("labels shown if so many are relevant; the share that is right, the share that is missed")
    print(f"{'cost':<12}{'a':>4}", end="")
    print("".join(f"{f'{low} to {high}':>8}" for low, high in GROUPS) + "   right  missed")
    for axes, (name, cost) in zip(panels, COSTS.items(), strict=True):
        axes.plot([0, SLOTS], [0, SLOTS], color="#BBBBBB")
        for a, colour in WEIGHTS.items():
            shown, right = play(a, cost, X, Y)
            length = [shown[group].mean() for group in groups]
            precision = right[late].sum() / shown[late].sum()
            missed = 1 - right[late].sum() / Y[late].sum()
            print(f"{name:<12}{a:>4}" + "".join(f"{one:8.1f}" for one in length), end="")
            print(f"{precision:8.0%}{missed:8.0%}")
            axes.plot(middle, length, color=colour, marker="o", markersize=4, label=f"a = {a}")
        axes.set(title=f"{name} costs", xlabel="relevant labels, on average")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set(ylabel="labels shown")
    panels[1].legend(reverse=True, frameon=False, loc="lower right")
    figure.savefig("how_many.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
