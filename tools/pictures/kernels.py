"""The picture of docs/how-to/kernels.md: relevance that is not linear, and who learns it."""

import numpy as np
from matplotlib import pyplot as plt

import semibandit as sb

ROUNDS = 500
MARKS = (("o", "#0072b2"), ("^", "#d55e00"), ("s", "#009e73"))
MODELS = {
    "linear: Full()": ({}, "#7f7f7f", ":"),
    "Dual(rbf(3)), scaled to unit length": ({"model": sb.Dual(sb.rbf(3))}, "#d55e00", "--"),
    'Dual(rbf(3)), scale="none"': (
        {"model": sb.Dual(sb.rbf(3)), "scale": "none"}, "#0072b2", "-",
    ),
}  # fmt: skip


def ring():
    """Contexts in the plane and the average loss of learners that see them."""
    X, Y = rounds()
    figure, (left, right) = plt.subplots(1, 2, width_ratios=(2, 3))
    for label, (mark, colour) in enumerate(MARKS):
        some = X[:150][Y[:150, label] == 1]
        left.plot(*some.T, mark, color=colour, markersize=3)
    left.set(xlabel="first feature", ylabel="second feature", aspect="equal")
    left.set_title("relevant: near ●, ring ▲, far ■", fontsize=10)
    for name, (settings, colour, dashes) in MODELS.items():
        losses = sb.replay(sb.SlateUCB(2, 3, **settings), X, Y, slots=1).losses("hamming")
        smooth = losses.reshape(-1, 50).mean(1)
        right.plot(np.arange(50, ROUNDS + 1, 50), smooth, dashes, color=colour, label=name)
    right.set(xlabel="rounds", ylabel="mistakes a round", ylim=(0, 2))
    right.legend(fontsize=8)
    return figure


def rounds():
    """Contexts in the plane; each is near the middle, on a ring around it, or farther away."""
    X = np.random.default_rng(0).normal(size=(ROUNDS, 2))
    far = np.hypot(*X.T)
    return X, np.stack([far < 0.8, (far >= 0.8) & (far < 1.5), far >= 1.5], axis=1)


PICTURES = {"kernels-ring": ring}
