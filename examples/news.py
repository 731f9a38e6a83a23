"""A news page whose readers change their minds

A news page shows three of fifteen stories. Every 60 visits the oldest story leaves the page and a
new one comes (`retire_labels`, `add_labels`); what was learned of the others stays. Meanwhile the
tastes drift: readers who came for sport in the morning want politics by night. A learner for which
all feedback counts alike is held back by what was true long ago. With `forget=100` feedback loses
half of its weight in 100 visits.

**In the picture**: how much of the way from random stories (0) to the best three (1) each learner
has gone, over three pages with different stories. Both learn equally fast. Then tastes move away,
and only one of them follows.

**To change**: set `DAY` to a billion visits, so that nothing drifts: both learners then do equally
well, since no story is on the page for long.
"""

import matplotlib.pyplot as plt
import numpy as np

import semibandit as sb

VISITS, STORIES, TOPICS, SLOTS, PAGES = 750, 15, 4, 3, 3
DAY = 1500  # visits in which tastes go once around all topics
STORY_EVERY = 60  # visits from one new story to the next
LEARNERS = {"nothing is forgotten": (None, "#D55E00"), "forget=100": (100, "#0072B2")}


def click_probability(stories, reader, visit):
    """How likely the reader clicks each story: by how its topics fit the taste of the hour."""
    angle = 2 * np.pi * visit / DAY
    cos, sin = np.cos(angle), np.sin(angle)
    turned = np.kron(np.eye(TOPICS // 2), [[cos, -sin], [sin, cos]]) @ reader
    return 1 / (1 + np.exp(1.5 - 3 * stories @ turned))


def directions(random, n):
    """The topics of n stories, or the interests of n readers."""
    x = random.standard_normal((n, TOPICS))
    return x / np.linalg.norm(x, axis=1)[:, None]


def play(forget, seed):
    """Share of the way from random to the best three stories, visit by visit."""
    random = np.random.default_rng(seed)
    names = [f"story {i}" for i in range(STORIES)]
    stories = dict(zip(names, directions(random, STORIES), strict=True))
    bandit = sb.SlateUCB(TOPICS, names, a=1.0, forget=forget)
    share = []
    for visit in range(VISITS):
        if visit and visit % STORY_EVERY == 0:
            oldest, newest = bandit.labels[0], f"story {STORIES + visit // STORY_EVERY}"
            bandit.retire_labels([oldest])
            bandit.add_labels([newest])
            del stories[oldest]
            stories[newest] = directions(random, 1)[0]
        reader = directions(random, 1)[0]
        p = click_probability(np.array(list(stories.values())), reader, visit)
        chance = dict(zip(stories, p, strict=True))

        slate = bandit.rank(reader, slots=SLOTS)
        bandit.learn(slate, [one for one in slate.labels if random.random() < chance[one]])

        shown, best = sum(chance[one] for one in slate.labels), np.sort(p)[-SLOTS:].sum()
        share.append((shown - SLOTS * p.mean()) / (best - SLOTS * p.mean()))
    return share


def main():
    """Play both learners on every page, print and draw."""
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "semibandit"})
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    ends = np.arange(150, VISITS + 1, 150)
    print(f"share of the way from random stories to the best {SLOTS}, mean of {PAGES} pages")
    print(f"{'visits':<21}" + "".join(f"{f'{end - 149}-{end}':>9}" for end in ends))
    for name, (forget, colour) in LEARNERS.items():
        pages = [play(forget, seed) for seed in range(PAGES)]
        share = np.mean(pages, axis=0).reshape(-1, 150).mean(axis=1)
        print(f"{name:<21}" + "".join(f"{one:9.2f}" for one in share))
        axes.plot(ends - 75, share, color=colour, marker="o", markersize=4)
        axes.text(ends[-1] - 60, share[-1], name, color=colour, va="center")
    axes.set(xlabel="visits", ylabel="share of the best", xlim=(0, VISITS), ylim=(0, 1))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig("news.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
