"""Files of arrays: how they are written, and what is raised while a damaged one is read."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from semibandit.errors import InputError

__all__ = ["NPZ_ERRORS", "save_npz"]

NPZ_ERRORS = (
    *(ValueError, OSError, EOFError, KeyError, TypeError, NotImplementedError, RuntimeError),
    *(MemoryError, SyntaxError, struct.error, zipfile.BadZipFile, zlib.error),
)


def save_npz(file: IO[bytes], arrays: Mapping[str, Any], *, compressed: bool = False) -> None:
    """Write arrays to an open file as .npz, which can be read without pickle.

    numpy's own `allow_pickle=False` is not used: numpy 2.0 takes it for one more array.

    Raises
    ------
    InputError
        If an array holds objects.
    """
    contents = {name: np.asanyarray(array) for name, array in arrays.items()}
    for name, array in contents.items():
        if array.dtype.hasobject:
            raise InputError(f"the array {name!r} holds objects, which are not saved")
    (np.savez_compressed if compressed else np.savez)(file, **contents)
