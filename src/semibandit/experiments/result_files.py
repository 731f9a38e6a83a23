"""The folder of a sweep: one file per run, named by a hash of its settings and the version."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import semibandit
from semibandit._util.atomic import replacing
from semibandit._util.json import exact_json
from semibandit.errors import InputError
from semibandit.experiments.json_values import json_dict

__all__ = ["read_results", "run_key", "write_result"]

FORMER_NAMES = {  # functions that have moved since files with their results were written
    "semibandit.experiments.lab.play_run": "semibandit.experiments.paper.regret_lab.play_run",
}


def run_key(run: Mapping[str, Any]) -> str:
    """The hash of a run's settings, in whatever order they are given, and of the version."""
    known = {"run": run, "version": semibandit.__version__}
    text = json.dumps(known, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=16).hexdigest()


def write_result(folder: Path, function: str, run: Mapping[str, Any], result: str) -> None:
    """Write the result of a run, given as JSON text, together with the run."""
    content = {"run": run, "result": json.loads(result)}
    content |= {"version": semibandit.__version__, "work": function}
    with replacing(folder / f"{run_key(run)}.json") as file:
        file.write(json.dumps(content, indent=1).encode())


def read_results(
    folder: Path, function: str, runs: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """The results that are in the folder, by key, as JSON text; the folder is made if need be.

    A file that is damaged counts as missing.

    Raises
    ------
    InputError
        If the result of one of the runs is there, but another function made it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    results = {}
    for key, run in runs.items():
        path = folder / f"{key}.json"
        content = _read(path)
        if content is None or content["run"] != run:
            continue
        if content["version"] != semibandit.__version__:
            continue
        made_by = FORMER_NAMES.get(content["work"], content["work"])
        if made_by != function:
            raise InputError(
                f"{path} is a result of {made_by}, not of {function}: use another folder"
            )
        results[key] = json.dumps(content["result"])
    return results


def _read(path: Path) -> dict[str, Any] | None:
    """What the file holds, or None if there is none or it is damaged."""
    try:
        content = exact_json(path.read_bytes())
    except (FileNotFoundError, ValueError):  # json's errors, and bytes that are not UTF-8
        return None
    if not isinstance(content, dict) or not content.keys() >= {"run", "result", "version", "work"}:
        return None
    try:
        content["result"] = json_dict(content["result"], "result")
    except InputError:  # NaN, which json reads and no result holds
        return None
    return content
