"""Sweep: an experiment as data, a list of settings × seeds; each run once, its result kept."""

from __future__ import annotations

import itertools
import json
import math
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import semibandit
from semibandit._util.atomic import replacing
from semibandit._util.progress import ProgressOption, progress_bar
from semibandit.errors import InputError
from semibandit.experiments.cluster import Call, check, outcomes_of

__all__ = ["grid", "sweep"]

Run: TypeAlias = dict[str, Any]
Work: TypeAlias = Callable[[Run], dict[str, Any]]


class Trouble(NamedTuple):
    """What a run raised: exceptions themselves may not travel."""

    cause: str
    trace: str


def grid(**choices: Iterable[Any]) -> list[Run]:
    """Every way to choose one of each; the last changes fastest.

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
    work: Work,
    runs: Sequence[Mapping[str, Any]],
    *,
    folder: Path | None = None,
    backend: str = "local",
    address: str | None = None,
    jobs: int | None = None,
    progress: ProgressOption = None,
) -> list[dict[str, Any]]:
    """What `work` gives for each of `runs`, in their order, as JSON gives it back.

    work      a function at the top level of a module: a run's settings in, a dictionary of results
              out, which must follow from the settings (the seed is one of them) alone
    runs      settings as JSON has them; the same run twice is run once
    folder    where each result is kept as soon as it is there, a file per run. However a sweep was
              stopped, it goes on where it was: a run whose result is kept is not run again
    backend   "local", or "ray" or "dask" for a cluster that is there already
    address   of the cluster; by default Ray's is that on this machine, Dask's that of this
              process's `distributed.Client`
    jobs      how many runs at a time; by default one per core. Where it is 1, on this machine and
              on Ray, runs take place in this process
    progress  show a bar; by default where there is a terminal

    A run has one thread of BLAS and OpenMP, wherever it runs: cores are not fought for, and numbers
    are the same everywhere. Threads of `work`'s own making are its affair: replay(..., threads=1).

    A run that raises does not stop the others; at the end a RuntimeError names it and its error.
    Results are known by their settings and this package's version: a `work` that was changed wants
    another folder.

    >>> sweep(dict, grid(alpha=[0.5], seed=[1, 2]), jobs=1)  # a work that returns its settings
    [{'alpha': 0.5, 'seed': 1}, {'alpha': 0.5, 'seed': 2}]
    """
    name = _name_of(work)
    check(backend, address, jobs)
    plain = [_plain_dict(run, f"runs[{i}]") for i, run in enumerate(runs)]
    keys = [_key(run) for run in plain]
    wanted = dict(zip(keys, plain, strict=True))
    done = {} if folder is None else _read_all(folder, name, wanted)
    failed: dict[str, Trouble] = {}
    waiting = {key: run for key, run in wanted.items() if key not in done}
    calls: list[Call] = [(_attempt, (work, key, run), {}) for key, run in waiting.items()]
    with progress_bar(len(wanted), name, progress) as advance:
        advance(len(done))
        with outcomes_of(calls, backend, address, jobs) as outcomes:
            for key, result in outcomes:
                if isinstance(result, Trouble):
                    failed[key] = result
                else:
                    done[key] = result
                    if folder is not None:
                        _write(folder, name, key, wanted[key], result)
                advance(1)
    if failed:
        raise _failure([(wanted[key], trouble) for key, trouble in failed.items()], len(wanted))
    return [json.loads(done[key]) for key in keys]


def _name_of(work: Work) -> str:
    """Where workers import it from."""
    module, name = getattr(work, "__module__", None), getattr(work, "__qualname__", None)
    if not name or getattr(sys.modules.get(str(module)), name, None) is not work:
        raise InputError(f"work is {work!r}: expected a function at the top level of a module")
    return f"{module}.{name}"


def _attempt(work: Work, key: str, run: Run) -> tuple[str, str | Trouble]:
    """One run, on a worker: its key, and its result as JSON or else what went wrong."""
    import scipy.linalg  # noqa: F401  # loads its BLAS: a limit reaches what is loaded
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(1):
            result = work(deepcopy(run))  # `work` may change its settings; ours say what was run
        return key, json.dumps(_plain_dict(result, "the result"))
    except Exception as error:
        return key, Trouble(f"{type(error).__name__}: {error}", traceback.format_exc())


def _failure(failed: list[tuple[Run, Trouble]], of: int) -> RuntimeError:
    """The error that names the runs that failed; the first one's traceback goes with it."""
    lines = [f"  {run}: {trouble.cause}" for run, trouble in failed[:10]]
    if len(failed) > 10:
        lines.append(f"  and {len(failed) - 10} more")
    error = RuntimeError(f"{len(failed)} of {of} runs failed\n" + "\n".join(lines))
    error.add_note(f"The first of them:\n{failed[0][1].trace}")
    return error


def _key(run: Run) -> str:
    """What a run is known by: the same for the same settings, in whatever order they are given."""
    known = {"run": run, "version": semibandit.__version__}
    text = json.dumps(known, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _write(folder: Path, work: str, key: str, run: Run, result: str) -> None:
    kept = {"run": run, "result": json.loads(result)}
    kept |= {"version": semibandit.__version__, "work": work}
    with replacing(folder / f"{key}.json") as file:
        file.write(json.dumps(kept, indent=1).encode())


def _read_all(folder: Path, work: str, wanted: Mapping[str, Run]) -> dict[str, str]:
    """The results that are there; a file that is damaged is as good as none."""
    folder.mkdir(parents=True, exist_ok=True)
    done = {}
    for key, run in wanted.items():
        path = folder / f"{key}.json"
        try:
            kept = json.loads(path.read_bytes())
            same = kept["run"] == run and kept["version"] == semibandit.__version__
            result, maker = json.dumps(_plain_dict(kept["result"], "result")), kept["work"]
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            continue
        if same and maker != work:
            raise InputError(f"{path} is a result of {maker}, not of {work}: take another folder")
        if same:
            done[key] = result
    return done


def _plain_dict(value: Any, where: str) -> Run:
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {value!r}: expected a dictionary")
    plain: Run = _plain(value, where)
    return plain


def _plain(value: Any, where: str) -> Any:
    """`value` as JSON gives it back, to the bit; what JSON has no word for is refused."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, list | tuple):
        return [_plain(part, f"{where}[{i}]") for i, part in enumerate(value)]
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise InputError(f"{where} has the key {name!r}: expected a string")
        return {name: _plain(part, f"{where}[{name!r}]") for name, part in value.items()}
    raise InputError(
        f"{where} is {value!r}: expected what JSON can hold, that is strings, finite numbers, "
        "true, false, none, and lists and dictionaries of them"
    )
