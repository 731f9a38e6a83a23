"""Sweep: an experiment as data, a list of settings × seeds; each run once, its result kept."""

from __future__ import annotations

import itertools
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from semibandit._util.progress import ProgressOption, progress_bar
from semibandit.errors import InputError, RunError, SemibanditError
from semibandit.experiments.cluster import JoblibCall, check_cluster, unordered_results
from semibandit.experiments.json_values import json_dict
from semibandit.experiments.result_files import read_results, run_key, write_result

__all__ = ["grid", "sweep"]

Run: TypeAlias = dict[str, Any]
RunFunction: TypeAlias = Callable[[Run], Mapping[str, Any]]
MOST_NAMED = 10  # failed runs that an error names


class Failure(NamedTuple):
    """What a run raised, as text: not every exception can be sent between processes."""

    cause: str
    traceback: str


def grid(**choices: Iterable[Any]) -> list[Run]:
    """Every combination of the choices, as dictionaries; the last choice changes fastest.

    Parameters
    ----------
    **choices
        For each key of the settings, the values to choose from.

    Returns
    -------
    list of dict
        The settings of all runs, for `sweep`.

    Raises
    ------
    InputError
        If the values of a key are not a list or another iterable.

    Examples
    --------
    >>> grid(alpha=[0.1, 1.0], seed=range(2))  # doctest: +NORMALIZE_WHITESPACE
    [{'alpha': 0.1, 'seed': 0}, {'alpha': 0.1, 'seed': 1},
     {'alpha': 1.0, 'seed': 0}, {'alpha': 1.0, 'seed': 1}]
    """
    for name, values in choices.items():
        if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
            raise InputError(f"{name} is {values!r}: expected a list of choices: [{values!r}]")
    rows = itertools.product(*choices.values())
    return [dict(zip(choices, row, strict=True)) for row in rows]


def sweep(
    function: RunFunction,
    runs: Sequence[Mapping[str, Any]],
    *,
    folder: str | os.PathLike[str] | None = None,
    backend: str = "local",
    address: str | None = None,
    jobs: int | None = None,
    progress: ProgressOption = None,
) -> list[dict[str, Any]]:
    """Call a function with the settings of each run, on all cores or a cluster.

    A run has one thread of BLAS and OpenMP, wherever it is executed: runs do not compete for cores,
    and numbers are the same everywhere. Threads that the function starts itself are not limited:
    use `replay(..., threads=1)`.

    Parameters
    ----------
    function : callable
        A function at the top level of a module that workers can import. It takes the settings of a
        run and returns a dictionary of results, which must depend on the settings alone (the seed
        is one of them).
    runs : sequence of dict
        The settings of each run, as JSON can hold them; see `grid`. Equal runs are executed once.
    folder : path-like, optional
        Where each result is kept as soon as it is there, one file per run. However a sweep was
        stopped, the next one continues: a run whose result is kept is not executed again. Results
        are found by their settings and the version of semibandit, so a function that was changed
        needs another folder.
    backend : {"local", "ray", "dask"}
        This machine, or a cluster that is running.
    address : str, optional
        The address of the cluster. By default Ray's is that on this machine, and Dask's that of
        this process's `distributed.Client`.
    jobs : int, optional
        How many runs are executed at a time; by default one per core. If it is 1, on this machine
        and on Ray, runs are executed in this process.
    progress : bool, callable or None
        Show a bar; by default if there is a terminal. A function is called with the runs done.

    Returns
    -------
    list of dict
        The results in the order of `runs`, as JSON gives them back: tuples become lists.

    Raises
    ------
    InputError
        If an option, a run or the function cannot be used.
    RunError
        If a run raised an exception, after all others have been executed; or at once, if a run took
        its worker down.
    MissingExtra
        If joblib, or the package of the cluster, is not installed.

    Examples
    --------
    >>> sweep(dict, grid(alpha=[0.5], seed=[1, 2]), jobs=1)  # dict returns the settings themselves
    [{'alpha': 0.5, 'seed': 1}, {'alpha': 0.5, 'seed': 2}]
    """
    name = _import_name(function)
    check_cluster(backend, address, jobs)
    settings = [json_dict(run, f"runs[{i}]") for i, run in enumerate(runs)]
    keys = [run_key(run) for run in settings]
    unique = dict(zip(keys, settings, strict=True))
    kept_in = None if folder is None else Path(folder)
    done = {} if kept_in is None else read_results(kept_in, name, unique)
    failed: dict[str, Failure] = {}
    calls: list[JoblibCall] = [
        (_attempt, (function, key, run), {}) for key, run in unique.items() if key not in done
    ]
    with progress_bar(len(unique), name, progress) as advance:
        advance(len(done))
        with unordered_results(calls, backend, address, jobs) as results:
            for key, result in results:
                if isinstance(result, Failure):
                    failed[key] = result
                else:
                    done[key] = result
                    if kept_in is not None:
                        write_result(kept_in, name, unique[key], result)
                advance(1)
    if failed:
        raise _run_error([(unique[key], failure) for key, failure in failed.items()], len(unique))
    return [json.loads(done[key]) for key in keys]


def _import_name(function: RunFunction) -> str:
    """The module and the name that workers import the function by."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not name or getattr(sys.modules.get(str(module)), name, None) is not function:
        raise InputError(
            f"function is {function!r}: expected a function at the top level of a module"
        )
    return f"{module}.{name}"


def _attempt(function: RunFunction, key: str, run: Run) -> tuple[str, str | Failure]:
    """Execute one run, on a worker; its key, and its result as JSON or what went wrong."""
    import scipy.linalg  # noqa: F401  # loads its BLAS: the limit reaches what is loaded
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(1):
            result = function(deepcopy(run))  # it may change its settings; the file has ours
        return key, json.dumps(json_dict(result, "the result"))
    except Exception as error:  # a user's function may raise anything: RunError will name it
        refused = isinstance(error, SemibanditError | OSError)
        trace = "" if refused else traceback.format_exc()  # a refusal's text says it all
        return key, Failure(f"{type(error).__name__}: {error}", trace)


def _run_error(failed: list[tuple[Run, Failure]], total: int) -> RunError:
    """The error that names the runs that failed, with the traceback of the first as a note."""
    lines = [f"  {run}: {failure.cause}" for run, failure in failed[:MOST_NAMED]]
    if len(failed) > MOST_NAMED:
        lines.append(f"  and {len(failed) - MOST_NAMED} more")
    error = RunError(f"{len(failed)} of {total} runs failed\n" + "\n".join(lines))
    for _, failure in failed:
        if failure.traceback:
            error.add_note(f"The traceback of the first one:\n{failure.traceback}")
            break
    return error
