"""A world whose truth is known: label i is relevant with probability p(u_i·x), eq. (2).

Everything in round t is a function of the seed and t, so any number of learners can play the same
rounds, in any order, and meet the same contexts and answers.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit._util.checks import finite_number, is_number, whole_number
from semibandit.errors import InputError
from semibandit.theory.cost import Cost, constant, decreasing
from semibandit.theory.losses import LossKind, expected_loss
from semibandit.theory.slate import PairProbability, best_ranking, best_slate
from semibandit.theory.surrogate import Square, Surrogate
from semibandit.worlds import copula
from semibandit.worlds.topics import topic_contexts, topic_weights

__all__ = ["Player", "Slots", "Synthetic"]


class Player(Protocol):
    """What an adversary may ask of a learner: the slate it would show, and what it minimises."""

    @property
    def a(self) -> float: ...

    @property
    def cost(self) -> Cost: ...

    def rank(self, x: Floats, slots: int | None = None, *, draw: int = 0) -> HasLabels: ...


class HasLabels(Protocol):
    @property
    def labels(self) -> list[int | str]: ...


Slots: TypeAlias = int | None


class Synthetic:
    """A world of K labels with true weights u_i, and contexts of unit norm.

    In round t, label i is relevant with probability p(u_i·x_t), eq. (2).

    Parameters
    ----------
    n_features : int, default 20
        d, the dimension of the contexts, at least 2.
    n_labels : int, default 30
        K, at least 1.
    loss : Surrogate, optional
        The surrogate that gives p; by default `Square()`.
    U : float, optional
        ||u_i|| of all labels, above 0 and at most R, which is the default. Without a density,
        contexts are uniform on the sphere, and a label is relevant in about half of the rounds.
    density : float, optional
        The mean probability over contexts and labels, down to 1% and less. With it, contexts are
        mixtures of topics plus a constant, each label belongs to a few topics, and U follows.
    correlation : float, default 0.0
        The correlation of the labels' latent normal variables given x: 0 for independent labels, up
        to below 1 for labels that come together, down to -1/(n_labels - 1) for labels that exclude
        each other. It does not change the marginal probabilities.
    seed : int, default 0
        What everything is drawn from, at least 0.

    Attributes
    ----------
    u : array of float
        The true weights u_i, a row for each label.

    Raises
    ------
    InputError
        If a parameter is out of range, both U and density are given, or no weights reach the
        density.

    Examples
    --------
    >>> world = Synthetic(n_features=40, n_labels=30, density=0.05, seed=1)
    >>> x, slots = world.round(1)
    >>> world.relevant(1, x).tolist()
    [5, 22]
    """

    def __init__(
        self, n_features: int = 20, n_labels: int = 30, *, loss: Surrogate | None = None,
        U: float | None = None, density: float | None = None, correlation: float = 0.0,
        seed: int = 0,
    ) -> None:  # fmt: skip
        self.n_features = whole_number("n_features", n_features, least=2)
        self.n_labels = whole_number("n_labels", n_labels, least=1)
        self.seed = whole_number("seed", seed, least=0)
        self.loss = Square() if loss is None else loss
        least = -1.0 / max(self.n_labels - 1, 1)
        if not (is_number(correlation) and least <= correlation < 1):
            raise InputError(
                f"correlation = {correlation!r}, but {self.n_labels} labels can have one from "
                f"{least:.4g} to below 1"
            )
        if U is not None and density is not None:
            raise InputError(
                f"U = {U!r} and density = {density!r}, but give U or density, not both: the "
                "density sets the weights"
            )
        self.correlation = float(correlation)
        self.density = None if density is None else finite_number("density", density)
        self.u = self._weights(np.random.default_rng([self.seed, 0, 0]), U)

    @property
    def U(self) -> float:
        """The largest ||u_i||, which `KnownNorm` needs."""
        return float(np.linalg.norm(self.u, axis=1).max())

    def context(self, t: int, k: int = 0) -> Floats:
        """Return the context of round t; k > 0 gives others that could have come in its place."""
        random = np.random.default_rng([self.seed, 1, t, k])
        if self.density is not None:
            return topic_contexts(random, 1, self.n_features).ravel()
        return _on_sphere(random, 1, self.n_features).ravel()

    def round(
        self, t: int, player: Player | None = None, slots: Slots = None
    ) -> tuple[Floats, Slots]:
        """Return the context of round t and the slots, which are those given here.

        Parameters
        ----------
        t : int
            The round, from 0.
        player : Player, optional
            The learner that will play the round; only an adversary looks at it.
        slots : int, optional
            The most labels that may be shown.

        Returns
        -------
        x : array of float
            The context.
        slots : int or None
            The most labels that may be shown.
        """
        return self.context(t), slots

    def margin(self, x: Floats) -> Floats:
        """Return Δ_i = u_i·x for every label i, clipped to D in case of rounding errors."""
        return np.asarray(np.clip(self.u @ x, -self.loss.R, self.loss.R))

    def prob(self, x: Floats) -> Floats:
        """Return P(y_i = 1 | x) for every label i."""
        return self.loss.prob(self.margin(x))

    def relevant(self, t: int, x: Floats) -> Ints:
        """Return the relevant labels of round t, had its context been x."""
        random = np.random.default_rng([self.seed, 2, t])
        return np.flatnonzero(copula.draw(random, self.prob(x), self.correlation))

    def clicked(self, t: int, shown: Ints, relevant: Ints) -> Bools:
        """Return which of the labels shown are clicked in round t: the relevant ones."""
        return np.isin(shown, relevant)

    def expected(
        self, kind: LossKind, x: Floats, shown: Ints, *, a: float = 0.5, cost: Cost = decreasing,
        slots: Slots = None,
    ) -> float:  # fmt: skip
        """Return E[loss of the slate | x] exactly; the parameters are those of `expected_loss`."""
        both = self.both(x) if self.correlation else None
        S = self.n_labels if slots is None else slots
        return expected_loss(kind, self.prob(x), shown, a=a, cost=cost, slots=S, both=both)

    def both(self, x: Floats) -> PairProbability:
        """Return P(y_i = y_j = 1 | x) as a function of i and j, for `expected_loss`."""
        p = self.prob(x)
        return lambda i, j: copula.both(p[i], p[j], self.correlation)

    def best(
        self, kind: LossKind, x: Floats, *, a: float = 0.5, cost: Cost = decreasing,
        slots: Slots = None,
    ) -> Ints:  # fmt: skip
        """Return the slate that regret is measured against.

        For "ac" and "hamming" it is Lemma 1's, for "rank" and "p_rank" the f* of Lemma 2: the most
        probable labels in their order. For "ac", "hamming" and "rank" no slate of so many slots has
        a smaller expected loss, however labels depend on each other. For "p_rank" Lemma 2 needs
        independent labels; f* is best here with a correlation, too, since more probable labels are
        also more probable together. In other worlds `best_ranking(both=)` can lose less. The
        parameters are those of `expected_loss`.
        """
        p = self.prob(x)
        if kind == "ac":
            return best_slate(p, slots, a, cost)
        if kind == "hamming":
            return best_slate(p, slots, 0.5, constant)
        return best_ranking(p, slots)

    def _weights(self, random: np.random.Generator, U: float | None) -> Floats:
        if self.density is not None:
            return topic_weights(random, self.n_labels, self.n_features, self.loss, self.density)
        radius = self.loss.R if U is None else U
        if not (is_number(radius) and 0 < radius <= self.loss.R):
            raise InputError(f"U = {U!r}, but margins stay in D only with 0 < U <= {self.loss.R}")
        return _on_sphere(random, self.n_labels, self.n_features, radius)


def _on_sphere(random: np.random.Generator, n: int, d: int, radius: float = 1.0) -> Floats:
    """Return n vectors that are uniform on the sphere of this radius."""
    x = random.standard_normal((n, d))
    return np.asarray(radius * x / np.linalg.norm(x, axis=1)[:, None])
