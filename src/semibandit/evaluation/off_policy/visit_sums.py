"""One pass over a log: what all estimators need, chunk by chunk, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from semibandit._util.arrays import Floats
from semibandit.evaluation.off_policy.chunk import Chunk, Codes
from semibandit.evaluation.off_policy.coverage import Coverage
from semibandit.evaluation.off_policy.diagnostics import WeightSums
from semibandit.evaluation.off_policy.estimators import model_terms, weighted_terms
from semibandit.evaluation.off_policy.intervals import AnytimeBounds, CellSums
from semibandit.evaluation.off_policy.probabilities import (
    Distributions,
    Propensities,
    read_distributions,
)
from semibandit.evaluation.off_policy.pseudo_inverse import pseudo_inverse_weights
from semibandit.evaluation.off_policy.reward import Reward
from semibandit.evaluation.off_policy.reward_model import RewardModel
from semibandit.evaluation.off_policy.visit import LoggedVisit
from semibandit.evaluation.off_policy.weights import (
    KINDS,
    SlowVisits,
    Weights,
    impossible,
    logged_propensities,
    weights,
)
from semibandit.policies.distributions.distribution import SlateDistribution
from semibandit.policies.labels import Label

__all__ = ["VisitSums"]

ANYTIME = {"IPS": "slate", "RIPS": "prefix", "IIPS": "item"}  # estimators with such bounds


class VisitSums:
    """Sums over the visits of a log, for one target policy.

    Parameters
    ----------
    reward : Reward
        What a click is worth.
    seed : int
        Decides which of the target's slates are drawn to look at coverage.
    n_labels : int, optional
        How many labels there will be; it bounds the size of the reward model.
    """

    def __init__(self, reward: Reward, seed: int = 0, n_labels: int | None = None) -> None:
        self.reward = reward
        self.codes = Codes()
        self.sums = CellSums()
        self.weight_sums = {kind: WeightSums() for kind in (*KINDS, "pseudo-inverse")}
        self.anytime = {name: AnytimeBounds(reward.largest) for name in ANYTIME}
        self.coverage = Coverage(seed)
        self.model = RewardModel(reward, n_labels)
        self.unknown: Counter[str] = Counter()  # visits without propensities, by kind
        self.slow = SlowVisits()
        self.targets_are_slow = False
        self.no_pseudo_inverse: str | None = None
        self.visits = self.impossible = 0

    def add(
        self,
        visits: Sequence[LoggedVisit],
        targets: Sequence[SlateDistribution],
        items: Sequence[Label],
    ) -> None:
        """Add visits in the order of the log.

        Parameters
        ----------
        visits : sequence of LoggedVisit
            Some thousands at a time are fast.
        targets : sequence of SlateDistribution
            How likely each slate would be in each visit, by the policy to be evaluated.
        items : sequence of labels
            All labels that the policy could show, in visits whose request has no candidates.

        Raises
        ------
        UnknownLabel
            If the reward has no value for a label.
        """
        chunk = Chunk.of(visits, items, self.codes)
        logged = logged_propensities(chunk, self.slow)
        wrong = impossible(chunk, logged)
        self.impossible += int(wrong.sum())
        kept = np.flatnonzero(~wrong)
        while len(kept):  # the reward model changes only in between
            size = max(self.model.until_next_fit(), 1)
            part, kept = kept[:size], kept[size:]
            chosen = [targets[i] for i in part.tolist()]
            self._add(chunk.select(part), logged.select(part), chosen)

    def _add(self, chunk: Chunk, logged: Propensities, targets: list[SlateDistribution]) -> None:
        visits, items = chunk.visits, chunk.items
        e = read_distributions(targets, self.codes, items)
        chunk = chunk.widened(_longest(e, len(items)))
        self.targets_are_slow = self.targets_are_slow or bool(e.other)
        w = weights(chunk, e, logged.widened(chunk.positions), self.slow)
        values = self.reward.values(list(self.codes.of))
        outcomes = self.reward.outcomes(chunk.clicked)
        rewards = outcomes * self.reward.discounts(chunk.positions) * values[chunk.shown]
        w_pi = self._pseudo_inverse(chunk, e)
        x = self.model.contexts(chunk)
        q = self.model.predictions(chunk, x)
        terms = weighted_terms(rewards, w, w_pi)
        terms |= model_terms(chunk, rewards, w, e, q, not self.slow.exceeded)
        self.sums.add(self.sums.cells([visit.group for visit in visits]), terms)
        self.model.learn(chunk, outcomes, x)
        self._add_diagnostics(chunk, w, terms, targets)
        self._add_anytime(chunk, w, rewards)
        self.visits += len(visits)

    def cells(self) -> dict[str, Floats]:
        """The sums by cell of visits, for the cells that have any."""
        return {name: values[: self.sums.used] for name, values in self.sums.sums.items()}

    def _pseudo_inverse(self, chunk: Chunk, targets: Distributions) -> Floats:
        none = np.zeros(len(chunk.visits))
        if self.no_pseudo_inverse is None and targets.other and self.slow.exceeded:
            self.no_pseudo_inverse = self.slow.why
        if self.no_pseudo_inverse is not None:
            return none
        logging = [visit.logging for visit in chunk.visits if visit.logging is not None]
        if len(logging) < len(chunk.visits):
            self.no_pseudo_inverse = "the log does not say how likely each slate was"
            return none
        found, self.no_pseudo_inverse = pseudo_inverse_weights(
            chunk, read_distributions(logging, self.codes), targets
        )
        return found

    def _add_diagnostics(
        self,
        chunk: Chunk,
        w: Weights,
        terms: dict[str, Floats],
        targets: list[SlateDistribution],
    ) -> None:
        for kind in KINDS:
            self.unknown[kind] += int(np.sum(~w.known[kind]))
        for kind, sums in self.weight_sums.items():
            each, earned = terms[f"{kind} w"], terms[f"{kind} wr"]
            expected = w.expected if each.ndim == 2 else terms["visits"]
            sums.add(each, earned if earned.ndim == 1 else earned.sum(axis=1), expected)
        self.coverage.add(chunk, targets)

    def _add_anytime(self, chunk: Chunk, w: Weights, rewards: Floats) -> None:
        largest = self.reward.largest * self.reward.discounts(chunk.positions)
        most = w.expected @ largest
        first = w.expected[:, 0] * self.reward.largest
        cap = first if self.reward.cascade_only else most
        possible = chunk.present * largest
        of_slate = possible[:, 0] if self.reward.cascade_only else possible.sum(axis=1)
        for name, kind in ANYTIME.items():
            weight = getattr(w, kind)
            if kind == "slate":
                total = rewards.sum(axis=1)
                self.anytime[name].add(weight * total, weight * (of_slate - total), cap, cap)
            else:
                earned = (weight * rewards).sum(axis=1)
                missed = (weight * (possible - rewards)).sum(axis=1)
                self.anytime[name].add(earned, missed, most, cap)


def _longest(targets: Distributions, n_items: int) -> int:
    """The most positions that the targets may use."""
    longest = targets.longest()
    for one in targets.other:
        longest = max(longest, int(np.sum(one.distribution.lengths(n_items) > 0)))
    return longest
