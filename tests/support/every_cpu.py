"""Every learner and policy plays and prints what it decides and learns: the same on every CPU.

`python tests/support/every_cpu.py` prints a JSON object: for each life the decisions, which must be
equal, the numbers behind them, which may differ by rounding, and a hash of what was learned, to the
bit. `elsewhere` says how to run it as on another CPU, and without numba.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

import semibandit as sb
from semibandit.store.export import open_log
from semibandit.store.rebuild import learn_event, rebuild
from semibandit.store.store import Store

D, K, ROUNDS = 12, 14, 250
FILES = Path(__file__).parents[1] / "compat" / "files"
OLD_CPUS = {  # by machine: a kernel of OpenBLAS, a CPU for numba
    "x86_64": ("Nehalem", "nehalem"),
    "amd64": ("Nehalem", "nehalem"),
    "aarch64": ("ARMV8", "generic"),
    "arm64": ("ARMV8", "generic"),
}
NAMES = sb.Features(hour="number", price="number", device="category:3", tags="set:4")
LEARNERS = {
    "SlateUCB": lambda: sb.SlateUCB(D, K),
    "ranking": lambda: sb.SlateUCB(D, K, a=1),
    "constant costs": lambda: sb.SlateUCB(D, K, cost=sb.constant, width=sb.UnknownNorm(0.1)),
    "unit": lambda: sb.SlateUCB(D, K, scale="unit", bias=False, project="all"),
    "logistic": lambda: sb.SlateUCB(D, K, loss=sb.Logistic(2.0)),
    "float32": lambda: sb.SlateUCB(D, K, model=sb.Full("float32")),
    "diagonal": lambda: sb.SlateUCB(D, K, model=sb.Diagonal()),
    "dual": lambda: sb.SlateUCB(D, K, model=sb.Dual(sb.rbf(0.5))),
    "budget": lambda: sb.SlateUCB(D, K, model=sb.Dual(sb.rbf(0.5), budget=8)),
    "forget": lambda: sb.SlateUCB(D, K, forget=60.0),
    "examination": lambda: sb.SlateUCB(D, K, examination=(0.9, 0.5, 0.3)),
    "named": lambda: sb.SlateUCB(NAMES, K),
    "Greedy": lambda: sb.Greedy(D, K),
    "EpsilonGreedy": lambda: sb.EpsilonGreedy(D, K, epsilon=0.3),
    "Thompson": lambda: sb.Thompson(D, K),
    "Thompson, named": lambda: sb.Thompson(NAMES, K),
    "Thompson, diagonal": lambda: sb.Thompson(D, K, model=sb.Diagonal()),
    "Confidit": lambda: sb.Confidit(D, K),
    "Confidit, noisy": lambda: sb.Confidit(D, K, alpha=0.5),
    "Banditron": lambda: sb.Banditron(D, K, gamma=0.2),
    "OBR": lambda: sb.OBR(D, K),
    "Random": lambda: sb.Random(D, K),
    "Mixed": lambda: sb.Mixed(sb.SlateUCB(D, K), 0.3),
    "Mixed Thompson": lambda: sb.Mixed(sb.Thompson(D, K), 0.3),
    "PlackettLuce": lambda: sb.PlackettLuce(sb.SlateUCB(D, K), 0.1),
}
REPLAYED = ("SlateUCB", "ranking", "logistic", "diagonal", "forget", "Thompson", "OBR")


def elsewhere():
    """By name what `played` takes to play as on another CPU, and without numba."""
    blas, cpu = OLD_CPUS.get(platform.machine().lower(), ("", "generic"))
    newer = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    old = {"OPENBLAS_CORETYPE": blas, "NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": ""}
    return {
        "another CPU": {"variables": old | {"NPY_DISABLE_CPU_FEATURES": " ".join(newer)}},
        "without numba": {"without": ["numba"]},
    }


def start(variables=None, without=()):
    """A process that plays; `played` reads what it says."""
    return subprocess.Popen(
        [sys.executable, __file__, *without],
        env=os.environ | (variables or {}),
        stdout=subprocess.PIPE,
        text=True,
    )


def played(process):
    """What a process of `start` said: by life (decisions, numbers, hash)."""
    told = process.communicate()[0]
    assert process.returncode == 0
    return json.loads(told)


# -- the lives ----------------------------------------------------------------------------------


def context(learner, random):
    """A context for a learner; some are sparse, and rounded numbers repeat."""
    if getattr(learner, "learner", learner).features is NAMES:
        tags = [f"t{i}" for i in range(4) if random.random() < 0.4]
        numbers = {"hour": float(random.integers(24)), "price": random.gamma(2.0)}
        return {**numbers, "device": f"device {random.integers(3)}", "tags": tags}
    x = np.round(random.standard_normal(D), 1) * (random.random(D) < 0.6)
    return csr_array(x[None]) if random.random() < 0.2 else x


def told_of(slate):
    """What was decided, and the numbers behind it."""
    numbers = [*slate.prob.tolist(), *slate.margin.tolist(), slate.propensity or 0.0]
    if slate.distribution is not None:
        numbers += [slate.slate_propensity, *slate.prefix_propensity, *slate.item_propensity]
    return [slate.labels, slate.probe, slate.leader], numbers


def learned(learner):
    """A hash of all that a learner has learned."""
    with tempfile.TemporaryDirectory() as folder:
        learner.save(Path(folder) / "learner.npz")
        with np.load(Path(folder) / "learner.npz") as arrays:
            found = b"".join(name.encode() + arrays[name].tobytes() for name in arrays.files)
    return hashlib.sha256(found).hexdigest()


def life(learner):
    """Visits one by one and in groups, late feedback, a change of labels."""
    inner, random, shown = getattr(learner, "learner", learner), np.random.default_rng(7), []
    waiting = []
    most = 1 if inner.one_slot else 5
    for t in range(ROUNDS):
        if t % 25 == 24:
            X = [context(learner, random) for _ in range(8)]
            dense = [x.toarray()[0] if hasattr(x, "toarray") else x for x in X]
            shown += learner.rank_many(dense, slots=most, draw=t)
        x, slots = context(learner, random), int(random.integers(1, most + 1))
        slate = learner.rank(x, slots, draw=t % 3, exclude=inner.labels[:1])
        shown.append(slate)
        waiting.append(slate)
        if t % 7 or t < 20:
            continue
        for slate in waiting:
            likes = random.random(len(inner.labels)) < 0.3
            relevant = [name for name, yes in zip(inner.labels, likes, strict=True) if yes]
            full = inner.full_information
            inner.learn(slate, relevant if full else [n for n in slate.labels if n in relevant])
        waiting = []
        if t == 140:
            inner.retire_labels(inner.labels[2:4])
            inner.add_labels(2)
    return shown


def replayed(learner):
    """A data set played by windows."""
    random = np.random.default_rng(3)
    X, Y = random.standard_normal((300, D)), (random.random((300, K)) < 0.25).astype(np.uint8)
    trace = sb.replay(learner, X, Y, slots=4, keep_slates=True, threads=1)
    return trace.slates.tolist(), trace.losses().tolist()


def asked(learner):
    """What a learner of a file decides for contexts of its kind."""
    random = np.random.default_rng(5)
    X = random.standard_normal((20, learner.n_features)).round(2)
    return [learner.rank(x, 1 if learner.one_slot else None, draw=i) for i, x in enumerate(X)]


def lives():
    """Every life: its name, the slates and, if it has learned by more than windows, its learner."""
    for name in REPLAYED:  # first: then compiled loops are loaded, and groups are ranked by them
        yield f"{name}, replayed", [replayed(LEARNERS[name]())], None
    for name, make in LEARNERS.items():
        learner = make()
        slates = life(learner)
        yield name, [*map(told_of, slates)], getattr(learner, "learner", learner)
    for path in sorted(FILES.glob("*.npz")):
        learner = sb.load(path)
        yield path.name, [*map(told_of, asked(learner))], learner
    for path in sorted(FILES.glob("store*.*")):
        with open_log(path) as log:
            for _, event, decision in log.learnable_events():
                learn_event(log.learner, event, decision)
            yield path.name, [*map(told_of, asked(log.learner))], log.learner
    for path in sorted(FILES.glob("store*/semibandit.db")):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(path.parent, Path(folder) / "s")
            with Store(Path(folder) / "s") as store:
                learner = rebuild(store, 0)[0]
                yield path.parent.name, [*map(told_of, asked(learner))], learner


if __name__ == "__main__":
    for package in sys.argv[1:]:
        sys.modules[package] = None
    found = {}
    for name, told, learner in lives():
        decisions, numbers = zip(*told, strict=True)
        bits = None if learner is None else learned(learner)
        found[name] = decisions, [one for line in numbers for one in line], bits
    json.dump(found, sys.stdout)
