"""A point or curve of the paper's figures: what one method did with one S, seed by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit.data.dataset import Dataset
from semibandit.evaluation.trace import Trace
from semibandit.experiments.sets import dataset, probabilities
from semibandit.experiments.setting import Setting, replayed, result_of
from semibandit.theory.cost import constant, decreasing
from semibandit.theory.losses import LossKind, expected_loss
from semibandit.theory.slate import best_ranking, best_slate

__all__ = [
    "LOSSES",
    "Method",
    "Panel",
    "Point",
    "Result",
    "best_losses",
    "frequent_labels",
    "replay_point",
]

Method: TypeAlias = str
Result: TypeAlias = dict[str, Any]
LOSSES: dict[str, LossKind] = {  # a key of a result, and the loss it is made of
    "ac": "ac",
    "hamming": "hamming",
    "p_rank_per_slot": "p_rank",  # ÷ S
}
BLOCKS = 40  # of consecutive rows, in the data set's own order
FREQUENT = 10  # labels of which it is recorded until when they were shown


@dataclass(frozen=True)
class Point:
    """The results of one setting, one of each seed.

    >>> point = Point([{"ac": 1.0}, {"ac": 1.5}])
    >>> point.mean("ac"), point.text("ac", ".1f")
    (1.25, '1.2 (1.0–1.5)')
    """

    results: Sequence[Result]

    def values(self, key: str) -> Floats:
        """A number or a curve of each seed, a row each."""
        return np.array([result[key] for result in self.results], dtype=np.float64)

    def blocks(self, key: str) -> Floats:
        """The mean loss of each seed (a row each) in each block of the data's rows."""
        return np.array([result["blocks"][key] for result in self.results], dtype=np.float64)

    def mean(self, key: str) -> float:
        """The mean of a number over the seeds."""
        return float(self.values(key).mean())

    def text(self, key: str, form: str) -> str:
        """The mean, and the least and the largest value if there are several seeds."""
        values = self.values(key)
        mean = format(float(values.mean()), form)
        if len(values) == 1:
            return mean
        return f"{mean} ({values.min():{form}}–{values.max():{form}})"


Panel: TypeAlias = dict[Method, dict[int | None, Point]]  # method -> S -> its point


def replay_point(run: Mapping[str, Any]) -> Result:
    """Replay a data set in one order of its rows; the function of the figures' sweep.

    Parameters
    ----------
    run : mapping
        A setting as JSON, and `order`: 0 for the rows in their own order, another number for an
        order that is drawn with it.

    Returns
    -------
    dict
        What `result_of` returns; `blocks`, the mean losses in blocks of rows, the same rows for
        every order; and `last_shown`, the last round in which each of the most frequent labels
        was shown, 0 if it never was, by the label.
    """
    setting = Setting.from_dict({key: value for key, value in run.items() if key != "order"})
    data = dataset(setting.data)
    rows = _order(data.n_train, int(run["order"]))
    ordered = replace(data, X_train=data.X_train[rows], Y_train=data.Y_train[rows])
    trace = replayed(setting, ordered, threads=1, keep_slates=True)
    blocks = {}
    for key, kind in LOSSES.items():
        losses = trace.losses(kind) / (np.maximum(trace.slots, 1) if kind == "p_rank" else 1)
        own_order = np.empty(len(losses))
        own_order[rows] = losses
        parts = np.array_split(own_order, min(BLOCKS, len(losses)))
        blocks[key] = [round(float(part.mean()), 6) for part in parts]
    found = result_of(trace)
    return found | {"blocks": blocks, "last_shown": _last_shown(trace, frequent_labels(data))}


def best_losses(run: Mapping[str, Any]) -> Result:
    """The least expected losses, which Bayes has, who knows the truth; a sweep's function.

    Parameters
    ----------
    run : mapping
        `data`, the name of a stand-in, and `slots`, S.

    Returns
    -------
    dict
        ℓ_{a,c} with a = 1/2 and decreasing costs, the Hamming loss, and ℓ_{p-rank} ÷ S, by their
        keys in `LOSSES`, over every tenth row.
    """
    truth, S = _truth(run["data"]), int(run["slots"])
    means = {
        key: float(np.mean([_expected(kind, p, S) for p in truth])) for key, kind in LOSSES.items()
    }
    return means | {"p_rank_per_slot": means["p_rank_per_slot"] / S}


def _expected(kind: LossKind, p: Floats, S: int) -> float:
    if kind == "p_rank":
        return expected_loss(kind, p, best_ranking(p, S), slots=S)
    cost = decreasing if kind == "ac" else constant
    return expected_loss(kind, p, best_slate(p, S, 0.5, cost), cost=cost)


@lru_cache(maxsize=1)
def _truth(data: str) -> Floats:
    """The probabilities of every tenth row: enough for a mean, in a tenth of the time."""
    return probabilities(data)[::10]


def _order(n: int, order: int) -> Ints:
    """The rows in the order in which they are played."""
    if order == 0:
        return np.arange(n)
    return np.random.default_rng([order, 0]).permutation(n)


def frequent_labels(data: Dataset) -> Ints:
    """The most frequent labels, the most frequent one first."""
    counts = np.asarray(data.Y_train.sum(axis=0)).ravel()
    return np.argsort(-counts, kind="stable")[:FREQUENT]


def _last_shown(trace: Trace, labels: Ints) -> dict[str, int]:
    assert trace.slates is not None
    last = {}
    for label in labels:
        rounds = np.flatnonzero((trace.slates == label).any(axis=1))
        last[str(label)] = int(rounds[-1]) + 1 if len(rounds) else 0
    return last
