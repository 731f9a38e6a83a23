"""Small worlds for off-policy evaluation: every slate can be listed, so the truth is exact."""

from itertools import permutations

import numpy as np

from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates
from semibandit.policies.request import Request

STOP = 0.8  # how likely a visitor of the cascade leaves after a click


class ListedSlates(SlateDistribution):
    """A distribution as a table of slates: slow and obvious."""

    def __init__(self, table):
        self.table = {tuple(slate): p for slate, p in table.items()}

    def slate_propensity(self, labels):
        return self.table.get(tuple(labels), 0.0)

    def prefix_propensity(self, labels):
        return np.array(
            [
                sum(p for s, p in self.table.items() if s[:k] == tuple(labels[:k]) and len(s) >= k)
                for k in range(1, len(labels) + 1)
            ]
        )

    def item_propensity(self, labels):
        return np.array(
            [
                sum(p for s, p in self.table.items() if len(s) > k and s[k] == label)
                for k, label in enumerate(labels)
            ]
        )

    def marginals(self, items, positions):
        found = np.zeros((len(items), positions))
        for slate, p in self.table.items():
            for k, label in enumerate(slate[:positions]):
                found[list(items).index(label), k] += p
        return found

    def next_item(self, prefix, items):
        k = len(prefix)
        begins = {s: p for s, p in self.table.items() if s[:k] == tuple(prefix) and len(s) >= k}
        whole = sum(begins.values())
        return np.array(
            [
                sum(p for s, p in begins.items() if len(s) > k and s[k] == i) / whole
                if whole
                else 0.0
                for i in items
            ]
        )

    def lengths(self, positions):
        return np.array(
            [sum(p for s, p in self.table.items() if len(s) >= k + 1) for k in range(positions)]
        )

    def sample(self, random, items):
        slates = list(self.table)
        return list(slates[random.choice(len(slates), p=list(self.table.values()))])

    def json(self):
        raise NotImplementedError


class World:
    """A few contexts, each with its own click rates; slates of S out of n labels."""

    def __init__(self, n=5, S=3, contexts=3, seed=0):
        random = np.random.default_rng(seed)
        self.n, self.S, self.contexts = n, S, contexts
        self.items = [f"label {i}" for i in range(n)]
        self.slates = np.array(list(permutations(range(n), S)))
        self.x = np.eye(contexts)
        self.rate = random.uniform(0.05, 0.7, (contexts, n))
        self.examined = 0.8 ** np.arange(S)
        self.log, self.target = [], []
        for c in range(contexts):
            best = np.argsort(-self.rate[c])
            shown = [best[1], best[0], *best[2:S]]
            self.log.append(
                Mixture([(0.3, FixedSlate(self.names(shown))), (0.7, UniformSlates(n, S))])
            )
            self.target.append(
                Mixture([(0.9, FixedSlate(self.names(best[:S]))), (0.1, UniformSlates(n, S))])
            )

    def names(self, slate):
        return [self.items[i] for i in slate]

    def by_slate(self, distributions):
        """The probability of every slate, (contexts, slates)."""
        return np.array(
            [[one.slate_propensity(self.names(s)) for s in self.slates] for one in distributions]
        )

    def expected_clicks(self, clicks):
        """How likely each position of each slate is clicked, (contexts, slates, positions)."""
        p = self.rate[:, self.slates]
        if clicks == "independent":
            return p * self.examined
        stays = np.cumprod(1 - STOP * p, axis=2)
        return p * np.concatenate([np.ones_like(p[:, :, :1]), stays[:, :, :-1]], axis=2)

    def value(self, distributions, clicks, per_click=1.0):
        """The exact reward per visit."""
        by_slate = (self.expected_clicks(clicks) * per_click).sum(axis=2)
        return float((self.by_slate(distributions) * by_slate).sum(axis=1).mean())

    def draw(self, random, size, clicks):
        """Contexts, numbers of slates, and clicks of visits."""
        context = random.integers(0, self.contexts, size)
        chances = np.cumsum(self.by_slate(self.log), axis=1)
        uniform = random.random(size) * chances[context, -1]
        slate = np.array(
            [np.searchsorted(chances[c], u) for c, u in zip(context, uniform, strict=True)]
        )
        p = self.rate[context[:, None], self.slates[slate]]
        if clicks == "independent":
            return context, slate, random.random(p.shape) < p * self.examined
        wants, leaves = random.random(p.shape) < p, random.random(p.shape) < STOP
        gone = np.cumsum(wants & leaves, axis=1) - (wants & leaves)
        return context, slate, wants & (gone == 0)

    def visits(self, random, size, clicks, groups=None):
        """Logged visits, and the target's distribution for each."""
        context, slate, clicked = self.draw(random, size, clicks)
        known = {}
        for c, s in set(zip(context.tolist(), slate.tolist(), strict=True)):
            labels, log = self.names(self.slates[s]), self.log[c]
            known[c, s] = (
                Request(self.x[c], self.S, None, None, 0), labels, log.slate_propensity(labels),
                log.prefix_propensity(labels), log.item_propensity(labels), log,
            )  # fmt: skip
        visits = []
        for i, (c, s) in enumerate(zip(context.tolist(), slate.tolist(), strict=True)):
            request, labels, *propensities = known[c, s]
            group = groups[i] if groups is not None else f"{i}"
            visits.append(LoggedVisit(request, labels, clicked[i], *propensities, group, i))
        return visits, [self.target[c] for c in context.tolist()]
