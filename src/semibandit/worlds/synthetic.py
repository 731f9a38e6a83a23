"""A world whose truth is known: label i is relevant with probability p(u_i·x), eq. (2).

Everything in round t is a function of the seed and t, so any number of learners can play the same
rounds, in any order, and meet the same contexts and answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.errors import InputError
from semibandit.theory.cost import Cost, constant, decreasing
from semibandit.theory.losses import Kind, expected_loss
from semibandit.theory.slate import choose, top
from semibandit.theory.surrogate import Square, Surrogate
from semibandit.worlds import copula

__all__ = ["Player", "Synthetic"]


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
    """K labels with true weights u_i, contexts of unit norm, labels independent or correlated.

    density      without it contexts are uniform on the sphere and ||u_i|| = U (default R), so every
                 label is relevant about half the time. With it, contexts are mixtures of topics
                 plus a constant, each label belongs to a few topics, and over contexts and labels
                 the mean probability is `density`, down to 1% and less.
    correlation  of the labels' latent normals given x, from 0 (independent labels) to below 1
                 (labels that come together); the marginals stay what they are.

    >>> world = Synthetic(n_features=40, n_labels=30, density=0.05, seed=1)
    >>> x, slots = world.round(0)
    >>> len(world.relevant(0, x)) <= 30
    True
    """

    def __init__(
        self,
        n_features: int = 20,
        n_labels: int = 30,
        *,
        loss: Surrogate | None = None,
        U: float | None = None,
        density: float | None = None,
        correlation: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.n_features, self.n_labels, self.seed = n_features, n_labels, seed
        self.loss = Square() if loss is None else loss
        if n_labels < 1 or n_features < 2:
            raise InputError(f"a world of {n_labels} labels and {n_features} features is too small")
        if not 0 <= correlation < 1:
            raise InputError(f"correlation = {correlation}, but it must lie in [0, 1)")
        self.correlation, self.density = float(correlation), density
        random = np.random.default_rng([seed, 0, 0])
        if density is None:
            radius = self.loss.R if U is None else U
            if not 0 < radius <= self.loss.R:
                raise InputError(f"U = {U}, but margins stay in D only with 0 < U <= {self.loss.R}")
            directions = random.standard_normal((n_labels, n_features))
            self.u = radius * directions / np.linalg.norm(directions, axis=1)[:, None]
        else:
            if U is not None:
                raise InputError("give U or density, not both: the density sets the weights")
            self.u = self._topical(random, density)

    @property
    def U(self) -> float:
        """The largest ||u_i||, what `KnownNorm` wants to know."""
        return float(np.linalg.norm(self.u, axis=1).max())

    def context(self, t: int, k: int = 0) -> Floats:
        """The context of round t; k > 0 gives others that could have come."""
        return self._contexts(np.random.default_rng([self.seed, 1, t, k]), 1).ravel()

    def round(
        self, t: int, player: Player | None = None, slots: Slots = None
    ) -> tuple[Floats, Slots]:
        """The context of round t and the slots, here always those given."""
        return self.context(t), slots

    def margin(self, x: Floats) -> Floats:
        """Δ_i = u_i·x, clipped to D where rounding left it."""
        return np.asarray(np.clip(self.u @ x, -self.loss.R, self.loss.R))

    def prob(self, x: Floats) -> Floats:
        """P(y_i = 1 | x)."""
        return self.loss.prob(self.margin(x))

    def relevant(self, t: int, x: Floats) -> Ints:
        """The relevant labels of round t, had its context been x."""
        random = np.random.default_rng([self.seed, 2, t])
        return np.flatnonzero(copula.draw(random, self.prob(x), self.correlation))

    def expected(
        self,
        kind: Kind,
        x: Floats,
        shown: Ints,
        *,
        a: float = 0.5,
        cost: Cost = decreasing,
        slots: Slots = None,
    ) -> float:
        """E[loss of the slate | x], exactly."""
        p = self.prob(x)
        both = None
        if self.correlation:
            both = lambda i, j: copula.both(p[i], p[j], self.correlation)  # noqa: E731
        S = self.n_labels if slots is None else slots
        return expected_loss(kind, p, shown, a=a, cost=cost, slots=S, both=both)

    def best(
        self,
        kind: Kind,
        x: Floats,
        *,
        a: float = 0.5,
        cost: Cost = decreasing,
        slots: Slots = None,
    ) -> Ints:
        """The slate regret is measured against: Lemma 1 for "ac" and "hamming", Lemma 2's f* else.

        f* is the Bayes ranking only where labels are independent.
        """
        p = self.prob(x)
        if kind == "ac":
            return choose(p, slots, a, cost)
        if kind == "hamming":
            return choose(p, slots, 0.5, constant)
        return top(p, slots)

    def _contexts(self, random: np.random.Generator, n: int) -> Floats:
        if self.density is None:
            x = random.standard_normal((n, self.n_features))
            return np.asarray(x / np.linalg.norm(x, axis=1)[:, None])
        topics = random.gamma(0.08, size=(n, self.n_features - 1)) + 1e-12
        topics /= np.linalg.norm(topics, axis=1)[:, None]
        return np.asarray(np.concatenate([np.ones((n, 1)), topics], axis=1) / math.sqrt(2.0))

    def _topical(self, random: np.random.Generator, density: float) -> Floats:
        """Weights with Δ = -B + z_i (R+B) q_i·v: v >= 0 the topics of x, q_i >= 0 those of label i.

        z_i = min(1, z/i) makes some labels popular and many rare; z sets the density.
        """
        K, M, R, p = self.n_labels, self.n_features - 1, self.loss.R, self.loss.prob
        floor, ceiling = float(p(-R)), float(p(R))
        if not floor < density < ceiling:
            raise InputError(
                f"density = {density}, but {self.loss!r} gives probabilities in "
                f"({floor:.3g}, {ceiling:.3g})"
            )
        B = -_where(lambda m: float(p(m)), density / 2, -R, R) if density / 2 > floor else R
        v = self._contexts(random, 4096)[:, 1:] * math.sqrt(2.0)
        rank = 1.0 + random.permutation(K)
        place = np.argsort(random.random((K, M)), axis=1).argsort(axis=1)
        strength = random.uniform(0.5, 1.0, size=(K, M))
        most = 0.0
        for m in range(1, M + 1):
            q = np.where(place < m, strength, 0.0)
            near = v @ (q / np.linalg.norm(q, axis=1)[:, None]).T

            def mean(z: float, near: Floats = near) -> float:
                return float(
                    p(np.minimum(-B + np.minimum(1.0, z / rank) * (R + B) * near, R)).mean()
                )

            most = mean(K)
            if most >= density:
                z = np.minimum(1.0, _where(mean, density, 0.0, K) / rank)
                q *= (z * (R + B) / np.linalg.norm(q, axis=1))[:, None]
                return np.concatenate([np.full((K, 1), -B), q], axis=1) * math.sqrt(2.0)
        raise InputError(
            f"density = {density} is more than this world can reach, {most:.3g}; "
            "take a smaller one, or leave it out"
        )


def _where(f: Callable[[float], float], value: float, low: float, high: float) -> float:
    """Where the increasing f takes the value, by bisection."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if f(middle) < value else (low, middle)
    return 0.5 * (low + high)
