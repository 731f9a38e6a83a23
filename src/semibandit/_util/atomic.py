"""A file that is never half-written: the old one or the new one, whole, whatever happens."""

from __future__ import annotations

import glob
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["put_in_place", "replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file beside `path` to write to; where the block ends well, it takes `path`'s place."""
    target = Path(os.path.realpath(path))  # a link stays a link
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot save {os.fspath(path)}: there is no folder {target.parent}"
        )
    _sweep(target)
    beside = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        put_in_place(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def put_in_place(beside: Path, path: Path) -> None:
    """`beside`, already whole and on disk, becomes `path` at one stroke, with the rights it had."""
    if path.exists():
        os.chmod(beside, path.stat().st_mode & 0o777)
    os.replace(beside, path)
    _sync_folder(path.parent)


def _sweep(target: Path) -> None:
    """Remove what a process that was killed while saving here left behind."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        process = left.name[len(target.name) + 2 :].split("-")[0]
        if process.isdigit() and int(process) != os.getpid() and not _alive(int(process)):
            left.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
