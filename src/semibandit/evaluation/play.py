"""Play: a learner in a world whose truth is known, with exact regret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Bools, Floats
from semibandit._util.progress import Show, progress_of
from semibandit.errors import InputError
from semibandit.evaluation.trace import Recorder, Trace
from semibandit.policies.learner import Learner
from semibandit.theory.losses import LossKind
from semibandit.worlds.synthetic import Synthetic

__all__ = ["Play", "play"]


@dataclass(frozen=True, eq=False)
class Play:
    """What happened, and what it cost: expected losses given the context, not sampled ones."""

    trace: Trace
    expected: Floats  # E[loss of the slate shown | x_t] (T)
    best: Floats  # E[loss of the best slate | x_t] (T)
    covered: Bools | None  # whether |Δ - Δ̂'| <= ε for every label (T), where it was asked for

    @property
    def regret(self) -> Floats:
        """R_1, ..., R_T: cumulative and exact."""
        return np.cumsum(self.expected - self.best)


def play(
    learner: Learner,
    world: Synthetic,
    rounds: int,
    slots: int | Sequence[int | None] | None = None,
    *,
    kind: LossKind = "ac",
    coverage: bool = False,
    progress: Show = None,
) -> Play:
    """Let the learner play `rounds` rounds of the world, learning as it goes.

    kind      the loss that regret is measured in: "ac", "hamming", "rank" or "p_rank"
    coverage  also check the confidence intervals of all labels against the truth in every round

    >>> from semibandit import SlateUCB, Synthetic
    >>> world = Synthetic(n_features=5, n_labels=4, seed=3)
    >>> result = play(SlateUCB(5, 4), world, rounds=50, slots=2)
    >>> bool(result.regret[-1] >= 0)
    True
    """
    K = world.n_labels
    if learner.labels != list(range(K)):
        raise InputError(f"the world has labels 0 to {K - 1}, the learner has other ones")
    limits = list(slots) if isinstance(slots, Sequence | np.ndarray) else [slots] * rounds
    if len(limits) != rounds:
        raise InputError(f"slots has {len(limits)} entries for {rounds} rounds")
    a, cost = learner.a, learner.cost
    record = Recorder(K, a, cost)
    expected, best = np.empty(rounds), np.empty(rounds)
    covered = np.ones(rounds, dtype=np.bool_) if coverage else None
    with progress_of(rounds, type(learner).__name__, progress) as advance:
        for t in range(rounds):
            x, limit = world.round(t, learner, limits[t])
            slate, relevant = learner.rank(x, limit), world.relevant(t, x)
            shown = np.array(slate.labels, dtype=np.intp)
            hit = np.isin(shown, relevant)
            if covered is not None:
                scores = learner.scores(x)
                off = np.abs(world.margin(x) - scores.margin)
                covered[t] = np.all(off <= scores.width + 1e-12)
            told = relevant if learner.full_information else shown[hit]
            learner.learn(slate, told.tolist())
            target = world.best(kind, x, a=a, cost=cost, slots=limit)
            expected[t] = world.expected(kind, x, shown, a=a, cost=cost, slots=limit)
            best[t] = world.expected(kind, x, target, a=a, cost=cost, slots=limit)
            record.add(
                shown[None, :],
                hit[None, :],
                np.array([len(shown)]),
                np.array([len(relevant)]),
                np.array([K if limit is None else limit]),
            )
            advance(1)
    return Play(record.trace(), expected, best, covered)
