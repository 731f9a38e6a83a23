"""contextualbandits' LinUCB: full matrices, one per arm."""

import json
import sys
import time

import numpy as np
from contextualbandits.online import LinUCB

data = np.load(sys.argv[1])
rounds, slots = int(sys.argv[2]), int(sys.argv[3])
X, Y = data["X"][:rounds], data["Y"][:rounds]
policy = LinUCB(nchoices=Y.shape[1], alpha=1.0, fit_intercept=False, use_float=False)
policy.fit(X[:1], np.zeros(1, dtype=int), np.zeros(1))
start = time.perf_counter()
for x, y in zip(X, Y, strict=True):
    shown = policy.topN(x[None, :], slots).ravel()
    policy.partial_fit(np.repeat(x[None, :], slots, axis=0), shown, y[shown].astype(float))
print(json.dumps({"rate": rounds / (time.perf_counter() - start)}))
