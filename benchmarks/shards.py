"""Labels on two Ray actors against one process: the same slates, in what share of the time."""

from __future__ import annotations

import numpy as np
import ray

from benchmarks.scale import SLOTS, D, K, medians, warm_learner
from semibandit.models.sharded.placement import Shards
from semibandit.policies.batch import prepare
from semibandit.policies.sharded import move_to_shards

__all__ = ["measure"]

CONTEXTS = 64
LAPS = 15


def measure(labels: int = K) -> tuple[dict[str, float], dict[str, float]]:
    """The ratio of the page, and the seconds behind it."""
    names = [f"label {i}" for i in range(labels)]
    single, sharded = warm_learner(names), warm_learner(names)
    prepare(single, lambda text: None)  # as the shards do when they start
    move_to_shards(sharded, Shards(2, on="ray"))
    learners = {"one process": single, "2 shards on Ray": sharded}
    X = np.random.default_rng(2).standard_normal((LAPS, CONTEXTS, D))
    slates = [learner.rank_many(X[0], SLOTS) for learner in learners.values()]
    assert all(one.labels == two.labels for one, two in zip(*slates, strict=True))
    work = {
        f"rank_many of 64, {name}": lambda contexts, it=learner: it.rank_many(contexts, SLOTS)
        for name, learner in learners.items()
    }
    times = medians(work, X)
    ratio = times["rank_many of 64, 2 shards on Ray"] / times["rank_many of 64, one process"]
    for name, learner in learners.items():
        slate = learner.rank(X[0, 0], SLOTS)
        laps = {
            f"rank, {name}": lambda x, it=learner: it.rank(x, SLOTS),
            f"learn, {name}": lambda x, it=learner, s=slate: it.learn(s, s.labels[:2]),
        }
        times |= medians(laps, X[0])
    ray.shutdown()  # what is measured next has the cores for itself
    return {"shards": ratio}, times


if __name__ == "__main__":
    print(*measure(), sep="\n")
