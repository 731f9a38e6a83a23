"""Runs that pictures show: worlds played by `replay`, with the regret of all rounds at once."""

from dataclasses import dataclass

import numpy as np

import semibandit as sb
from semibandit.worlds.topics import topic_contexts

BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"  # Okabe and Ito


@dataclass
class Rounds:
    """Rounds of a world whose truth is known."""

    X: np.ndarray  # a context per round
    p: np.ndarray  # the true probability of every label in every round
    Y: np.ndarray  # which labels are relevant

    @classmethod
    def of(cls, world: sb.Synthetic, n: int) -> "Rounds":
        """Draw n rounds of a world, all at once: not the very rounds that `sb.play` would play."""
        random = np.random.default_rng(world.seed)
        if world.density is None:
            X = random.standard_normal((n, world.n_features))
            X /= np.linalg.norm(X, axis=1)[:, None]
        else:
            X = topic_contexts(random, n, world.n_features)
        p = world.loss.prob(np.clip(X @ world.u.T, -world.loss.R, world.loss.R))
        return cls(X, p, random.random(p.shape) < p)

    def regret(self, learner: sb.Learner, slots: int) -> np.ndarray:
        """Expected loss of what the learner shows above that of the best slate, round by round."""
        trace = sb.replay(learner, self.X, self.Y, slots=slots)
        shown = np.take_along_axis(self.p, np.maximum(trace.slates, 0), axis=1)
        size = trace.sizes[:, None]
        rank = np.arange(shown.shape[1])
        used = rank < size
        cost = np.where(used, (size - rank) / np.maximum(size, 1), 0.0)  # decreasing costs
        ours = (1 - learner.a) * (cost * (1 - shown)).sum(1) - learner.a * (used * shown).sum(1)
        return ours - self.best(learner.a, slots)

    def best(self, a: float, slots: int) -> np.ndarray:
        """The least J of Lemma 1 in every round, for decreasing costs."""
        p = -np.sort(-self.p, axis=1)[:, :slots]
        wrong = np.cumsum(np.cumsum(1 - p, axis=1), axis=1) / np.arange(1, p.shape[1] + 1)
        return np.minimum(((1 - a) * wrong - a * np.cumsum(p, axis=1)).min(axis=1), 0.0)
