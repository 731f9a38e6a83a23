"""Tuning by replay: which alpha, loss, bias and slots give the least loss on the first rows."""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from semibandit._util.checks import whole_number
from semibandit._util.progress import ProgressOption
from semibandit.data.dataset import Dataset
from semibandit.errors import InputError
from semibandit.experiments.sets import dataset
from semibandit.experiments.setting import Setting, run
from semibandit.experiments.sweep import sweep
from semibandit.experiments.tune_log import tune_log
from semibandit.experiments.tuned import Tuned
from semibandit.policies.labels import Label
from semibandit.store.export import is_log

__all__ = ["ALPHAS", "LOSSES", "ROUNDS", "SLOTS", "Tuned", "tune"]

ALPHAS = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
LOSSES = ("square", "logistic:1", "logistic:2", "logistic:4")
SLOTS = (1, 2, 3, 5, 10, 20, 50)
ROUNDS = 3000


def tune(
    data: str | os.PathLike[str] | Dataset | Setting | Any,
    Y: Any = None,
    *,
    slots: int | None = None,
    rounds: int | None = ROUNDS,
    features: str | None = Setting.features,
    model: str = Setting.model,
    cost: str = Setting.cost,
    a: float = Setting.a,
    scale: str = Setting.scale,
    project: str = Setting.project,
    probe: float = Setting.probe,
    at_least: int = Setting.at_least,
    forget: float | None = Setting.forget,
    examination: str | None = Setting.examination,
    seed: int = Setting.seed,
    seeds: int = 1,
    alphas: Sequence[float] = ALPHAS,
    losses: Sequence[str] = LOSSES,
    biases: Sequence[bool] | None = None,
    slot_limits: Sequence[int] = SLOTS,
    folder: str | os.PathLike[str] | None = None,
    backend: str = "local",
    address: str | None = None,
    jobs: int | None = None,
    progress: ProgressOption = None,
    reward: str | Mapping[Label, float] = "clicks",
    since: float | None = None,
) -> Tuned:
    """Find the settings of `SlateUCB` that have the least loss on a data set, by replay.

    Every alpha is tried with every loss, with and without a bias; then the slots are tried with
    the best of these. The loss is ℓ_{a,c}, which also counts the labels that were missed, so that
    different slots can be compared.

    On the log of a service, each setting is judged as it learns along the log (`evaluate`): changes
    of the log's own learner, begun anew. The loss is then minus the value. The log's slates must
    have been drawn with known probabilities. Slots are the log's own, and all is done in one pass.

    Parameters
    ----------
    data : str, path-like, Dataset, array or Setting
        What to replay: a name of `semibandit data list`, a file or folder that `read_dataset` can
        read without options, a `Dataset`, or the contexts X (n×d, dense or sparse). A `Setting` is
        where the search starts: all of it holds except the width, the loss and the bias. Or the log
        of a service: its store, or a file of `semibandit export`.
    Y : array, optional
        The relevant labels (n×K zeros and ones, dense or sparse), if `data` is X.
    slots : int, optional
        The most labels shown in a round. By default there is no limit.
    rounds : int or None
        Replay only the first so many rows of the training part; None replays all.
    features : str, optional
        Which columns of a table are features, and of which kind, as for `semibandit replay`.
    model, cost : str
        The learner's model and costs, in words: "full", "diagonal", ...; "decreasing", "constant".
    a : float
        The weight of missed labels, from 0 to 1.
    scale, project, probe, at_least, forget
        As for `SlateUCB`.
    examination : str, optional
        The same in words: "1,0.7,0.5", or "last-click".
    seed, seeds : int
        Each setting is replayed with the seeds seed, ..., seed + seeds - 1, and its loss is the
        mean.
    alphas : sequence of float
        The widths to try: `Scaled(alpha)` for each alpha.
    losses : sequence of str
        The surrogate losses to try, in words: "square", "logistic:R".
    biases : sequence of bool, optional
        Whether to try without a bias, with one, or both. By default both, or only with one if the
        data has rows without features.
    slot_limits : sequence of int
        The slots to try in the end, as far as they are fewer than `slots`.
    folder : path-like, optional
        Where results are kept, so that a search that was stopped continues. On a cluster, workers
        must be able to read this folder if `data` is a `Dataset` or an array.
    backend, address, jobs, progress
        As for `sweep`.
    reward : str or mapping
        What a visit of a log is worth, as for `evaluate`.
    since : float, optional
        Judge only visits of a log of this time and later, in seconds since 1970.

    Returns
    -------
    Tuned
        The best setting, its loss, and all that were tried.

    Raises
    ------
    InputError
        If the data or an option cannot be used.
    RunError
        If a replay failed.
    MissingExtra
        If joblib, the extra `sweep`, is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> tuned = tune(X, X > 1, alphas=[0.1, 1], losses=["square"], biases=[True], slots=1, jobs=1)
    >>> len(tuned.tried), tuned.best.width
    (2, 'scaled:0.1')
    >>> tuned.learner(n_features=3, labels=["sea", "sun", "snow"])
    SlateUCB(n_features=3, labels=3, t=1)
    """
    fixed = {
        "slots": slots,
        "rounds": rounds,
        "features": features,
        "model": model,
        "cost": cost,
        "a": a,
    }
    fixed |= {"scale": scale, "project": project, "probe": probe, "at_least": at_least}
    fixed |= {"forget": forget, "examination": examination, "seed": seed}
    for name, choices in (("alphas", alphas), ("losses", losses)):
        _check_choices(name, choices)
    if isinstance(data, str | os.PathLike) and is_log(os.fspath(data)):
        of_data = {
            "Y": Y, "seeds": None if seeds == 1 else seeds, "folder": folder, "address": address,
            "jobs": jobs, "backend": None if backend == "local" else backend,
        }  # fmt: skip
        for name, value in of_data.items():
            if value is not None:
                raise InputError(f"{name} does not go with a log, which is read in one pass")
        return tune_log(
            os.fspath(data), _changed(fixed), alphas=alphas, losses=losses, biases=biases,
            reward=reward, since=since, progress=progress,
        )  # fmt: skip
    if reward != "clicks" or since is not None:
        name = "since" if reward == "clicks" else "reward"
        raise InputError(f"{name} is for the log of a service: a data set has its relevant labels")
    start, data_set = _start(data, Y, fixed)
    start.learner_for(data_set)  # mistakes before the work
    start.contexts_of(data_set)
    if biases is None:
        biases = (True,) if data_set.rows_without_features else (False, True)
    _check_choices("biases", biases)
    whole_number("seeds", seeds, least=1)
    options: dict[str, Any] = {
        "backend": backend,
        "address": address,
        "jobs": jobs,
        "progress": progress,
    }
    run_all = partial(sweep, run, folder=folder, **options)
    by_name = isinstance(data, Setting | str | os.PathLike)
    with nullcontext(start.data) if by_name else _file_of(data_set, folder) as readable:
        first = [
            replace(start, data=readable, width=f"scaled:{alpha:g}", loss=loss, bias=bias)
            for bias in biases
            for loss in losses
            for alpha in alphas
        ]
        tried = _mean_losses(run_all, first, seeds)
        best = min(tried, key=lambda pair: pair[1])[0]
        limits = [S for S in slot_limits if start.slots is None or start.slots > S]
        tried += _mean_losses(run_all, [replace(best, slots=S) for S in limits], seeds)
    tried = [(replace(setting, data=start.data), loss) for setting, loss in tried]
    best, least = min(tried, key=lambda pair: pair[1])
    return Tuned(best, least, tried)


