"""Vowpal Wabbit's conditional contextual bandit: a slate of slots, one linear model by hashing."""

import json
import sys
import time

import numpy as np
from vowpalwabbit import Workspace

data = np.load(sys.argv[1])
rounds, slots = int(sys.argv[2]), int(sys.argv[3])
X, Y = data["X"][:rounds], data["Y"][:rounds]
policy = Workspace("--ccb_explore_adf --epsilon 0.05 -q UA --quiet")
actions = [f"ccb action |A i{i}" for i in range(Y.shape[1])]
start = time.perf_counter()
for x, y in zip(X, Y, strict=True):
    shared = "ccb shared |U " + " ".join(f"{c}:{v:.6g}" for c, v in enumerate(x) if v)
    top = policy.predict([shared, *actions, *["ccb slot |"] * slots])
    chosen = [(slot[0][0], slot[0][1]) for slot in top]
    told = [f"ccb slot {i}:{-float(y[i])}:{max(p, 1e-3):.4g} |" for i, p in chosen]
    policy.learn([shared, *actions, *told])
rate = rounds / (time.perf_counter() - start)
policy.finish()
print(json.dumps({"rate": rate}))
