"""Feedback that comes late: say that you wait for it

Somebody who is shown three hotels books one hours later, when 150 others have been shown theirs.
`learn` takes a slate whenever its answer is there, in any order. But until then nothing is learned,
and a learner that is told nothing shows everybody the same three hotels, and new ones slowly after
that. Two things help. Give every visit its own `draw`: of hotels that are equal so far, others are
shown each time. And tell the learner what you show (`expect`): contexts are measured by those that
were ranked, not only by those that were learned, before which every visitor looks average.

**In the picture**: how much of the way from random hotels (0) to the best three (1) each learner
has gone, the mean of three worlds. `semibandit serve` does both by itself.

**To change**: leave out one of the two; or take `sb.Thompson`, which draws its estimates at random,
as uncertain as they are, and so tries many hotels while it waits.
"""

import matplotlib.pyplot as plt
import numpy as np

import semibandit as sb

VISITS, FEATURES, HOTELS, SLOTS, WORLDS = 450, 5, 12, 3, 3
RUNS = {
    "at once": (0, False, "#777777", 1),
    "150 visits late": (150, False, "#D55E00", 4),
    "late, and expected": (150, True, "#0072B2", 3),
}  # delay, whether it is expected, colour, and the point that the name is beside


def play(delay, expected, seed):
    """Share of the way from random to the best slates, visit by visit."""
    world = sb.Synthetic(FEATURES, HOTELS, seed=seed)
    bandit = sb.SlateUCB(FEATURES, HOTELS, a=1.0)
    waiting, share = [], []
    for t in range(VISITS):
        x = world.context(t)
        slate = bandit.rank(x, slots=SLOTS, draw=t if expected else 0)
        if expected:
            bandit.expect(slate)
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
    print(f"{'visits':<20}" + "".join(f"{f'{end - 74}-{end}':>9}" for end in ends))
    for name, (delay, expected, colour, beside) in RUNS.items():
        worlds = [play(delay, expected, seed) for seed in range(WORLDS)]
        share = np.mean(worlds, axis=0).reshape(-1, 75).mean(axis=1)
        print(f"{name:<20}" + "".join(f"{one:9.2f}" for one in share))
        axes.plot(ends - 37, share, color=colour, marker="o", markersize=4)
        axes.text(ends[beside] - 30, share[beside], name, color=colour, va="top")
    axes.set(xlabel="visits", ylabel="share of the best", xlim=(0, VISITS), ylim=(-0.1, 1))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig("delayed.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
