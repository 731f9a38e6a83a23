"""How long `evaluate` takes for a log of a million decisions, and how much memory.

A block of visits to a simulated shop (`tests/support/shop.py`: 20 items, 10 features, 3 slots,
10 % of slates uniform) is written again and again with other ids, until the log is as long. Every
policy is then evaluated in a process of its own.

    python -m benchmarks.evaluate [--visits 1000000] [--keep FOLDER] [--parquet]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from shop import Shop, write_shop_log

BLOCK = 20_000
POLICIES = ("uniform", "frozen", "learner", "width=scaled:0.5")
LEARNED = "learned.npz"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path, help="folder in which the log stays, or is already")
    parser.add_argument("--parquet", action="store_true", help="read Parquet in place of JSONL")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        _measure(*options.one)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        log = make_log(folder, options.visits)
        if options.parquet:
            log = _as_parquet(log)
        print(f"{log}: {options.visits:,} decisions, {log.stat().st_size / 1e6:,.0f} MB")
        for policy in POLICIES:
            words = str(folder / LEARNED) if policy == "frozen" else policy
            command = [sys.executable, "-m", "benchmarks.evaluate", "--one", str(log), words]
            run = subprocess.run(command, check=True, capture_output=True, text=True)
            found = json.loads(run.stdout)
            print(
                f"{policy:<18} {found['seconds']:6.1f} s, {found['megabytes']:6.0f} MB at most, "
                f"{found['visits']:,} visits"
            )


def make_log(folder: Path, visits: int) -> Path:
    """A log of so many visits, if it is not there yet."""
    log = folder / f"log-{visits}.jsonl"
    if log.exists():
        return log
    shop, block = Shop(n=20, d=10, slots=3), folder / "block.jsonl"
    write_shop_log(block, shop, min(BLOCK, visits), epsilon=0.1, group=64).save(folder / LEARNED)
    part = log.with_suffix(".part")
    with open(part, "wb") as file:
        for line in _repeated(block, visits):
            file.write(line)
    block.unlink()
    part.rename(log)
    return log


def _repeated(block: Path, visits: int) -> Iterator[bytes]:
    """The head of a log, and its events again and again, each time with other ids and seqs."""
    with open(block, "rb") as file:
        head, *lines = file.readlines()
    yield head
    seq, size = 0, len(lines) // 2
    for turn in range(-(-visits // size)):
        left = 2 * min(size, visits - turn * size)
        for line in lines[:left]:
            seq += 1
            rest = line[line.index(b",") :].replace(b'"visit-', b'"%d-' % turn, 1)
            yield b'{"seq": %d%b' % (seq, rest)


def _as_parquet(log: Path) -> Path:
    """The same log through a store, as `semibandit export` would write it."""
    from itertools import islice

    from semibandit.store.export import open_log, write_log
    from semibandit.store.store import Store

    path = log.with_suffix(".parquet")
    if not path.exists():
        with open_log(log) as opened, Store.create(log.with_suffix(""), opened.learner) as store:
            while some := [event for _, event in islice(opened.events, 10_000)]:
                store.append(some)
            write_log(store, path)
    return path


def _measure(log: str, policy: str) -> None:
    from semibandit.evaluation.off_policy.evaluate import evaluate

    start = time.perf_counter()
    found = evaluate(log, policy, progress=False)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        json.dumps(
            {
                "seconds": seconds,
                "megabytes": memory,
                "visits": found.visits,
            }
        )
    )


if __name__ == "__main__":
    main()
