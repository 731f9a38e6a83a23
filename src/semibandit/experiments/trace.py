"""The trace of a replay: every slate, what was right in it, and its losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semibandit._arrays import Bools, Floats, Ints
from semibandit.theory.cost import Costs
from semibandit.theory.losses import KINDS, Kind

__all__ = ["Trace"]


@dataclass(frozen=True, eq=False)
class Trace:
    """T rounds: slates (T×S, as positions in the learner's labels, padded with -1) and answers.

    sizes     how many labels were shown (T)
    hits      which shown labels were relevant (T×S)
    relevant  how many labels were relevant, shown or not (T)
    slots     the most that could be shown (T)
    """

    slates: Ints
    sizes: Ints
    hits: Bools
    relevant: Ints
    slots: Ints
    n_labels: int
    a: float
    cost: Costs

    def __len__(self) -> int:
        return len(self.sizes)

    def losses(self, kind: Kind = "ac") -> Floats:
        """The loss of every round: "ac", "hamming", "rank" or "p_rank"."""
        hit_count = self.hits.sum(axis=1)
        missed, wrong = self.relevant - hit_count, self.sizes - hit_count
        if kind == "hamming":
            return np.asarray(missed + wrong, dtype=np.float64)
        if kind == "ac":
            return np.asarray(self.a * missed + (1.0 - self.a) * self._wrong_costs())
        shown = np.arange(self.slates.shape[1]) < self.sizes[:, None]
        swaps = (np.cumsum(shown & ~self.hits, axis=1) * self.hits).sum(axis=1)
        if kind == "p_rank":
            return np.asarray(swaps + self.slots * missed, dtype=np.float64)
        if kind == "rank":
            hidden_wrong = self.n_labels - self.sizes - missed
            return np.asarray(swaps + missed * wrong + 0.5 * missed * hidden_wrong)
        raise ValueError(f"kind = {kind!r}, but a loss is one of {', '.join(KINDS)}")

    def averages(self, kind: Kind = "ac") -> Floats:
        """The average loss up to every round."""
        losses = self.losses(kind)
        return np.cumsum(losses) / np.arange(1, len(losses) + 1)

    @property
    def precision(self) -> float:
        """The share of shown labels that were relevant."""
        shown = int(self.sizes.sum())
        return float(self.hits.sum()) / shown if shown else 0.0

    @property
    def recall(self) -> float:
        """The share of relevant labels that were shown."""
        relevant = int(self.relevant.sum())
        return float(self.hits.sum()) / relevant if relevant else 0.0

    def _wrong_costs(self) -> Floats:
        wrong = np.zeros(len(self))
        for s in np.unique(self.sizes):
            if s:
                rounds = self.sizes == s
                wrong[rounds] = (~self.hits[rounds, :s]) @ self.cost.row(int(s))
        return wrong


class Recorder:
    """Collects rounds into a trace."""

    def __init__(self, n_labels: int, a: float, cost: Costs) -> None:
        self.n_labels, self.a, self.cost = n_labels, a, cost
        self._rounds: list[tuple[Ints, Bools, int, int]] = []

    def add(self, shown: Ints, hit: Bools, relevant: int, slots: int | None) -> None:
        limit = self.n_labels if slots is None else min(slots, self.n_labels)
        self._rounds.append((shown, hit, relevant, limit))

    def trace(self) -> Trace:
        T = len(self._rounds)
        sizes = np.array([len(shown) for shown, *_ in self._rounds], dtype=np.intp)
        S = int(sizes.max(initial=0))
        slates = np.full((T, S), -1, dtype=np.intp)
        hits = np.zeros((T, S), dtype=np.bool_)
        for t, (shown, hit, _, _) in enumerate(self._rounds):
            slates[t, : len(shown)] = shown
            hits[t, : len(hit)] = hit
        relevant = np.array([r for _, _, r, _ in self._rounds], dtype=np.intp)
        slots = np.array([s for *_, s in self._rounds], dtype=np.intp)
        return Trace(slates, sizes, hits, relevant, slots, self.n_labels, self.a, self.cost)
