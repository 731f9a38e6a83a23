"""The rows of a log, wherever it is: in a store, or in a file of `write_log`.

Events are made of rows (`event_of`). Evaluation reads the rows themselves: it needs a part of each,
of a million decisions, and an object for each event takes longer than to read it.
"""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semibandit._util.arrays import Floats
from semibandit._util.checks import shortened
from semibandit._util.extras import import_extra
from semibandit._util.json import exact_json, from_json
from semibandit.errors import FileError, MissingFile
from semibandit.policies.labels import Label
from semibandit.policies.learner import Learner
from semibandit.policies.persistence import load
from semibandit.store import event as events
from semibandit.store.event import Event
from semibandit.store.store import Store

__all__ = ["COLUMNS", "FORMAT", "KEY", "LogRow", "LogRows", "import_parquet", "open_parquet",
           "open_rows"]  # fmt: skip

FORMAT = 1
KEY = b"semibandit_log"
COLUMNS = ("seq", "kind", "id", "at", "context", "body", "subject")
BATCH = 4096  # rows of Parquet read at a time


class LogRow(NamedTuple):
    """An event of the log as it is written; `body` is its JSON, read."""

    seq: int
    kind: str
    id: str | None
    at: float
    context: Floats | None
    seen: Floats | None
    body: dict[str, Any]
    subject: str | None

    def with_body(self, body: dict[str, Any]) -> LogRow:
        """The same event with other fields."""
        return self._replace(body=body)

    def event(self) -> Event:
        """The event; `FileError` if the body is not of its kind."""
        return events.event_of(*self[1:])


@dataclass(frozen=True, eq=False)
class LogRows:
    """An open log: what it is of, the learner before its first event, and its rows in order.

    Parameters
    ----------
    about : dict
        What the log's store was made for.
    learner : Learner
        The learner before the first event.
    rows : iterator of LogRow
        The rows, which can be read once.
    removed : int
        Feedback up to this seq has left the log, at least in part; 0 if none has.
    """

    about: dict[str, Any]
    learner: Learner
    rows: Iterator[LogRow]
    removed: int = 0


@contextmanager
def open_rows(
    where: str | os.PathLike[str],
    cut_off: Callable[[], object] | None = None,
    *,
    seen: bool = True,
) -> Iterator[LogRows]:
    """Open a log to read its rows, for the length of a `with` block.

    Parameters
    ----------
    where : str or path
        A .jsonl or .parquet file that `write_log` wrote, or a store: a folder or postgresql://...
    cut_off : function, optional
        Called if the last line of a .jsonl file is only a part of one, which is then left out. By
        default that is an error, as any other damage is.
    seen : bool
        Whether to read what the log's model saw of contexts; a store has it in any case.

    Raises
    ------
    MissingFile
        If there is no such file or store.
    FileError
        If the file is not a log, or damaged; the text names the line.
    MissingExtra
        If pyarrow is not installed, for .parquet.
    """
    name, suffix = os.fspath(where), Path(where).suffix
    if suffix in (".jsonl", ".parquet") and not Path(where).is_file():
        raise MissingFile(f"there is no file {name}")
    if suffix == ".jsonl":
        with open(where, "rb") as file:
            about, learner = _read_head(name, file.readline())
            rows = _of_lines(name, file, _Json(learner.labels, seen), cut_off)
            yield LogRows(about, learner, _checked(rows))
    elif suffix == ".parquet":
        parquet = open_parquet(Path(where))
        about, learner = _read_head(name, (parquet.schema_arrow.metadata or {}).get(KEY, b""))
        rows = _of_parquet(name, parquet, _Json(learner.labels, seen))
        yield LogRows(about, learner, _checked(rows))
    else:
        with Store(name, write=False) as store:
            rows = (_of_store(seq, row) for seq, row in store.rows())
            yield LogRows(store.about, store.snapshot(0), _checked(rows), store.removed)


def _checked(rows: Iterable[LogRow]) -> Iterator[LogRow]:
    """The rows, each as an event can be made of it: whoever reads them need not look again."""
    for row in rows:
        try:
            events.check_event(row.kind, row.id, row.at, row.context, row.body, row.subject)
        except FileError as why:
            raise FileError(f"event {row.seq}: {why}") from None
        yield row


def import_parquet() -> Any:
    """The module pyarrow.parquet; `MissingExtra` if it is not installed."""
    return import_extra("pyarrow.parquet", "data", "Parquet")


def open_parquet(path: Path) -> Any:
    """The file, opened by pyarrow; `FileError` if it is none."""
    parquet = import_parquet()
    import pyarrow

    try:
        return parquet.ParquetFile(path)
    except pyarrow.ArrowInvalid as why:
        raise FileError(f"{path} is not a Parquet file, or cut off: {why}") from None


