"""`python -m benchmarks.service`: the service under load from a second process, at M.

d = 120, K = 101, 10 slots, full matrices, SQLite. Everything as a ratio to an empty FastAPI
endpoint that is served the same way, in the same run.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # one BLAS thread, before numpy is imported

import numpy as np
import typer

import semibandit as sb
from benchmarks import workloads

HERE = Path(__file__).parent
SLOTS, LEARNED = workloads.SLOTS, 1200
EMPTY = """
import socket, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.post("/empty")
async def empty() -> dict[str, str]:
    return {}
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
plain = {"log_level": "warning", "access_log": False, "server_header": False}
config = uvicorn.Config(app, proxy_headers=False, **plain)
uvicorn.Server(config).run(sockets=[listening])
"""


@contextmanager
def serving(*command: str):
    """A server process; gives its port."""
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    try:
        for line in process.stdout:  # type: ignore[union-attr]
            if line.startswith("http://"):
                break
        port = int(line.rsplit(":", 1)[1])
        for _ in range(500):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/openapi.json").read()
                break
            except OSError:
                time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.wait()


def load(port: int, *loads: dict[str, Any]) -> list[dict[str, Any]]:
    """What the second process measured."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.service_load"],
        input=json.dumps([port, loads]),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def learner(folder: str) -> tuple[str, np.ndarray]:
    """A learner of which every label has its dense matrix; and contexts to come."""
    work = workloads.standing_in("M", "mediamill-like")
    bandit, random = sb.SlateUCB(120, 101, width=sb.Scaled(0.5)), np.random.default_rng(0)
    for x, y in zip(work.X[:LEARNED], work.Y[:LEARNED], strict=True):
        shown = random.permutation(101)[:SLOTS]
        bandit.learn(bandit.shown(x, shown), shown[y[shown] > 0])
    assert bandit._state.m == 101
    bandit.save(f"{folder}/m.npz")
    return f"{folder}/m.npz", work.X[LEARNED:]


def rank_bodies(X: np.ndarray, tag: str, n: int) -> list[str]:
    return [
        json.dumps({"context": X[i % len(X)].tolist(), "slots": SLOTS, "id": f"{tag}-{i}"})
        for i in range(n)
    ]


def feedback_bodies(answers: list[str]) -> list[str]:
    found = []
    for answer in map(json.loads, answers):
        clicked = [one["label"] for one in answer["slate"][:1]]
        found.append(json.dumps({"id": answer["id"], "clicked": clicked}))
    return found


def backlog(port: int) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/state") as answer:
        return json.load(answer)["backlog"]


def settle(port: int) -> None:
    """Until all feedback is learned."""
    while backlog(port):
        time.sleep(0.05)


