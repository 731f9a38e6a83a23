"""Files of learners that take the place of a store's learner, in the store's own database."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import AbstractContextManager

from semibandit.policies.learner import Learner
from semibandit.policies.persistence import load
from semibandit.store.database import Database
from semibandit.store.parts import drop_parts, read_parts, write_parts
from semibandit.store.tables import read_meta, write_meta

__all__ = ["add_file", "read_learner"]


def add_file(
    db: Database, turn: AbstractContextManager[object], content: bytes, needed: Sequence[int]
) -> int:
    """Keep a file, and give its number; all others go but those that are needed."""
    listed = ", ".join(str(-number) for number in needed) or "0"
    drop_parts(db, turn, f"seq < 0 AND seq NOT IN ({listed})")
    with turn:
        number = int(read_meta(db, "files") or 0) + 1
        write_meta(db, "files", str(number))
    write_parts(db, turn, -number, content)
    return number


def read_learner(db: Database, number: int, device: str | None = None) -> Learner:
    """The learner of a file, as it was given; `FileError` if the file is no longer kept."""
    return load(io.BytesIO(read_parts(db, -number)), device=device)
