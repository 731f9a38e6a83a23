"""Feedback that comes late: draw while you wait

Somebody who is shown three hotels books one hours later, when 150 others have been shown theirs.
`learn` takes a slate whenever its answer is there, in any order. But until then nothing is learned:
`sb.SlateUCB`, which does not draw, shows everybody the same three hotels until the first answer
comes, and new ones slowly after that. `sb.Thompson` draws its estimates at random, as uncertain as
they are, and so tries many hotels while it waits.

**In the picture**: how much of the way from random hotels (0) to the best three (1) each learner
has gone, the mean of three worlds. With answers at once the two are much closer.

**To change**: `sb.PlackettLuce(bandit, temperature=0.05)` draws around any learner, and does about
as well as Thompson. Contexts here have length 1, hence `scale="unit"`: the default measures a
context by those learned before, and until the first answer every visitor looks average to it.
"""

import matplotlib.pyplot as plt
import numpy as np

import semibandit as sb

VISITS, FEATURES, HOTELS, SLOTS, WORLDS = 450, 5, 12, 3, 3
RUNS = {
    "SlateUCB, at once": (sb.SlateUCB, 0, "#777777"),
    "SlateUCB, 150 visits late": (sb.SlateUCB, 150, "#D55E00"),
    "Thompson, 150 visits late": (sb.Thompson, 150, "#0072B2"),
}


def play(learner, delay, seed):
    """Share of the way from random to the best slates, visit by visit."""
    world = sb.Synthetic(FEATURES, HOTELS, seed=seed)
    bandit = learner(FEATURES, HOTELS, a=1.0, scale="unit")
    waiting, share = [], []
    for t in range(VISITS):
        x = world.context(t)
        slate = bandit.rank(x, slots=SLOTS, draw=t)
        relevant = world.relevant(t, x)
        waiting.append((t, slate, [hotel for hotel in slate.labels if hotel in relevant]))
        while waiting and waiting[0][0] + delay <= t:  # the answers that have come by now
            _, earlier, booked = waiting.pop(0)
            bandit.learn(earlier, booked)

        p = world.prob(x)
        chance, best = SLOTS * p.mean(), np.sort(p)[-SLOTS:].sum()
        share.append((p[slate.labels].sum() - chance) / (best - chance))
    return share


def main():
    """Play every run in every world, print and draw."""
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "semibandit"})
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    ends = np.arange(75, VISITS + 1, 75)
    print(f"share of the way from random hotels to the best {SLOTS}, mean of {WORLDS} worlds")
    print(f"{'visits':<26}" + "".join(f"{f'{end - 74}-{end}':>9}" for end in ends))
    for name, (learner, delay, colour) in RUNS.items():
        worlds = [play(learner, delay, seed) for seed in range(WORLDS)]
        share = np.mean(worlds, axis=0).reshape(-1, 75).mean(axis=1)
        print(f"{name:<26}" + "".join(f"{one:9.2f}" for one in share))
        axes.plot(ends - 37, share, color=colour, marker="o", markersize=4)
        axes.text(ends[-1] - 28, share[-1], name, color=colour, va="center")
    axes.set(xlabel="visits", ylabel="share of the best", xlim=(0, VISITS), ylim=(-0.1, 1))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig("delayed.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
