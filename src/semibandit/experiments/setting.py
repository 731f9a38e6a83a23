"""A setting: one run as data. What is replayed, by whom and how; JSON in, JSON out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semibandit._util.progress import ProgressOption
from semibandit.data.dataset import Dataset
from semibandit.evaluation.replay import replay
from semibandit.evaluation.trace import Trace, log_spaced
from semibandit.experiments.sets import dataset
from semibandit.policies.learner import Learner
from semibandit.policies.learner_spec import LearnerSpec
from semibandit.theory.losses import LOSS_KINDS

__all__ = ["Setting", "replayed", "result_of", "run"]

MARKS = 200  # points of a curve that are kept


@dataclass(frozen=True)
class Setting(LearnerSpec):
    """One run: a learner in words, and what it is replayed on.

    Parameters
    ----------
    data : str
        A name of `semibandit data list`, a path, or a stand-in of `sets.py`.
    slots : int, optional
        The most labels shown in a round. By default there is no limit.
    rounds : int, optional
        Only the first so many rows of the training part. By default all of them.
    learner, loss, model, width, cost, a, normalize, bias, seed
        As for `LearnerSpec`.
    """

    data: str
    slots: int | None = None
    rounds: int | None = None

    def json(self) -> dict[str, Any]:
        """All settings as JSON can hold them, the data first."""
        return {"data": self.data, **super().json()}


def run(given: Mapping[str, Any]) -> dict[str, Any]:
    """Replay a setting, given as JSON; its result, as JSON. One thread: sweeps fill the cores."""
    setting = Setting.from_dict(given)
    return result_of(replayed(setting, dataset(setting.data), threads=1), setting)


def replayed(
    setting: Setting,
    data: Dataset,
    *,
    learner: Learner | None = None,
    threads: int | None = None,
    progress: ProgressOption = False,
) -> Trace:
    """The trace of a setting's replay on a data set, by a new learner or by the one given."""
    learner = setting.build(data.d, data.K) if learner is None else learner
    rows = slice(setting.rounds)
    return replay(
        learner,
        data.X_train[rows],
        data.Y_train[rows],
        1 if learner.one_slot else setting.slots,
        keep_slates=False,
        threads=threads,
        progress=progress,
    )


def result_of(trace: Trace, setting: Setting) -> dict[str, Any]:
    """The numbers of a replay that reports are made of."""
    T = len(trace)
    marks = log_spaced(T, MARKS)
    S = trace.n_labels if setting.slots is None else min(setting.slots, trace.n_labels)
    found: dict[str, Any] = {kind: float(trace.losses(kind).mean()) for kind in LOSS_KINDS}
    return found | {
        "rounds": T,
        "hamming_per_label": found["hamming"] / trace.n_labels,
        "rank_per_slot": found["rank"] / max(S, 1),
        "size": float(trace.sizes.mean()),
        "precision": trace.precision,
        "recall": trace.recall,
        "marks": marks.tolist(),
        "curve": trace.averages("ac")[marks - 1].tolist(),
    }
