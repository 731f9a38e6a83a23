"""A learner's file: a JSON header and arrays in one .npz, no pickle, never half-written."""

from __future__ import annotations

import glob
import json
import os
import secrets
from pathlib import Path
from typing import Any

import numpy as np

from semibandit.models.model import Arrays

__all__ = ["VERSION", "read", "write"]

VERSION = 1
HEADER = "semibandit"


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays) -> None:
    """Write beside `path`, then put in its place at one stroke: the old file or the new, whole."""
    target = Path(os.path.realpath(path))  # a link stays a link
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"cannot save {os.fspath(path)}: there is no folder {target.parent}"
        )
    text = json.dumps({"version": VERSION, **header}).encode()
    contents = {HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    _sweep(target)
    beside = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            np.savez(file, allow_pickle=False, **contents)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(beside, target.stat().st_mode & 0o777)
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays, or a ValueError that says what is wrong with the file."""
    with open(path, "rb") as file:
        try:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile) or HEADER not in archive.files:
                raise ValueError("it was not written by semibandit")
            arrays = {name: archive[name] for name in archive.files}
            header = json.loads(arrays.pop(HEADER).tobytes())
            if not isinstance(header, dict) or not isinstance(header.get("version"), int):
                raise ValueError("its header has no version")
        except Exception as why:  # a broken archive fails in more ways than can be listed
            raise ValueError(f"{os.fspath(path)} is not a whole semibandit file: {why}") from None
    if header["version"] > VERSION:
        raise ValueError(
            f"{os.fspath(path)} has format {header['version']}, written by a newer semibandit; "
            f"this one reads formats up to {VERSION}"
        )
    return header, arrays


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
