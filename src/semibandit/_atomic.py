"""A file that is never half-written: the old one or the new one, whole, whatever happens."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["put_in_place", "replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file beside `path` to write to; where the block ends well, it takes `path`'s place."""
    path = Path(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        put_in_place(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def put_in_place(beside: Path, path: Path) -> None:
    """`beside`, already whole and on disk, becomes `path` at one stroke."""
    _same_rights(path, beside)
    os.replace(beside, path)
    _sync_folder(path.parent)


def _same_rights(path: Path, beside: Path) -> None:
    """The rights the file had, or what a plainly created file would get."""
    if path.exists():
        mode = path.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    os.chmod(beside, mode)


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
