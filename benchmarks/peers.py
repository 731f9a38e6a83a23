"""Other libraries on the same workloads, each in an environment of its own under build/peers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.workloads import SLOTS, Workload

ROOT = Path(__file__).parents[1]
HOME = ROOT / "build" / "peers"


@dataclass(frozen=True)
class Peer:
    package: str
    script: str
    full_matrices: bool
    rounds: dict[str, int]  # rates are per round: slow peers play fewer


PEERS = (
    Peer("contextualbandits", "contextualbandits_linucb.py", True, {"M": 1000, "Y": 150, "L": 20}),
    Peer("mabwiser", "mabwiser_linucb.py", True, {"M": 200, "Y": 30, "L": 5}),
    Peer("river", "river_linucb.py", True, {"M": 10, "Y": 2, "L": 1}),
    Peer("vowpalwabbit", "vowpalwabbit_ccb.py", False, {"M": 100, "Y": 10, "L": 2}),
)


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


def rate(peer: Peer, workload: Workload) -> float | str:
    """Rounds a second, or why there is no figure."""
    rounds = peer.rounds[workload.name]
    file = ROOT / "build" / f"bench-{workload.name}.npz"
    Y = workload.Y[:1000]
    np.savez(file, X=workload.X[:1000], Y=Y.toarray() if hasattr(Y, "toarray") else Y)
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    script = ROOT / "benchmarks" / "peer_scripts" / peer.script
    command = [str(HOME / peer.package / "bin" / "python"), str(script), str(file), str(rounds)]
    try:
        run = subprocess.run(
            [*command, str(SLOTS)],
            capture_output=True,
            text=True,
            timeout=600,
            env={**os.environ, **one},
        )
    except subprocess.TimeoutExpired:
        return f"more than 600 s for {rounds} rounds"
    if run.returncode:
        return (run.stderr.strip().splitlines() or ["it failed"])[-1]
    return float(json.loads(run.stdout.splitlines()[-1])["rate"])
