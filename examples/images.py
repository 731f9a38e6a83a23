"""Tagging images, told only about the tags that were shown

Mediamill is a set of 43,907 video frames. 120 numbers describe a frame, and of 101 concepts (face,
sky, crowd, ...) 4.4 are right for it, on average. The learner sees one frame after the other, shows
up to ten tags and is told which of these were right, never which others would have been. `sb.OBR`
is told everything: the difference is the price of partial feedback. `sb.Random` knows nothing.

`sb.read_dataset("mediamill")` downloads the set once, from the package index that pip uses.

**In the picture**: the average loss up to each frame; lower is better. With `a=0.5` a tag that was
missed costs a half, and a wrong one a half at the top of the slate, less further down.

**To change**: with `a=0.8` slates get longer, recall rises and precision falls. `FRAMES = 30_993`
takes all frames for training, in some seconds.
"""

import matplotlib.pyplot as plt
import numpy as np

import semibandit as sb

FRAMES, SLOTS = 10_000, 10
LEARNERS = {
    "Random": (sb.Random, "#777777", "center"),
    "SlateUCB": (sb.SlateUCB, "#0072B2", "bottom"),
    "OBR, told everything": (sb.OBR, "#D55E00", "top"),
}


def main():
    """Replay the frames with every learner, print and draw."""
    data = sb.read_dataset("mediamill")
    X, Y = data.X_train[:FRAMES], data.Y_train[:FRAMES]
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "semibandit"})
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    frames = np.unique(np.geomspace(10, len(X), 40).astype(int))
    print(f"{data.name}: {len(X):,} frames, {data.d} features, {data.K} tags")
    print(f"{'':<21}{'loss':>6}{'tags shown':>12}{'precision':>11}{'recall':>8}")
    for name, (learner, colour, side) in LEARNERS.items():
        trace = sb.replay(learner(data.d, data.K, a=0.5), X, Y, slots=SLOTS, progress=False)
        loss, shown = trace.losses("ac").mean(), trace.sizes.mean()
        print(f"{name:<21}{loss:6.2f}{shown:12.1f}{trace.precision:11.2f}{trace.recall:8.2f}")
        average = trace.averages("ac")[frames - 1]
        axes.plot(frames, average, color=colour)
        axes.text(1.1 * len(X), average[-1], name, color=colour, va=side)
    axes.set(xscale="log", xlim=(10, len(X)), ylim=(0, None))
    axes.set(xlabel="frames seen", ylabel="average loss")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig("images.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
