"""A learner's file: a JSON header and arrays in one .npz, no pickle, never half-written."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from semibandit.models.model import Arrays

__all__ = ["VERSION", "read", "write"]

VERSION = 1
HEADER = "semibandit"


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays) -> None:
    """Write beside `path`, then put in its place at one stroke: the old file or the new, whole."""
    path = Path(path)
    text = json.dumps({"version": VERSION, **header}).encode()
    contents = {HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **contents)
            file.flush()
            os.fsync(file.fileno())
        _same_rights(path, beside)
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


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


def _same_rights(path: Path, beside: str) -> None:
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
