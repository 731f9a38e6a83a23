"""A setting: one run as data. What is replayed, by whom and how; JSON in, JSON out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandit._util.progress import ProgressOption
from semibandit.data.dataset import Dataset
from semibandit.errors import InputError
from semibandit.evaluation.replay import replay
from semibandit.evaluation.trace import Trace, log_spaced
from semibandit.experiments.sets import dataset
from semibandit.policies.features.encoder import NamedFeatures, parse_features
from semibandit.policies.features.hashed import Hashed
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
    features : str, optional
        Which columns of a table are features, and of which kind: "hour,device:category", or
        "hashed:256" for all columns. By default the data set's numbers are.
    learner, loss, model, width, cost, a, scale, bias, project, probe, at_least, forget,
    examination, seed
        As for `LearnerSpec`.
    """

    data: str
    slots: int | None = None
    rounds: int | None = None
    features: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.named_features()  # mistakes at once

    def named_features(self) -> NamedFeatures | None:
        """The named features, if there are any."""
        if self.features is None:
            return None
        found = parse_features(self.features) if isinstance(self.features, str) else self.features
        if not isinstance(found, NamedFeatures):
            raise InputError(
                f"features = {self.features!r}, but they must be the names and kinds of columns, "
                "'hour,device:category', or 'hashed:256'"
            )
        return found

    @property
    def columns(self) -> tuple[str, ...] | str | None:
        """Which columns of a table are read as they are: the features', all, or none."""
        named = self.named_features()
        return named if named is None else "all" if isinstance(named, Hashed) else named.names

    def learner_for(self, data: Dataset, device: str | None = None) -> Learner:
        """A new learner for this data set, on this device."""
        return self.build(self.named_features() or data.d, data.K, device)

    def contexts_of(self, data: Dataset) -> Any:
        """The contexts of the data set's training part, as `replay` takes them."""
        named = self.named_features()
        if named is None and data.columns_train is None:
            return data.X_train[: self.rounds]
        if named is None or data.columns_train is None:
            given = "no features were given" if named is None else f"features = {self.features!r}"
            have = "only numbers" if named is not None else "columns of any kind"
            raise InputError(
                f"{data.name} has {have}, but {given}: they are for columns of a table"
            )
        columns = {name: values[: self.rounds] for name, values in data.columns_train.items()}
        return named.read_cells(columns)

    def json(self) -> dict[str, Any]:
        """All settings as JSON can hold them, the data first."""
        return {"data": self.data, **super().json()}


def run(given: Mapping[str, Any]) -> dict[str, Any]:
    """Replay a setting, given as JSON; its result, as JSON. One thread: sweeps fill the cores."""
    setting = Setting.from_dict(given)
    data = dataset(setting.data, setting.columns)
    return result_of(replayed(setting, data, threads=1))


def replayed(
    setting: Setting,
    data: Dataset,
    *,
    learner: Learner | None = None,
    threads: int | None = None,
    keep_slates: bool = False,
    progress: ProgressOption = False,
) -> Trace:
    """The trace of a setting's replay on a data set, by a new learner or by the one given."""
    learner = setting.learner_for(data) if learner is None else learner
    return replay(
        learner,
        setting.contexts_of(data),
        data.Y_train[: setting.rounds],
        1 if learner.one_slot else setting.slots,
        keep_slates=keep_slates,
        threads=threads,
        progress=progress,
    )


def result_of(trace: Trace) -> dict[str, Any]:
    """The numbers of a replay that reports are made of."""
    T = len(trace)
    marks = log_spaced(T, MARKS)
    found: dict[str, Any] = {kind: float(trace.losses(kind).mean()) for kind in LOSS_KINDS}
    return found | {
        "rounds": T,
        "hamming_per_label": found["hamming"] / trace.n_labels,
        "p_rank_per_slot": float((trace.losses("p_rank") / np.maximum(trace.slots, 1)).mean()),
        "size": float(trace.sizes.mean()),
        "precision": trace.precision,
        "recall": trace.recall,
        "marks": marks.tolist(),
        "curve": trace.averages("ac")[marks - 1].tolist(),
    }
