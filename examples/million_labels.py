"""A million labels on one core

A radio has a million songs. For each listener a search finds 100: 80 of the 100 songs in the
charts, and 20 of all others. The learner plays the five that it thinks best. `candidates=` costs
what the candidates cost, however many labels there are. A label that was never shown takes 57
bytes; it gets weights and a matrix when it is.

**In the picture**: on the left, songs heard to the end, beside five of the candidates at random
and the best five. On the right, how many songs were ever played: what the learner keeps grows with
these, not with the million.

**To change**: leave out `candidates`, and `rank` looks at all songs, which takes some tenths of a
second. With hundreds of features, `model=sb.Diagonal()` keeps d numbers per label in place of d².
"""

import matplotlib.pyplot as plt
import numpy as np

import semibandit as sb

SONGS, CHARTS, FEATURES, SLOTS, LISTENERS = 1_000_000, 100, 4, 5, 1500


def search(random):
    """The candidates for a listener, by their numbers."""
    charts = random.choice(CHARTS, 80, replace=False)
    return np.concatenate([charts, np.unique(random.integers(CHARTS, SONGS, 20))])


def main():
    """Play for every listener, print and draw."""
    random = np.random.default_rng(0)
    tastes = random.standard_normal((SONGS, FEATURES), dtype=np.float32)
    bandit = sb.SlateUCB(FEATURES, labels=SONGS, a=1.0)
    heard, played, ever = [], set(), []
    for _ in range(LISTENERS):
        listener = random.standard_normal(FEATURES)
        listener /= np.linalg.norm(listener)
        songs = search(random)
        p = 1 / (1 + np.exp(-2 * tastes[songs] @ listener))  # heard to the end
        chance = dict(zip(songs.tolist(), p.tolist(), strict=True))

        slate = bandit.rank(listener, slots=SLOTS, candidates=songs.tolist())
        bandit.learn(slate, [song for song in slate.labels if random.random() < chance[song]])

        learned = sum(chance[song] for song in slate.labels)
        heard.append((np.sort(p)[-SLOTS:].sum(), learned, SLOTS * p.mean()))
        played.update(slate.labels)
        ever.append(len(played))

    curves = np.array(heard).reshape(-1, 150, 3).mean(axis=1).T
    names, colours = ("the best", "SlateUCB", "at random"), ("#D55E00", "#0072B2", "#777777")
    print(f"{SONGS:,} songs, {songs.size} candidates each time, {SLOTS} played")
    print(f"{'':<12}{'listeners 1-150':>18}{'the last 150':>15}")
    for name, curve in zip(names, curves, strict=True):
        print(f"{name:<12}{curve[0]:18.1f}{curve[-1]:15.1f}   songs heard to the end")
    print(f"songs ever played: {ever[-1]:,}")

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "semibandit"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
    ends = np.arange(150, LISTENERS + 1, 150)
    for name, curve, colour in zip(names, curves, colours, strict=True):
        left.plot(ends - 75, curve, color=colour)
        left.text(LISTENERS, curve[-1], name, color=colour, va="center")
    left.set(xlabel="listeners", ylabel="songs heard to the end, of 5", ylim=(0, 5.2))
    left.set(xlim=(0, LISTENERS))
    right.plot(np.arange(1, LISTENERS + 1)[::50], ever[::50], color="#0072B2")
    right.axhline(SONGS, color="#D55E00")
    right.text(20, 0.45 * SONGS, "all songs", color="#D55E00")
    right.text(20, 2.5 * ever[-1], "songs ever played", color="#0072B2")
    right.set(xlabel="listeners", ylabel="songs", yscale="log", ylim=(1, 3 * SONGS))
    right.yaxis.set_major_formatter("{x:,.0f}")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig("million_labels.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
