"""Functions for sweeps, in a module that workers can import."""

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np

import semibandit as sb
from semibandit.experiments.sweep import sweep

__all__ = [
    "Path", "bad", "kept", "logged", "os", "ran", "replayed", "runs_of", "signal", "squares",
    "sweep", "sys",
]  # fmt: skip

T, D, K = 80, 4, 6


def replayed(run):
    """A real replay, and how many threads BLAS had."""
    from threadpoolctl import threadpool_info

    random = np.random.default_rng(run["seed"])
    X, Y = random.standard_normal((T, D)), (random.random((T, K)) < 0.3).astype(np.uint8)
    bandit = sb.SlateUCB(D, K, width=sb.Scaled(run["alpha"]), seed=run["seed"])
    trace = sb.replay(bandit, X, Y, slots=3, threads=1)
    return {
        "loss": trace.losses("ac").mean(),
        "margin": bandit.scores(X[0]).margin.tolist(),
        "threads": max(pool["num_threads"] for pool in threadpool_info()),
    }


def logged(run):
    """The square of n, and a line in the log; some do worse."""
    with open(run["log"], "a") as log:
        log.write(f"{run['n']}\n")
    if run["n"] == run.get("fails"):
        raise ArithmeticError(f"no square for {run['n']}")
    if run["n"] == run.get("dies"):
        os._exit(1)
    return {"square": run["n"] ** 2, "third": run["n"] / 3, "pair": (run["n"], None)}


def bad(run):
    return {"list": [1, {"value": {"nan": float("nan"), "set": {1}, "key": {2: 3}}[run["what"]]}]}


def runs_of(folder, n=8, **more):
    return [{"n": i, "log": str(folder / "log"), **more} for i in range(n)]


def ran(folder):
    """Which n were run, as often as they were."""
    log = folder / "log"
    return sorted(map(int, log.read_text().split())) if log.exists() else []


def kept(folder):
    """Which n have a result, and which file it is: one that is written again is another."""
    paths = (folder / "kept").glob("*.json")
    return {json.loads(path.read_text())["run"]["n"]: path.stat().st_ino for path in paths}


def squares(n):
    return [{"square": i**2, "third": i / 3, "pair": [i, None]} for i in range(n)]
