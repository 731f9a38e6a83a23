"""Against an adversary: exact regret, and what the theorem promises

In a world whose truth is known, regret is exact: by how much the slates shown cost more, in
expectation, than the best ones. `sb.Synthetic` draws contexts at random. `sb.Adversarial` knows the
true weights, asks the learner what it *would* show for four contexts, and sends the one in which it
loses most. Theorem 1 of the paper holds for both: with its own widths (`sb.KnownNorm`), regret is
below a bound that grows like the square root of the rounds, but for a logarithm.

**In the picture**: regret, the mean of two worlds, on logarithmic axes. Random slates lose equally
much in every round, which is slope 1. The learner gets better, with a slope of about a half. The
adversary costs it more than twice as much as chance does, but cannot keep it from learning. The
bound lies far above: it holds for *every* world, with probability 95%.

**To change**: `width=sb.Scaled(0.25)`, which people use in practice; `sb.Greedy`, which has no
guarantee and often does better in worlds this small; `sb.bounds.theorem2` with `sb.UnknownNorm()`.
"""

import matplotlib.pyplot as plt
import numpy as np

import semibandit as sb

ROUNDS, FEATURES, LABELS, SLOTS, WORLDS = 400, 3, 5, 2, 2
# the paper's Figure 2 to the letter, which the theorem is about
FIGURE_2 = {"scale": "unit", "bias": False, "project": "all", "probe": 0}


def regrets(seed):
    """What each run has lost up to every round, and the bound; all in one world."""
    adversary = sb.Adversarial(FEATURES, LABELS, tries=4, seed=seed)
    chance = sb.Synthetic(FEATURES, LABELS, seed=seed)  # the same true weights
    learners = [
        sb.SlateUCB(FEATURES, LABELS, width=sb.KnownNorm(chance.U), **FIGURE_2) for _ in range(2)
    ]
    runs = {
        "random slates": (sb.Random(FEATURES, LABELS), chance),
        "SlateUCB, against the adversary": (learners[0], adversary),
        "SlateUCB, contexts at random": (learners[1], chance),
    }
    size = {"d": FEATURES, "K": LABELS, "U": chance.U, "loss": chance.loss, "slots": SLOTS}
    bound = [sb.bounds.theorem1(T=t, **size) for t in range(1, ROUNDS + 1)]
    found = {"the bound of Theorem 1": np.array(bound)}
    for name, (learner, world) in runs.items():
        found[name] = sb.play(learner, world, ROUNDS, slots=SLOTS, progress=False).regret
    return found


def main():
    """Play in every world, print and draw."""
    worlds = [regrets(seed) for seed in range(WORLDS)]
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "semibandit"})
    figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    colours = ("#000000", "#777777", "#D55E00", "#0072B2")
    late = np.arange(100, ROUNDS + 1)
    points = np.unique(np.geomspace(1, ROUNDS, 40).astype(int))
    print(f"regret up to a round, mean of {WORLDS} worlds; slope over the last 300 rounds")
    print(f"{'round':<33}{50:>7}{100:>7}{200:>7}{400:>7}{'slope':>8}")
    for name, colour in zip(worlds[0], colours, strict=True):
        regret = np.mean([world[name] for world in worlds], axis=0)
        slope = np.polyfit(np.log(late), np.log(regret[late - 1]), 1)[0]
        marks = "".join(f"{regret[t - 1]:7.0f}" for t in (50, 100, 200, 400))
        print(f"{name:<33}{marks}{slope:8.1f}")
        axes.plot(points, regret[points - 1], color=colour)
        axes.text(1.1 * ROUNDS, regret[-1], name, color=colour, va="center")
    axes.set(xscale="log", yscale="log", xlim=(1, ROUNDS))
    axes.set(xlabel="rounds", ylabel="regret")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig("adversary.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
