"""The pictures of docs/concepts/margins-and-widths.md."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from tools.pictures.runs import BLUE, GREEN, ORANGE

import semibandit as sb

ROUNDS, D, K = 400, 4, 3


def watched(world: sb.Synthetic, visitor: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Margins and widths of all labels at one context, every 8 rounds; how often each is shown."""
    bandit = sb.SlateUCB(D, K, width=sb.Scaled(1.0), scale="unit", bias=False, probe=0)
    seen, shown = [], np.zeros(K, dtype=int)
    for t in range(ROUNDS + 1):
        if t % 8 == 0:
            scores = bandit.scores(visitor)
            seen.append((scores.margin, scores.width))
        x = world.context(t)
        slate = bandit.rank(x, slots=1)
        shown[slate.labels] += 1
        bandit.learn(slate, np.intersect1d(slate.labels, world.relevant(t, x)).tolist())
    margin, width = np.array(seen).transpose(1, 2, 0)
    return margin, width, shown


def shrink() -> Figure:
    """Margin and width of three labels at one context, as feedback on others comes in."""
    world = sb.Synthetic(D, K, seed=5)
    visitor = world.context(10_000)
    margin, width, shown = watched(world, visitor)
    places = np.arange(0, ROUNDS + 1, 8)
    figure, axes = plt.subplots(figsize=(5.6, 3.4))
    looks = zip((BLUE, ORANGE, GREEN), ("-", "--", ":"), "ABC", strict=True)
    for label, (colour, style, name) in enumerate(looks):
        low, high = margin[label] - width[label], margin[label] + width[label]
        axes.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
        text = f"{name}, shown {shown[label]} times"
        axes.plot(places, margin[label], style, color=colour, label=text)
        truth = world.margin(visitor)[label]
        axes.plot(ROUNDS + 12, truth, "D", color=colour, clip_on=False)
    axes.set(xlabel="rounds", ylabel="margin", ylim=(-1.6, 1.3))
    axes.legend(frameon=False, loc="lower right")
    return figure


def links() -> Figure:
    """From margins to probabilities, for three losses."""
    figure, axes = plt.subplots(figsize=(5.6, 3.1))
    margin = np.linspace(-4.5, 4.5, 91)
    losses = (sb.Square(), sb.Logistic(2.0), sb.Logistic(4.0))
    names = ("Square(): R = 1", "Logistic(2): R = 2", "Logistic(4): R = 4")
    looks = ((BLUE, "-"), (ORANGE, "--"), (GREEN, ":"))
    for loss, name, (colour, style) in zip(losses, names, looks, strict=True):
        prob = loss.prob(np.clip(margin, -loss.R, loss.R))
        axes.plot(margin, prob, style, color=colour, label=name, linewidth=2)
        axes.plot([-loss.R, loss.R], loss.prob(np.array([-loss.R, loss.R])), "o", color=colour)
    axes.set(xlabel="margin, before clipping to D = [-R, R]", ylabel="probability")
    axes.legend(frameon=False)
    return figure


PICTURES = {"margins-and-widths-shrink": shrink, "margins-and-widths-links": links}
