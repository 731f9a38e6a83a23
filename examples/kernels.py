"""Kernels against linear: which cafés are near?

A visitor stands somewhere in a town (two coordinates), and a café is relevant if it is within
walking distance. "Near" is not linear in the coordinates: a linear model divides the town by a
straight line, and can at best say "in the north". `sb.Dual(sb.rbf(gamma))` keeps the contexts that
it learned from and compares new ones with them: what was near here is near close by.

**In the picture**: on the left, how many of the near cafés that fit into the slate were shown, as
visits go by, the mean of three towns. On the right, in one town, where each learner thinks that
café A is near after 400 visits: inside its line for the kernel, on one side of it for the linear
model. The dashed circle is the truth.

**To change**: `gamma` is how quickly places become strangers: try 0.5 and 500. The kernel keeps the
contexts of all visits in which a label was shown, and gets slower with them;
`sb.Dual(..., budget=100)` caps how many. If relevance is linear, stay with the default.
"""

import matplotlib.pyplot as plt
import numpy as np

import semibandit as sb

VISITS, SLOTS, CAFES, WALK = 400, 3, 10, 0.3
LEARNERS = {
    "linear": (sb.Full(), "#D55E00"),
    "kernel": (sb.Dual(sb.rbf(gamma=15.0)), "#0072B2"),
}


def play(model, seed):
    """Learn a town: the learner, the cafés, and how much of what is near was shown, by visit."""
    random = np.random.default_rng(seed)
    cafes = random.uniform(-0.5, 0.5, (CAFES, 2))
    # not scaled: at unit length only the direction of a place would be left
    bandit = sb.SlateUCB(2, CAFES, model=model, scale="none", a=0.7)
    share = []
    for _ in range(VISITS):
        here = random.uniform(-0.5, 0.5, 2)
        near = np.linalg.norm(cafes - here, axis=1) < WALK
        slate = bandit.rank(here, slots=SLOTS)
        clicked = [cafe for cafe in slate.labels if near[cafe]]
        bandit.learn(slate, clicked)
        share.append(len(clicked) / min(SLOTS, near.sum()) if near.any() else np.nan)
    return bandit, cafes, np.array(share)


def region(bandit, cafe, n=25):
    """How likely the café is near, by what was learned, on a grid over the town."""
    side = np.linspace(-0.5, 0.5, n)
    grid = [bandit.scores([x, y]).estimate[cafe] for y in side for x in side]
    return side, np.reshape(grid, (n, n))


def main():
    """Learn three towns with each model, print and draw."""
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "semibandit"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
    ends = np.arange(100, VISITS + 1, 100)
    print("cafés that were near and shown, of those that could be; 3 towns")
    print(f"{'visits':<10}" + "".join(f"{f'{end - 99}-{end}':>9}" for end in ends))
    for name, (model, colour) in LEARNERS.items():
        towns = [play(model, seed) for seed in range(3)]
        blocks = np.array([share for _, _, share in towns]).reshape(3, -1, 100)
        share = np.nanmean(blocks, axis=(0, 2))
        print(f"{name:<10}" + "".join(f"{one:9.0%}" for one in share))
        left.plot(ends - 50, share, color=colour, marker="o", markersize=4)
        left.text(ends[-1] - 40, share[-1], name, color=colour, va="center")
        bandit, cafes, _ = towns[0]
        cafe = np.argmin(np.linalg.norm(cafes, axis=1))  # the one in the middle of the town
        side, estimate = region(bandit, cafe)
        right.contour(side, side, estimate, levels=[0.5], colors=[colour])
    right.add_patch(plt.Circle(cafes[cafe], WALK, fill=False, ls="--", color="#555555"))
    right.plot(*cafes.T, ".", color="#999999")
    right.annotate("A", cafes[cafe], xytext=(5, 3), textcoords="offset points")
    right.set(aspect="equal", xlim=(-0.5, 0.5), ylim=(-0.5, 0.5), xticks=[], yticks=[])
    right.set(title="where café A is near", xlabel="west to east", ylabel="south to north")
    left.set(xlabel="visits", ylabel="near and shown", ylim=(0, 1.05), xlim=(0, VISITS))
    left.spines[["top", "right"]].set_visible(False)
    figure.savefig("kernels.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
