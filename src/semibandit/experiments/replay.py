"""Replay: a whole multilabel set played as partial feedback."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semibandit._arrays import Ints
from semibandit.experiments.progress import Show, track
from semibandit.experiments.trace import Recorder, Trace
from semibandit.policies.learner import Learner

__all__ = ["replay"]


def replay(
    learner: Learner,
    X: Any,
    Y: Any,
    slots: int | Sequence[int | None] | None = None,
    *,
    progress: Show = None,
) -> Trace:
    """Rank each row of X, answer from the same row of Y, learn; the learner goes on as it stands.

    X         contexts, T×n_features, dense or scipy-sparse
    Y         relevant labels, T×K of zeros and ones, dense or scipy-sparse; column j is
              learner.labels[j]
    slots     the most labels to show: one number, one per round, or None for no limit
    progress  show a bar; by default where there is a terminal

    A learner with full information is told all relevant labels, any other those it showed.
    """
    X, Y = _rows(X, "X"), _rows(Y, "Y")
    T, names = X.shape[0], learner.labels
    if Y.shape != (T, len(names)):
        raise ValueError(
            f"Y has shape {Y.shape}, but X has {T} rows and the learner {len(names)} labels: "
            f"expected ({T}, {len(names)})"
        )
    limits = list(slots) if isinstance(slots, Sequence | np.ndarray) else [slots] * T
    if len(limits) != T:
        raise ValueError(f"slots has {len(limits)} entries for {T} rounds")
    column = {name: j for j, name in enumerate(names)}
    record = Recorder(len(names), learner.a, learner.cost)
    for t in track(range(T), T, type(learner).__name__, progress):
        relevant = _relevant(Y, t)
        slate = learner.rank(X[t], limits[t])
        shown = np.array([column[label] for label in slate.labels], dtype=np.intp)
        hit = np.isin(shown, relevant)
        told = relevant if learner.full_information else shown[hit]
        learner.learn(slate, [names[j] for j in told])
        record.add(shown, hit, len(relevant), limits[t])
    return record.trace()


def _rows(array: Any, name: str) -> Any:
    rows = array.tocsr() if hasattr(array, "tocsr") else np.asarray(array)
    if rows.ndim != 2:
        raise ValueError(f"{name} must have a row per round, got an array of shape {rows.shape}")
    return rows


def _relevant(Y: Any, t: int) -> Ints:
    """The columns that are 1 in row t; anything but zeros and ones is an error."""
    if isinstance(Y, np.ndarray):
        row, columns = Y[t], np.flatnonzero(Y[t])
        values = row[columns]
    else:
        start, end = Y.indptr[t], Y.indptr[t + 1]
        values, columns = Y.data[start:end], np.asarray(Y.indices[start:end], dtype=np.intp)
        values, columns = values[values != 0], columns[values != 0]
    if not np.all(values == 1):
        wrong = values[values != 1][0]
        raise ValueError(f"row {t} of Y holds {wrong}; relevant labels are 1, others 0")
    return columns
