"""What numpy, zipfile and json raise while a damaged .npz file is read."""

from __future__ import annotations

import struct
import zipfile
import zlib

__all__ = ["NPZ_ERRORS"]

NPZ_ERRORS = (
    *(ValueError, OSError, EOFError, KeyError, TypeError, NotImplementedError, RuntimeError),
    *(MemoryError, SyntaxError, struct.error, zipfile.BadZipFile, zlib.error),
)
