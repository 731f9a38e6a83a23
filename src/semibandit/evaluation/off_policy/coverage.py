"""Slates of the target policy, and how likely the log was to show them."""

from __future__ import annotations

from itertools import accumulate
from operator import mul

import numpy as np

from semibandit.evaluation.off_policy.chunk import Chunk
from semibandit.evaluation.off_policy.drawn_share import DrawnShare
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.uniform import UniformSlates

__all__ = ["Coverage"]

EVERY = 32  # visits, of which one is looked at


class Coverage:
    """Draws slates of the target for some visits, and asks the log how likely they were.

    That says how much of the target the log can show, and how large weights are, better than the
    log itself can: what it shows rarely, and then with a large weight, is drawn as often as the
    target shows it. It is also not the chance that decides about an estimate by which the estimate
    is large or small.

    Parameters
    ----------
    seed : int
        Decides what is drawn.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self._seen = 0
        self._drawn = self._labels = 0  # slates, and labels in them
        self._missing = dict.fromkeys(("slate", "prefix", "item"), 0.0)
        self._weights = dict.fromkeys(("slate", "prefix", "item"), 0.0)
        self._largest = dict.fromkeys(("slate", "prefix", "item"), 0.0)
        self._share = DrawnShare()
        self._items = True  # whether item propensities were quick to compute

    def add(self, chunk: Chunk, targets: list[SlateDistribution]) -> None:
        """Look at every 32nd visit."""
        for row in range(-self._seen % EVERY, len(targets), EVERY):
            logging = chunk.visits[row].logging
            self._share.add(logging)
            if logging is not None:
                self._look(logging, targets[row], chunk, row)
        self._seen += len(targets)

    def _look(
        self, logging: SlateDistribution, target: SlateDistribution, chunk: Chunk, row: int
    ) -> None:
        items = chunk.items_of(row)
        slate = target.sample(self._random, items)
        self._drawn += 1
        self._labels += len(slate)
        # a uniform distribution knows how many labels there are, not which
        known = [*map(set(items).__contains__, slate)]
        whole = logging.slate_propensity(slate) * all(known)
        self._add("slate", [target.slate_propensity(slate)], [whole])
        prefix = [*map(mul, logging.prefix_propensity(slate).tolist(), accumulate(known, min))]
        self._add("prefix", target.prefix_propensity(slate).tolist(), prefix)
        self._items = self._items and _quick(logging) and _quick(target)
        if not self._items and all(p > 0 for p in prefix):
            return  # if a prefix is possible, its last label is
        logged = [*map(mul, logging.item_propensity(slate).tolist(), known)]
        if self._items:
            self._add("item", target.item_propensity(slate).tolist(), logged)
        else:
            self._missing["item"] += sum(b <= 0 for b in logged)

    def _add(self, kind: str, target: list[float], logged: list[float]) -> None:
        w = [e / b for e, b in zip(target, logged, strict=True) if b > 0]
        self._missing[kind] += len(logged) - len(w)
        self._weights[kind] += sum(w)
        self._largest[kind] = max(self._largest[kind], *w, 0.0)

    @property
    def drawn_share(self) -> float | None:
        """The share of slates that are not the learner's own; None if the log does not say."""
        return self._share.value

    def largest_weight(self, kind: str) -> float:
        """The largest weight of the target's slates; 0 if it is not known."""
        return self._largest.get(kind, 0.0)

    def missing_share(self, kind: str) -> float | None:
        """The share of the target's slates that the log never shows; None if it does not say."""
        if kind == "pseudo-inverse":
            kind = "item"
        drawn = self._drawn if kind == "slate" else self._labels
        return self._missing[kind] / drawn if drawn else None

    def effective_share(self, kind: str) -> float | None:
        """How many visits of the target each visit of the log is worth; None if it is not known.

        The mean of w² in the log is that of w in slates of the target.
        """
        drawn = self._drawn if kind == "slate" else self._labels
        if not drawn or kind not in self._weights or (kind == "item" and not self._items):
            return None
        return drawn / self._weights[kind] if self._weights[kind] else 0.0


def _quick(one: SlateDistribution) -> bool:
    """Whether item propensities take microseconds."""
    kind = type(one)  # isinstance takes ten times as long, since their base class is abstract
    if kind is FixedSlate or kind is UniformSlates:
        return True
    return isinstance(one, Mixture) and all(_quick(part) for _, part in one.parts)
