"""MABWiser's LinUCB: full matrices, one per arm."""

import json
import sys
import time

import numpy as np
from mabwiser.mab import MAB, LearningPolicy

data = np.load(sys.argv[1])
rounds, slots = int(sys.argv[2]), int(sys.argv[3])
X, Y = data["X"][:rounds], data["Y"][:rounds]
arms = list(range(Y.shape[1]))
policy = MAB(arms, LearningPolicy.LinUCB(alpha=1.0, l2_lambda=1.0))
policy.fit(decisions=[0], rewards=[0], contexts=X[:1])
start = time.perf_counter()
for x, y in zip(X, Y, strict=True):
    scores = policy.predict_expectations(x[None, :])
    shown = sorted(arms, key=scores.__getitem__, reverse=True)[:slots]
    policy.partial_fit(shown, [float(y[i]) for i in shown], np.repeat(x[None, :], slots, axis=0))
print(json.dumps({"rate": rounds / (time.perf_counter() - start)}))
