"""Load from a process of its own: prepared requests over connections that are kept, timed each."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import dataclass


@dataclass
class Load:
    """Requests for one path, sent by so many connections for so many seconds."""

    path: str
    bodies: list[str]
    connections: int
    seconds: float
    keep: bool = False  # the answers


class Connection(asyncio.Protocol):
    """One request after another; a server that says Content-Length."""

    def __init__(self) -> None:
        self.buffer = b""
        self.waiting: asyncio.Future[tuple[int, bytes]] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def connection_lost(self, why: Exception | None) -> None:
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_exception(ConnectionError("the server closed the connection"))

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        lower = head.lower()
        at = lower.index(b"content-length:") + 15
        size = int(lower[at : lower.find(b"\r", at) if b"\r" in lower[at:] else None])
        if len(rest) >= size:
            self.buffer = rest[size:]
            self.waiting.set_result((int(head[9:12]), rest[:size]))  # type: ignore[union-attr]

    def ask(self, request: bytes) -> asyncio.Future[tuple[int, bytes]]:
        self.waiting = asyncio.get_running_loop().create_future()
        self.transport.write(request)  # type: ignore[attr-defined]
        return self.waiting


async def run(port: int, loads: list[Load], first: list[Load]) -> list[dict[str, object]]:
    """All loads at once, after those of `first`; for each its rate, latencies and statuses."""
    for load in first:
        done = await _one(port, load)
        assert done["statuses"] == {200: len(load.bodies)}, done["statuses"]
    return list(await asyncio.gather(*(_one(port, load) for load in loads)))


async def _one(port: int, load: Load) -> dict[str, object]:
    loop = asyncio.get_running_loop()
    head = f"POST {load.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    requests = [f"{head}Content-Length: {len(b)}\r\n\r\n{b}".encode() for b in load.bodies]
    todo = iter(requests)
    times: list[float] = []
    answers: list[str] = []
    statuses: dict[int, int] = {}
    end = time.perf_counter() + load.seconds

    async def client() -> None:
        _, connection = await loop.create_connection(Connection, "127.0.0.1", port)
        for request in todo:
            start = time.perf_counter()
            if start > end:
                break
            status, body = await connection.ask(request)
            times.append(time.perf_counter() - start)
            statuses[status] = statuses.get(status, 0) + 1
            if load.keep:
                answers.append(body.decode())
        connection.transport.close()  # type: ignore[attr-defined]

    start = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(load.connections)))
    took = time.perf_counter() - start
    times.sort()
    return {
        "rate": len(times) / took,
        "p50": times[len(times) // 2],
        "p99": times[int(len(times) * 0.99)],
        "statuses": statuses,
        "answers": answers,
    }


if __name__ == "__main__":
    import uvloop

    port, *both = json.load(sys.stdin)
    loads, first = ([Load(**one) for one in some] for some in both)
    json.dump(uvloop.run(run(port, loads, first)), sys.stdout)
