"""A log as one file: JSONL for people and pipes, Parquet for tables. And back, to the bit.

The head says what the log is of, and holds the learner before the first event. An event is

    {"seq": 7, "kind": "decision", "id": ..., "at": ..., "context": [...], "body": {...}}
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.atomic import replacing
from semibandit.errors import FileError, InputError
from semibandit.policies.learner import Learner
from semibandit.policies.persistence import snapshot_of
from semibandit.store import event as events
from semibandit.store.event import Decision, Event, Feedback
from semibandit.store.log_rows import (
    COLUMNS,
    FORMAT,
    KEY,
    import_parquet,
    open_parquet,
    open_rows,
)
from semibandit.store.store import Store

__all__ = ["Log", "is_log", "open_log", "write_log"]

GROUP = 10_000  # rows of a Parquet group


@dataclass(frozen=True, eq=False)
class Log:
    """A log that can be read once, in its order.

    Parameters
    ----------
    about : dict
        What the log's store was made for.
    learner : Learner
        The learner before the first event.
    events : iterator of (int, Event)
        The events with their seq.
    removed : int
        Feedback up to this seq has left the log, at least in part; 0 if none has.
    """

    about: dict[str, Any]
    learner: Learner
    events: Iterator[tuple[int, Event]]
    removed: int = 0

    def learnable_events(self) -> Iterator[tuple[int, Event, Decision | None]]:
        """All events but decisions, feedback with its decision, in the log's order."""
        waiting: dict[str, Decision] = {}
        for seq, event in self.events:
            if isinstance(event, Decision):
                if event.id in waiting:
                    raise FileError(f"event {seq} is another decision with the id {event.id!r}")
                waiting[event.id] = event
            elif isinstance(event, Feedback):
                if event.id not in waiting:
                    raise FileError(f"event {seq} is feedback to {event.id!r}, which was not seen")
                yield seq, event, waiting.pop(event.id)
            else:
                yield seq, event, None


def write_log(store: Store, path: str | os.PathLike[str]) -> int:
    """Write the whole log of a store to one file; an existing file is replaced at one stroke.

    Parameters
    ----------
    store : Store
        The store; its service may be running.
    path : str or path
        The file to write: .jsonl or .parquet.

    Returns
    -------
    int
        How many events the log has.

    Raises
    ------
    InputError
        If the file's name ends in something else.
    MissingExtra
        If pyarrow is not installed, for .parquet.
    """
    head = {
        "format": FORMAT,
        "about": store.about,
        "learner": base64.b64encode(snapshot_of(store.snapshot(0)).to_bytes()).decode(),
    }
    write = {".jsonl": _write_jsonl, ".parquet": _write_parquet}.get(Path(path).suffix)
    if write is None:
        raise InputError(f"{os.fspath(path)}: a log is written to .jsonl or .parquet")
    with replacing(path) as file:
        return write(file, head, store.events())


def is_log(where: str) -> bool:
    """Whether `open_log` is for it: a store, or a file that `write_log` wrote."""
    if where.startswith(("postgresql://", "postgres://")) or where.endswith(".jsonl"):
        return True
    path = Path(where)
    if path.suffix == ".parquet" and path.is_file():
        return KEY in (open_parquet(path).schema_arrow.metadata or {})
    return path.is_dir() and Store.exists(path)


@contextmanager
def open_log(where: str | os.PathLike[str]) -> Iterator[Log]:
    """Open a log to read it, for the length of a `with` block.

    Parameters
    ----------
    where : str or path
        A .jsonl or .parquet file that `write_log` wrote, or a store: a folder or postgresql://...

    Yields
    ------
    Log
        What the log is of, the learner before the first event, and the events.

    Raises
    ------
    MissingFile
        If there is no such file or store.
    FileError
        If the file is not a log, or damaged.
    MissingExtra
        If pyarrow is not installed, for .parquet.
    """
    with open_rows(where) as opened:
        found = ((row.seq, row.event()) for row in opened.rows)
        yield Log(opened.about, opened.learner, found, opened.removed)


def _write_jsonl(file: Any, head: dict[str, Any], found: Iterable[tuple[int, Event]]) -> int:
    file.write(json.dumps(head).encode() + b"\n")
    n = 0
    for n, row in enumerate(map(_row, found), 1):  # noqa: B007
        file.write(json.dumps(row | {"body": json.loads(row["body"])}).encode() + b"\n")
    return n


def _write_parquet(file: Any, head: dict[str, Any], found: Iterable[tuple[int, Event]]) -> int:
    parquet = import_parquet()
    import pyarrow as pa

    text, number = pa.string(), pa.float64()
    types = (pa.int64(), text, text, number, pa.list_(number), text, text)
    columns = pa.schema(zip(COLUMNS, types, strict=True), metadata={KEY: json.dumps(head)})
    n, group = 0, []
    with parquet.ParquetWriter(file, columns) as writer:
        for row in map(_row, found):
            group.append(row)
            n += 1
            if len(group) == GROUP:
                writer.write_table(pa.Table.from_pylist(group, columns))
                group = []
        writer.write_table(pa.Table.from_pylist(group, columns))
    return n


def _row(entry: tuple[int, Event]) -> dict[str, Any]:
    seq, event = entry
    kind, id, at, _, body, subject = events.row(event)
    context = _list(event.context) if isinstance(event, Decision) else None
    if isinstance(event, Decision) and event.seen is not None:
        body = json.dumps({**json.loads(body), "seen": event.seen.tolist()})
    return dict(zip(COLUMNS, (seq, kind, id, at, context, body, subject), strict=True))


def _list(context: Floats) -> list[float | None]:
    """The numbers as JSON and Parquet can hold them: what is unknown (nan) is null."""
    numbers: list[float | None] = context.tolist()
    if not np.isnan(context).any():
        return numbers
    return [None if number != number else number for number in numbers]