def _read_head(name: str, head: str | bytes) -> tuple[dict[str, Any], Learner]:
    """What the head of a file says: what the log is of, and the learner before it."""
    wrong = FileError(f"{name} is not a log that semibandit exported")
    try:
        told = exact_json(head)
    except ValueError:
        raise wrong from None
    if not isinstance(told, dict) or "format" not in told:
        raise wrong
    if told["format"] != FORMAT:
        raise FileError(f"{name} has log format {told['format']}, this reads {FORMAT}")
    try:
        about, content = dict(told["about"]), base64.b64decode(told["learner"])
    except (KeyError, TypeError, ValueError):
        raise wrong from None
    return about, load(io.BytesIO(content))


class _Json:
    """Reads JSON, fast as long as no label is a whole number beyond 64 bits.

    Of such numbers the fast reader would make floats.
    """

    def __init__(self, labels: Iterable[Label], seen: bool) -> None:
        self.read: Callable[[bytes | str], Any] = from_json
        self._seen = seen
        self._look(labels)

    def read_labels(self, text: bytes | str) -> Any:
        """A change of labels, after which there may be such a label."""
        found = exact_json(text)
        added = found.get("body", found).get("add")
        self._look(added if isinstance(added, list) else ())
        return found

    def take_seen(self, body: dict[str, Any]) -> Floats | None:
        """What the model saw, which is no longer in the body; None if it is not to be read."""
        seen = body.pop("seen", None)
        return np.array(seen, dtype=np.float64) if self._seen and seen is not None else None

    def _look(self, labels: Iterable[Label]) -> None:
        if any(isinstance(label, int) and abs(label) >= 2**63 for label in labels):
            self.read = exact_json


def _of_lines(
    name: str, file: Any, reader: _Json, cut_off: Callable[[], object] | None
) -> Iterator[LogRow]:
    for number, line in enumerate(file, 2):
        row = _of_line(line, reader)
        if row is not None:
            yield row
        elif cut_off is not None and not line.endswith(b"\n"):  # only the last one ends so
            cut_off()
        else:
            raise FileError(f"{name}, line {number} is damaged: {shortened(line)}")


def _of_line(line: bytes, reader: _Json) -> LogRow | None:
    """The row of a line; None if it is none."""
    try:
        given = reader.read(line)
        if given["kind"] == "labels":
            given = reader.read_labels(line)
        body, context, seq = given["body"], given["context"], given["seq"]
        x = None if context is None else np.array(context, dtype=np.float64)
        seen = reader.take_seen(body)
        whole = type(seq) is int and 0 <= seq < 2**63
        if not whole or type(body) is not dict or (x is not None and x.ndim != 1):
            return None
        return LogRow(
            seq, given["kind"], given["id"], float(given["at"]), x, seen, body, given.get("subject")
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):  # by json and numpy
        return None


def _of_parquet(name: str, parquet: Any, reader: _Json) -> Iterator[LogRow]:
    import pyarrow

    n = 0
    try:
        for batch in parquet.iter_batches(BATCH, columns=_columns(name, parquet)):
            for row in _of_batch(name, batch, reader):
                n += 1
                yield row
    except (pyarrow.ArrowException, OSError) as why:
        raise FileError(f"{name} is damaged after its first {n} events: {why}") from None


def _columns(name: str, parquet: Any) -> list[str]:
    """The columns of a log, as far as the file has them: older ones have no subject."""
    there = set(parquet.schema_arrow.names)
    for column in COLUMNS[:-1]:
        if column not in there:
            raise FileError(f"{name} has no column {column!r}: it is not a log")
    return [column for column in COLUMNS if column in there]


def _of_batch(name: str, batch: Any, reader: _Json) -> Iterator[LogRow]:
    column = {key: batch.column(key) for key in batch.schema.names}
    words = {key: column[key].to_pylist() for key in column if key != "context"}
    subjects = words.get("subject") or [None] * len(batch)
    contexts = column["context"]
    ends, known = contexts.offsets.to_numpy().tolist(), contexts.is_valid().to_pylist()
    numbers = contexts.values.to_numpy(zero_copy_only=False)  # null is nan
    for i, (seq, kind, id, at) in enumerate(
        zip(words["seq"], words["kind"], words["id"], words["at"], strict=True)
    ):
        try:
            text = words["body"][i]
            body = reader.read_labels(text) if kind == "labels" else reader.read(text)
            seen = reader.take_seen(body)
        except (AttributeError, TypeError, ValueError):
            raise FileError(f"{name}, event {seq} is damaged: {shortened(text)}") from None
        x = numbers[ends[i] : ends[i + 1]].astype(np.float64) if known[i] else None
        yield LogRow(seq, kind, id, at, x, seen, body, subjects[i])


def _of_store(seq: int, row: events.Row) -> LogRow:
    kind, id, at, packed, body, subject = row
    context, seen = (None, None) if packed is None else events.unpack_both(packed)
    return LogRow(seq, kind, id, at, context, seen, events.read_body(kind, id, body), subject)
