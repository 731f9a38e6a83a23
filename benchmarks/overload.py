"""`python -m benchmarks.overload`: three times as many requests as the service can answer.

The service of `benchmarks.service` is held to a share of a core, so that this machine can offer it
more than it can answer. Requests are ready-made bytes, sent when they are due over connections that
do not wait for answers; the time of an answer counts from when its request was due. What is
answered with 200 is compared with what is answered if every connection waits for its answer before
it asks again, in turns.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import typer
import uvloop

from benchmarks import service

TIMES = 3.0  # the capacity that is offered
LONGEST, LEAST = 1.0, 0.9  # targets: p99 in seconds; answers, as a share of those without overload
TICK = 0.005  # seconds between two times at which requests are sent
CYCLE = 0.02  # seconds, in which the service runs for its share and then stops
SETTLED = 1.5  # seconds until the first requests have waited as long as they may
HEAD = "POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
ANSWER = re.compile(
    rb"HTTP/1\.1 (\d+) [^\r]*\r\n(?:[^\r]+\r\n)*?content-length: (\d+)\r\n(?:[^\r]+\r\n)*\r\n"
)
HOLD = """
import os, signal, sys, time
pid, share, cycle = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
while True:
    os.kill(pid, signal.SIGCONT)
    time.sleep(share * cycle)
    os.kill(pid, signal.SIGSTOP)
    time.sleep((1 - share) * cycle)
"""


@contextmanager
def held(pid: int, share: float) -> Iterator[None]:
    """A process that runs on one core, for a share of the time."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), {0})
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(pid), str(share), str(CYCLE)])
    try:
        yield
    finally:
        process.kill()
        process.wait()
        os.kill(pid, signal.SIGCONT)


def cpu_seconds(pid: int) -> float:
    """What a process has taken so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Connection(asyncio.Protocol):
    """Sends requests, and notes each answer: its status, when it came, and how long it took.

    With `todo` it sends the next one once it has an answer.
    """

    def __init__(self, found: list[tuple[int, float, float]], todo: Iterator[bytes]) -> None:
        self.found, self.todo = found, todo
        self.buffer, self.due = b"", deque[float]()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def send(self, request: bytes, due: float) -> None:
        self.due.append(due)
        self.transport.write(request)  # type: ignore[attr-defined]

    def send_next(self) -> None:
        for request in itertools.islice(self.todo, 1):
            self.send(request, time.perf_counter())

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (answer := ANSWER.match(self.buffer)) is not None:
            end = answer.end() + int(answer[2])
            if len(self.buffer) < end:
                break
            self.buffer, now = self.buffer[end:], time.perf_counter()
            self.found.append((int(answer[1]), now, now - self.due.popleft()))
            self.send_next()


async def offer(
    pid: int, port: int, requests: list[bytes], connections: int, seconds: float, rate: float
) -> dict[str, Any]:
    """So many requests a second; or, if that is 0, as many as are answered."""
    loop, found, todo = asyncio.get_running_loop(), list[tuple[int, float, float]](), iter(requests)

    def connect() -> Connection:
        return Connection(found, iter(()) if rate else todo)

    pairs = [await loop.create_connection(connect, "127.0.0.1", port) for _ in range(connections)]
    start, busy, sent = time.perf_counter(), cpu_seconds(pid), 0
    for _, one in pairs:
        one.send_next()
    while (now := time.perf_counter()) < start + seconds:
        while sent < (now - start) * rate:
            pairs[sent % connections][1].send(next(todo), start + sent / rate)
            sent += 1
        await asyncio.sleep(TICK)
    busy = cpu_seconds(pid) - busy
    for transport, _ in pairs:
        transport.abort()
    steady = [one for one in found if start + SETTLED < one[1] < now]
    times = sorted(took for status, _, took in steady if status == 200)
    return {
        "offered": sent / (now - start),
        "rate": len(times) / (now - start - SETTLED),
        "p50": times[len(times) // 2],
        "p99": times[int(len(times) * 0.99)],
        "cpu": busy / (now - start),
        "statuses": dict(Counter(status for status, _, _ in steady)),
    }


def note(what: str, row: dict[str, Any]) -> None:
    print(
        f"{what:<10} offered {row['offered']:6.0f}/s  answered {row['rate']:6.0f}/s"
        f"  p50 {1e3 * row['p50']:4.0f} ms  p99 {1e3 * row['p99']:4.0f} ms"
        f"  {row['cpu']:.2f} of a core  {row['statuses']}",
        flush=True,
    )


def main(share: float = 0.3, seconds: float = 8.0, turns: int = 5, connections: int = 64) -> None:
    ratios: list[float] = []
    by_cpu: list[float] = []
    longest: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        saved, X = service.learner(folder)
        serve = ("-m", "semibandit", "serve", "--start-from", saved, "--port", "0", "--store")
        tags = itertools.count()

        def requests(n: float) -> list[bytes]:
            bodies = service.rank_bodies(X, f"o{next(tags)}", int(n))
            return [f"{HEAD}Content-Length: {len(one)}\r\n\r\n{one}".encode() for one in bodies]

        with service.server(*serve, f"{folder}/store") as (pid, port), held(pid, share):
            uvloop.run(offer(pid, port, requests(9000), 4, 2.0, 0.0))
            for _ in range(turns):
                many = requests(6000 * seconds)
                plain = uvloop.run(offer(pid, port, many, connections, seconds, 0.0))
                rate = TIMES * plain["rate"]
                many = requests(rate * seconds + 1)
                over = uvloop.run(offer(pid, port, many, connections, seconds, rate))
                note("capacity", plain)
                note("overload", over)
                ratios.append(over["rate"] / plain["rate"])
                by_cpu.append(ratios[-1] * plain["cpu"] / over["cpu"])
                longest.append(over["p99"])
    print(
        f"\nanswers ÷ those without overload: {median(ratios):.2f}, of turns"
        f" {min(ratios):.2f} to {max(ratios):.2f} (target: at least {LEAST:g});"
        f" by CPU time {median(by_cpu):.2f}"
        f"\np99 of answers: {median(longest):.2f} s, of turns {min(longest):.2f} to"
        f" {max(longest):.2f} s (target: below {LONGEST:g} s)"
    )


if __name__ == "__main__":
    typer.run(main)