def main(
    seconds: float = 3.0,
    connections: list[int] = typer.Option([1, 16, 64]),
    out: Path = HERE / "results" / "service.json",
) -> None:
    rows: list[dict[str, Any]] = []

    def note(what: str, n: int, found: dict[str, Any]) -> dict[str, Any]:
        row = {"what": what, "connections": n, **{k: found[k] for k in ("rate", "p50", "p99")}}
        row["statuses"] = found["statuses"]
        rows.append(row)
        print(
            f"{what:<28}{n:>3} connections {found['rate']:8.0f}/s  p50 {1e3 * found['p50']:6.2f} ms"
            f"  p99 {1e3 * found['p99']:6.2f} ms  {found['statuses']}",
            flush=True,
        )
        return row

    with tempfile.TemporaryDirectory() as folder:
        saved, X = learner(folder)
        many = int(6000 * seconds)
        empties: dict[int, dict[str, Any]] = {}
        with serving("-c", EMPTY) as port:
            load(port, {"path": "/empty", "bodies": ["{}"] * 500, "connections": 4, "seconds": 9})
            for n in connections:
                bodies = rank_bodies(X, "e", many)
                one = {"path": "/empty", "bodies": bodies, "connections": n, "seconds": seconds}
                empties[n] = note("empty endpoint", n, load(port, one)[0])
        serve = ("-m", "semibandit", "serve", "--store", f"{folder}/store", "--port", "0")
        with serving(*serve, "--start-from", saved) as port:
            ranks: dict[int, dict[str, Any]] = {}
            for n in connections:
                one = {"path": "/rank", "connections": n, "seconds": seconds, "keep": True}
                found = load(port, one | {"bodies": rank_bodies(X, f"r{n}", many)})[0]
                ranks[n] = note("rank", n, found)
                told = feedback_bodies(found["answers"])
                one = {"path": "/feedback", "bodies": told, "connections": n, "seconds": seconds}
                note("feedback", n, load(port, one)[0])
                settle(port)
            for n in connections[1:]:
                one = {"path": "/rank", "connections": n, "seconds": seconds, "keep": True}
                before = load(port, one | {"bodies": rank_bodies(X, f"b{n}", many)})[0]
                told = feedback_bodies(before["answers"])
                half = {"connections": n // 2, "seconds": seconds}
                mixed = load(
                    port,
                    {"path": "/rank", "bodies": rank_bodies(X, f"m{n}", many)} | half,
                    {"path": "/feedback", "bodies": told} | half,
                )
                note("mixed: rank", n // 2, mixed[0])
                note("mixed: feedback", n // 2, mixed[1])
                settle(port)
            heavy, alone = heavy_learning(port, X, seconds, many, note)
        ratios = {
            f"rank throughput ÷ empty endpoint, {n} connections": ranks[n]["rate"]
            / empties[n]["rate"]
            for n in connections
        }
        ratios["p99 of rank during heavy learning ÷ alone"] = heavy["p99"] / alone["p99"]
    busy = os.getloadavg()[0]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    found = {"machine": machine, "load average at the end": busy, "rows": rows, "ratios": ratios}
    out.write_text(json.dumps(found, indent=1))
    out.with_suffix(".md").write_text(page(found))
    print(page(found))


def page(found: dict[str, Any]) -> str:
    """The figures for people."""
    lines = [
        "# The service under load",
        "",
        "`make bench-service` made this page: d = 120, K = 101, every matrix dense, 10 slots,",
        "SQLite with every commit on disk, load from a second process on the same machine.",
        "",
        f"{found['machine']}; load average at the end {found['load average at the end']:.1f}.",
        "",
        "| ratio | target | measured |",
        "|---|---|---|",
    ]
    for name, ratio in found["ratios"].items():
        p99 = name.startswith("p99")
        good = ratio <= 3.0 if p99 else ratio >= 0.4
        target = "at most 3" if p99 else "at least 0.4"
        lines.append(f"| {name} | {target} | {ratio:.2f}{'' if good else ' (missed)'} |")
    lines += ["", "| what | connections | a second | p50 ms | p99 ms |", "|---|---|---|---|---|"]
    for row in found["rows"]:
        cells = (f"{row['rate']:.0f}", f"{1e3 * row['p50']:.2f}", f"{1e3 * row['p99']:.2f}")
        lines.append(f"| {row['what']} | {row['connections']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def heavy_learning(port: int, X: Any, seconds: float, many: int, note: Any) -> tuple[Any, Any]:
    """Rank at 16 connections while feedback is learned without a pause, and without."""
    first = {"path": "/rank", "connections": 32, "seconds": 30.0, "keep": True}
    before = load(port, first | {"bodies": rank_bodies(X, "h", int(1500 * seconds))})[0]
    told = [json.loads(body) for body in feedback_bodies(before["answers"])]
    one = {"path": "/rank", "connections": 16, "seconds": seconds}
    alone = load(port, one | {"bodies": rank_bodies(X, "h1", many)})[0]
    note("rank, nothing to learn", 16, alone)
    for i in range(0, len(told), 256):
        body = json.dumps({"feedback": told[i : i + 256]}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/feedback/batch",
            body,
            {"Content-Type": "application/json"},
        )
        urllib.request.urlopen(request).read()
    heavy = load(port, one | {"bodies": rank_bodies(X, "h2", many)})[0]
    left = backlog(port)
    print(f"feedback still to learn at the end: {left}")
    note("rank, while learning", 16, heavy)
    settle(port)
    return heavy, alone


if __name__ == "__main__":
    typer.run(main)
