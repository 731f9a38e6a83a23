"""Learners in the shop: how far they get from random slates to the best possible ones."""

from __future__ import annotations

import time
from collections import deque
from functools import lru_cache
from typing import Any

import numpy as np

import semibandit as sb
from benchmarks.quality import shop
from benchmarks.quality.measures import last_fifth, share_of_the_way
from benchmarks.quality.settings import MAIN, spec
from semibandit.policies.learner import Learner

FORGET = 3_000
STEP = 2_000  # visits that one point of a curve is the mean of
WORLDS = {  # raw scales; a change of tastes; examination by position, and whether it is told
    "nice": {"raw": False},
    "raw": {"raw": True},
    "raw, position bias": {"raw": True, "bias": "hidden"},
    "raw, position bias, told": {"raw": True, "bias": "told"},
    "raw, a = 0.5": {"raw": True, "a": 0.5},
    "raw, change of tastes": {"raw": True, "change": True},
    "raw, 100 visits late": {"raw": True, "late": 100},
    "raw, 1,000 visits late": {"raw": True, "late": 1_000},
}
LATE = {"defaults": {}, "not expected": {}}  # as the service does it, and without


def tasks(settings: dict[str, dict[str, Any]], seeds: int, quick: bool) -> list[dict[str, Any]]:
    """Every setting in the plain shops, the main ones in all, some with a cure."""
    found = []
    for world, about in WORLDS.items():
        chosen = settings if about.keys() == {"raw"} else MAIN
        if about.get("change"):
            chosen = chosen | {f"forget = {FORGET:,}": {"forget": FORGET}}
        if about.get("late"):
            chosen = LATE
        if about.get("a"):  # where learners fall silent
            chosen = chosen | {"at_least = 1": {"at_least": 1}}
        for setting, words in chosen.items():
            for seed in range(seeds):
                found.append(
                    {"part": "shop", "world": world, "setting": setting, "words": words,
                     "seed": seed, "seconds": 20 if about.keys() & {"bias", "late"} else 5,
                     "quick": quick}
                )  # fmt: skip
    return found


def run(task: dict[str, Any]) -> dict[str, Any]:
    """One learner's run: shares of the way over all visits, in the last fifth, and over time."""
    about = WORLDS[task["world"]]
    visits = _stream(task["seed"], about["raw"], about.get("change", False), task["quick"])
    words: dict[str, Any] = {"a": about.get("a", 1.0), "seed": task["seed"]}
    learner = spec(task["words"], **words).build(visits.X.shape[1], shop.ITEMS)
    start = time.perf_counter()
    looks = np.ones(shop.SLOTS)
    if "bias" in about:
        looks = shop.EXAMINED
        slates = _with_position_bias(learner, visits, task["seed"], told=about["bias"] == "told")
    elif "late" in about:
        expected = task["setting"] != "not expected"
        slates = _late(learner, visits, about["late"], expected=expected)
    else:
        slates = sb.replay(
            learner, visits.X, visits.Y, shop.SLOTS, threads=1, progress=False
        ).slates
    seconds = time.perf_counter() - start
    got, best, random = visits.expected(slates, looks), visits.best(looks), visits.random(looks)

    def share(part: slice) -> float:
        return share_of_the_way(got[part], best[part], random[part])

    T = len(got)
    step = min(STEP, T // 5)
    return {
        "mean": share(slice(0, T)),
        "last fifth": share(last_fifth(T)),
        "curve": [share(slice(i, i + step)) for i in range(0, T, step)],
        "step": step,
        "clicks by random's": float(got[last_fifth(T)].mean() / random[last_fifth(T)].mean()),
        "empty": float((slates[last_fifth(T)] < 0).all(axis=1).mean()),
        "random": float(random.mean()),
        "best": float(best.mean()),
        "seconds": seconds,
    }


@lru_cache(maxsize=1)
def _stream(seed: int, raw: bool, change: bool, quick: bool) -> shop.Stream:
    visits = shop.stream(seed, raw=raw, change=change)
    if not quick:
        return visits
    around = slice(shop.BEFORE - 2_000, shop.BEFORE + 2_000) if change else slice(0, 2_000)
    return shop.Stream(visits.X[around], visits.P[around], visits.Y[around])


def _with_position_bias(learner: Learner, visits: shop.Stream, seed: int, *, told: bool) -> Any:
    """Play visit by visit: what is not looked at is not clicked, and the learner may be told."""
    random = np.random.default_rng([seed, 13])
    slates = np.full((len(visits.X), shop.SLOTS), -1)
    for t, (x, y) in enumerate(zip(visits.X, visits.Y, strict=True)):
        slate = learner.rank(x, shop.SLOTS)
        shown = slate.labels
        looked = random.random(shop.SLOTS)[: len(shown)] < shop.EXAMINED[: len(shown)]
        seen = [i for i, look in zip(shown, looked, strict=True) if look]
        learner.learn(slate, [i for i in seen if y[i]], examined=seen if told else None)
        slates[t, : len(shown)] = shown
    return slates


def _late(learner: Learner, visits: shop.Stream, delay: int, *, expected: bool) -> Any:
    """Play visit by visit: feedback comes so many visits late, and the learner may be told so."""
    slates, waiting = np.full((len(visits.X), shop.SLOTS), -1), deque[Any]()
    for t, (x, y) in enumerate(zip(visits.X, visits.Y, strict=True)):
        slate = learner.rank(x, shop.SLOTS, draw=t if expected else 0)
        if expected:
            learner.expect(slate)
        slates[t, : len(slate)] = slate.labels
        waiting.append((slate, [i for i in slate.labels if y[i]]))
        if len(waiting) > delay:
            learner.learn(*waiting.popleft())
    return slates