def _start(data: Any, Y: Any, fixed: dict[str, Any]) -> tuple[Setting, Dataset]:
    """The setting that the search starts from, and its data set."""
    if isinstance(data, Setting):
        for key in _changed(fixed):
            raise InputError(f"{key} was given beside a Setting: change the setting instead")
        start, data_set = data, dataset(data.data, data.columns)
    elif isinstance(data, str | os.PathLike):
        start = Setting(os.fspath(data), **fixed)
        data_set = dataset(start.data, start.columns)
    elif isinstance(data, Dataset):
        start, data_set = Setting(data.name, **fixed), data
    elif Y is None:
        raise InputError("Y is missing: contexts X need the relevant labels Y, tune(X, Y)")
    else:
        return Setting("data", **fixed), Dataset("data", data, Y)
    if Y is not None:
        raise InputError("Y was given, but data has labels of its own: Y goes with contexts X")
    return start, data_set


def _changed(fixed: dict[str, Any]) -> dict[str, Any]:
    """The keywords of `tune` that are not as they are by default."""
    default = inspect.signature(tune).parameters
    return {key: value for key, value in fixed.items() if value != default[key].default}


def _check_choices(name: str, choices: Sequence[object]) -> None:
    if not len(choices):
        raise InputError(f"{name} is empty: expected at least one value to try")


@contextmanager
def _file_of(data_set: Dataset, folder: str | os.PathLike[str] | None) -> Iterator[str]:
    """A file with the data set, for workers to read, in the folder or a temporary one."""
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary if folder is None else folder).resolve()
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"data-{data_set.checksum[:16]}.npz"  # no other data has these results
        if not path.exists():
            data_set.save(path)
        yield str(path)


def _mean_losses(
    run_all: Callable[[list[dict[str, Any]]], list[dict[str, Any]]],
    settings: Sequence[Setting],
    seeds: int,
) -> list[tuple[Setting, float]]:
    """Each setting with its average loss ℓ_{a,c}, the mean over seeds."""
    runs = [replace(one, seed=one.seed + i).json() for one in settings for i in range(seeds)]
    losses = [result["ac"] for result in run_all(runs)]
    means = [sum(losses[i : i + seeds]) / seeds for i in range(0, len(losses), seeds)]
    return list(zip(settings, means, strict=True))
