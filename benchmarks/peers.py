"""Other libraries on the same workloads, each in an environment of its own under build/peers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.workloads import SLOTS, Workload

ROOT = Path(__file__).parents[1]
HOME = ROOT / "build" / "peers"


@dataclass(frozen=True)
class Peer:
    package: str
    name: str  # the learner's, within the package
    script: str
    full_matrices: bool
    rounds: dict[str, int]  # rates are per round: slow peers play fewer


PEERS = (
    Peer(
        "contextualbandits", "LinUCB", "contextualbandits_linucb.py", True,
        {"M": 1000, "Y": 150, "L": 20},
    ),
    Peer("mabwiser", "LinUCB", "mabwiser_linucb.py", True, {"M": 500, "Y": 100, "L": 10}),
    Peer("river", "LinUCBDisjoint", "river_linucb.py", True, {"M": 500, "Y": 100, "L": 10}),
    Peer(
        "river", "logistic regression", "river_logistic.py", False,
        {"M": 1000, "Y": 500, "L": 50},
    ),
    Peer(
        "vowpalwabbit", "squarecb", "vowpalwabbit_squarecb.py", False,
        {"M": 1000, "Y": 500, "L": 50},
    ),
    Peer("vowpalwabbit", "ccb", "vowpalwabbit_ccb.py", False, {"M": 500, "Y": 50, "L": 2}),
    Peer(
        "bayesianbandits", "Thompson", "bayesianbandits_thompson.py", True,
        {"M": 300, "Y": 60, "L": 3},
    ),
)  # fmt: skip


def install(peer: Peer) -> str | None:
    """Make the peer's environment; why not, if it cannot be had."""
    place = HOME / peer.package
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        run = subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", peer.package, "numpy"],
            capture_output=True,
            text=True,
        )
        if run.returncode:
            return (run.stderr.strip().splitlines() or ["pip failed"])[-1]
    probe = subprocess.run([str(python), "-c", f"import {peer.package}"], capture_output=True)
    return None if probe.returncode == 0 else "it is installed, but cannot be imported"


def version(peer: Peer) -> str:
    code = f"import importlib.metadata as m; print(m.version('{peer.package}'))"
    python = HOME / peer.package / "bin" / "python"
    return subprocess.run([str(python), "-c", code], capture_output=True, text=True).stdout.strip()


def full_name(peer: Peer) -> str:
    """The package, its version if it is installed, and the learner."""
    return f"{peer.package} {version(peer)}, {peer.name}"


def play(
    peer: Peer, file: Path, rounds: int, slots: int, settings: dict[str, Any], slates: Path | None
) -> dict[str, Any]:
    """Let the peer play a file of contexts and answers: its rate, or why there is none."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    script = ROOT / "benchmarks" / "peer_scripts" / peer.script
    command = [str(HOME / peer.package / "bin" / "python"), str(script), str(file), str(rounds)]
    command += [str(slots), json.dumps(settings)] + ([] if slates is None else [str(slates)])
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=600, env={**os.environ, **one}
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"more than 600 s for {rounds} rounds"}
    if run.returncode:
        return {"failed": (run.stderr.strip().splitlines() or ["it failed"])[-1]}
    return dict(json.loads(run.stdout.splitlines()[-1]))


def rate(peer: Peer, workload: Workload) -> float | str:
    """Rounds a second, or why there is no figure."""
    file = ROOT / "build" / f"bench-{workload.name}.npz"
    Y = workload.Y[:1000]
    np.savez(file, X=workload.X[:1000], Y=Y.toarray() if hasattr(Y, "toarray") else Y)
    done = play(peer, file, peer.rounds[workload.name], SLOTS, {}, None)
    return done["failed"] if "failed" in done else float(done["rate"])
