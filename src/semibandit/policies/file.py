"""A learner's file: a JSON header and arrays in one .npz, no pickle, never half-written."""

from __future__ import annotations

import json
import os
import zipfile
from typing import Any, BinaryIO

import numpy as np

from semibandit._atomic import replacing
from semibandit.models.model import Arrays

__all__ = ["VERSION", "pack", "read", "unpack", "write"]

VERSION = 1
HEADER = "semibandit"


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: Arrays) -> None:
    """Write beside `path`, then put in its place at one stroke: the old file or the new, whole."""
    with replacing(path) as file:
        pack(file, header, arrays)


def pack(file: BinaryIO, header: dict[str, Any], arrays: Arrays) -> None:
    """Write to an open file."""
    text = json.dumps({"version": VERSION, **header}).encode()
    contents = {HEADER: np.frombuffer(text, dtype=np.uint8), **arrays}
    np.savez(file, allow_pickle=False, **contents)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays, or a ValueError that says what is wrong with the file."""
    with open(path, "rb") as file:
        return unpack(file, os.fspath(path))


def unpack(file: BinaryIO, name: str) -> tuple[dict[str, Any], Arrays]:
    """`read` from an open file, which errors call `name`."""
    try:
        if not zipfile.is_zipfile(file):
            raise ValueError("it is no .npz file, or cut off")
        file.seek(0)
        archive = np.load(file, allow_pickle=False)
        if HEADER not in archive.files:
            raise ValueError("it was not written by semibandit")
        arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop(HEADER).tobytes())
        if not isinstance(header, dict) or not isinstance(header.get("version"), int):
            raise ValueError("its header has no version")
    except Exception as why:  # a broken archive fails in more ways than can be listed
        raise ValueError(f"{name} is not a whole semibandit file: {why}") from None
    if header["version"] > VERSION:
        raise ValueError(
            f"{name} has format {header['version']}, written by a newer semibandit; "
            f"this one reads formats up to {VERSION}"
        )
    return header, arrays
