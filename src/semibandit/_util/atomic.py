"""Files that are never half-written: whatever happens, there is the old one or the new one."""

from __future__ import annotations

import glob
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from semibandit.errors import FileError, MissingFile

__all__ = ["put_in_place", "replacing"]

ABANDONED = 3600.0  # seconds, after which nobody is still writing a new file


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file beside `path` to write to; it replaces `path` when the block ends.

    If the block raises, the new file is removed, and `path` stays as it was.

    Parameters
    ----------
    path : path
        The file to replace or to make. If it is a link, the file that it points to is replaced.

    Yields
    ------
    binary file
        The new file, open for writing.

    Raises
    ------
    MissingFile
        If the folder of `path` does not exist.
    FileError
        If `path` is a folder.
    OSError
        If it cannot be written or replaced. Windows replaces no file that a program has open.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if not target.parent.is_dir():
        raise MissingFile(f"cannot save {os.fspath(path)}: there is no folder {target.parent}")
    if target.is_dir():
        raise FileError(f"cannot save {os.fspath(path)}: it is a folder, not a file")
    _remove_leftovers(target)
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
    """Rename `beside`, which is complete and on disk, to `path`, with the permissions it had."""
    if path.exists():
        os.chmod(beside, path.stat().st_mode & 0o777)
    os.replace(beside, path)
    _sync_folder(path.parent)


def _remove_leftovers(target: Path) -> None:
    """Remove the new files of processes that were killed while they wrote them."""
    for leftover in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        process = leftover.name[len(target.name) + 2 :].split("-")[0]
        with suppress(FileNotFoundError, PermissionError):  # someone else has removed or opened it
            if process.isdigit() and _is_abandoned(leftover, int(process)):
                leftover.unlink()


def _is_abandoned(leftover: Path, process: int) -> bool:
    """Whether the process has ended; by the file's age if the system cannot be asked safely."""
    if process == os.getpid():
        return False
    if os.name == "posix":
        return not _alive(process)
    return time.time() - leftover.stat().st_mtime > ABANDONED  # os.kill would end it on Windows


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
