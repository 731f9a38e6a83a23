"""Two synthetic worlds, played by us and by other libraries at equal feedback.

Everybody meets the same contexts, and is told of the labels that it showed itself and no others.
"""

from __future__ import annotations

import os
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import semibandit as sb
from benchmarks import peers
from benchmarks.quality.measures import share_of_the_way, value_of
from benchmarks.quality.peer_settings import PLAYED
from benchmarks.quality.settings import MAIN, spec

WORLDS = {"d = 120, K = 101": (120, 101), "d = 98, K = 632": (98, 632)}
DENSITY, SLOTS, ROUNDS = 0.04, 10, 20_000
OURS = MAIN | {"defaults, Scaled(1)": {"width": "scaled:1"}}
POINTS = 20  # of a curve
QUICK = 100  # rounds of a peer, just to see that it runs


@lru_cache(maxsize=2)
def rounds_of(world: str, seed: int) -> tuple[Path, Any, Any, Any]:
    """A file with the contexts and relevant labels of all rounds; those, and the probabilities."""
    d, K = WORLDS[world]
    truth = sb.Synthetic(d, K, density=DENSITY, seed=seed)
    file = peers.ROOT / "build" / "quality" / f"world-{d}-{K}-{DENSITY}-{ROUNDS}-{seed}.npz"
    if not file.exists():
        _write(file, truth)
    with np.load(file) as both:
        X, Y = both["X"], both["Y"]
    R = truth.loss.R
    return file, X, Y, truth.loss.prob(np.clip(X @ truth.u.T, -R, R))


def _write(file: Path, truth: sb.Synthetic) -> None:
    X = np.empty((ROUNDS, truth.n_features))
    Y = np.zeros((ROUNDS, truth.n_labels), dtype=np.uint8)
    for t in range(ROUNDS):
        X[t] = truth.context(t)
        Y[t, truth.relevant(t, X[t])] = 1
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{os.getpid()}-{file.name}")  # another process may write it, too
    np.savez(part, X=X, Y=Y)
    part.replace(file)


def tasks(seeds: int, quick: bool, grid: bool) -> list[dict[str, Any]]:
    """Our settings and every peer with its best setting, or with all of its grid, in each world."""
    found = []
    for world in WORLDS:
        for seed in range(seeds):
            base = {"part": "peers", "world": world, "seed": seed}
            for name, words in OURS.items():
                rounds = 4 * QUICK if quick else ROUNDS
                found.append(base | {"who": name, "words": words, "rounds": rounds, "seconds": 12})
            for played in PLAYED:
                for settings in played.grid if grid else [played.best[world]]:
                    rounds = QUICK if quick else played.rounds[world]
                    found.append(
                        base | {"peer": played.script, "who": played.name, "settings": settings,
                                "rounds": rounds, "seconds": rounds / played.rate[world]}
                    )  # fmt: skip
    return found


def run(task: dict[str, Any]) -> dict[str, Any]:
    """One run: the share of the way from random slates to the best, and the loss over time."""
    file, X, Y, P = rounds_of(task["world"], task["seed"])
    T = task["rounds"]
    X, Y, P = X[:T], Y[:T], P[:T]
    start = time.perf_counter()
    if "peer" in task:
        slates, done = _peer(task, file)
        if slates is None:
            return done
    else:
        learner = spec(task["words"], a=1.0, seed=task["seed"]).build(X.shape[1], Y.shape[1])
        slates = sb.replay(learner, X, Y, SLOTS, threads=1, progress=False).slates
        done = {"seconds": time.perf_counter() - start}
    got, total, random = value_of(P, slates), P.sum(axis=1), SLOTS * P.mean(axis=1)
    best = -np.partition(-P, SLOTS, axis=1)[:, :SLOTS].sum(axis=1)
    ends = [T * (i + 1) // POINTS for i in range(POINTS)]
    stops = sorted({played.rounds[task["world"]] for played in PLAYED} | {QUICK})

    def share(first: int, end: int) -> float:
        return share_of_the_way(got[first:end], best[first:end], random[first:end])

    return (
        done
        | {
            "last fifth": share(T - T // 5, T),
            "after": {
                str(n): share(n - n // 5, n) for n in stops if n <= T
            },  # as many as peers play
            "ends": ends,
            "losses": [float((total - got)[:end].mean()) for end in ends],  # a = 1: what is missed
            "best loss": float((total - best).mean()),
            "random loss": float((total - random).mean()),
        }
    )


def _peer(task: dict[str, Any], file: Path) -> tuple[Any, dict[str, Any]]:
    peer = next(one for one in peers.PEERS if one.script == task["peer"])
    settings = task["settings"] | {"seed": task["seed"]}
    with tempfile.TemporaryDirectory() as folder:
        slates = Path(folder, "slates.npy")
        done = peers.play(peer, file, task["rounds"], SLOTS, settings, slates)
        return (None if "failed" in done else np.load(slates)), done
