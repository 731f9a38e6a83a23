"""What the peers' scripts share: a policy plays contexts and answers from a file, and is timed.

A script hands `main` a class that is made with the number of features, labels and slots and with
settings, and that has `rank(x)`, the labels to show, and `learn(x, shown, rewards)`. It is run as

    python SCRIPT.py DATA.npz ROUNDS SLOTS [SETTINGS [SLATES.npy]]

with the settings as JSON; the slates are written if a file is named.
"""

import json
import sys
import time

import numpy as np


def main(policy_class):
    """Play the rounds, feedback after each, and print the rate as JSON."""
    file, rounds, slots = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    settings = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}
    with np.load(file) as data:
        X, Y = data["X"][:rounds], data["Y"][:rounds]
    slates = np.full((len(X), slots), -1, dtype=np.int32)
    policy = policy_class(X.shape[1], Y.shape[1], slots, **settings)
    seconds, begin = 0.0, time.process_time()
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        start = time.perf_counter()
        shown = policy.rank(x)
        policy.learn(x, shown, [float(y[i]) for i in shown])
        seconds += time.perf_counter() - start
        slates[t, : len(shown)] = shown
    cpu = time.process_time() - begin  # what it would take if nobody else were on the machine
    if len(sys.argv) > 5:
        np.save(sys.argv[5], slates)
    print(json.dumps({"rate": len(X) / seconds, "seconds": seconds, "cpu": cpu}))


def top(scores, slots):
    """The labels with the highest scores, best first."""
    scores = np.asarray(scores)
    best = np.argpartition(-scores, min(slots, len(scores) - 1))[:slots]
    return best[np.argsort(-scores[best])].tolist()
