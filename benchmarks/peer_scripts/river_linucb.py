"""river's LinUCBDisjoint: a full matrix per arm; the top S by S pulls, each without the last."""

import json
import sys
import time

import numpy as np
from river.bandit import LinUCBDisjoint

data = np.load(sys.argv[1])
rounds, slots = int(sys.argv[2]), int(sys.argv[3])
X, Y = data["X"][:rounds], data["Y"][:rounds]
policy = LinUCBDisjoint(alpha=1.0, seed=0)
start = time.perf_counter()
for x, y in zip(X, Y, strict=True):
    context = dict(enumerate(x.tolist()))
    left, shown = list(range(Y.shape[1])), []
    for _ in range(slots):
        arm = policy.pull(left, context=context)
        left.remove(arm)
        shown.append(arm)
    for arm in shown:
        policy.update(arm, context, float(y[arm]))
print(json.dumps({"rate": rounds / (time.perf_counter() - start)}))
