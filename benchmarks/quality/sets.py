"""The real sets: the catalogue's, replayed as partial feedback in the order of their files."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np

import semibandit as sb
from benchmarks.quality.measures import counts_of, geometric_mean, last_fifth, lost
from benchmarks.quality.settings import MAIN, PAPERS_OBR, obr_like, spec
from semibandit.data import catalogue

SETS = tuple(catalogue.SOURCE.names)
ROUNDS: dict[str, int] = {}  # of sets that are cut, if any
SEEDS = {"mediamill": 6}  # more seeds than the others have
PLAYS = {"loss": (0.5, 10), "hits": (1.0, 5)}  # what is measured, with which a and slots
SECONDS = {  # about how long a replay lasts, so that the long ones begin first
    "bibtex": 12, "delicious": 9, "tmc2007-500": 6, "mediamill": 2, "corel5k": 1, "enron": 1,
}  # fmt: skip


@lru_cache(maxsize=2)
def rows(name: str, rounds: int | None) -> tuple[Any, Any]:
    """The training rows that have features, in the order of the file, and at most so many."""
    data = sb.read_dataset(name)
    X, Y = data.X_train, data.Y_train
    some = np.flatnonzero(np.asarray(abs(X).sum(axis=1)).ravel() > 0)[:rounds]
    return X[some], Y[some]


def tasks(settings: dict[str, dict[str, Any]], seeds: int, quick: bool) -> list[dict[str, Any]]:
    """Every replay: each setting with each seed; OBR, which draws nothing, once."""
    found = []
    for name in SETS:
        rounds = min(400, ROUNDS.get(name, 400)) if quick else ROUNDS.get(name)
        base = {"part": "sets", "set": name, "rounds": rounds, "seconds": SECONDS.get(name, 0)}
        for what in PLAYS:
            for words in _references(settings if what == "loss" else MAIN):
                found.append(base | {"what": what, "words": words, "setting": "OBR", "seed": 0})
            for setting, words in settings.items():
                if what == "hits" and setting not in MAIN:
                    continue
                for seed in range(seeds if quick else max(seeds, SEEDS.get(name, 0))):
                    task = {"what": what, "words": words, "setting": setting, "seed": seed}
                    found.append(base | task)
    return found


def _references(settings: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The paper's OBR, and those on the contexts of each setting."""
    found = [PAPERS_OBR, *map(obr_like, settings.values())]
    return [words for i, words in enumerate(found) if words not in found[:i]]


def run(task: dict[str, Any]) -> dict[str, Any]:
    """One replay: its average loss, its hits a round, and what it showed in the last fifth."""
    X, Y = rows(task["set"], task["rounds"])
    a, slots = PLAYS[task["what"]]
    learner = spec(task["words"], a=a, seed=task["seed"]).build(X.shape[1], Y.shape[1])
    start = time.perf_counter()
    trace = sb.replay(learner, X, Y, slots, threads=1, progress=False)
    seconds = time.perf_counter() - start
    T = len(trace)
    return {
        "loss": float(trace.losses("ac").mean()),
        "hits": float(trace.hit.mean()),
        "size": float(trace.sizes.mean()),
        "empty": float((trace.sizes[last_fifth(T)] == 0).mean()),
        "counts": counts_of(trace.slates[last_fifth(T)], Y.shape[1]).tolist(),
        "T": T, "d": X.shape[1], "K": Y.shape[1], "seconds": seconds,
    }  # fmt: skip


def compare(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For every learner's replay: price, hits and lost labels against both OBRs."""
    obr = {_key(one, one["words"]): one for one in records if one["setting"] == "OBR"}
    found = []
    for one in records:
        if one["setting"] == "OBR":
            continue
        paper = obr[_key(one, PAPERS_OBR)]
        same = obr[_key(one, obr_like(one["words"]))]
        row = {key: one[key] for key in ("set", "setting", "seed", "what", "T", "seconds", "empty")}
        for name, other in (("paper", paper), ("same", same)):
            if one["what"] == "loss":
                row[f"price {name}"] = one["loss"] / other["loss"]
                row[f"lost {name}"] = lost(one["counts"], other["counts"], one["T"] // 5)
            else:
                row[f"hits {name}"] = one["hits"] / other["hits"]
        found.append(row)
    return found


def _key(record: dict[str, Any], words: dict[str, Any]) -> tuple[Any, ...]:
    return record["set"], record["what"], tuple(sorted(words.items()))


def by_set(rows_: list[dict[str, Any]], setting: str, what: str) -> dict[str, tuple[float, float]]:
    """The mean and the worst seed of a ratio on each set; the worst hits are the fewest."""
    worst = min if what.startswith("hits") else max
    found = {}
    for name in SETS:
        values = [
            row[what]
            for row in rows_
            if row["set"] == name and row["setting"] == setting and what in row
        ]
        if values:
            found[name] = (sum(values) / len(values), worst(values))
    return found


def overall(rows_: list[dict[str, Any]], setting: str, what: str) -> tuple[float, float]:
    """The geometric mean over sets, each counting alike, and the worst set's mean."""
    means = [mean for mean, _ in by_set(rows_, setting, what).values()]
    worst = min if what.startswith("hits") else max
    return geometric_mean(means), worst(means)
