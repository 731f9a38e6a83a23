"""Files of arrays (.npz): written without pickle, and read within bounds.

What a file says of its sizes is compared with the bytes that are there before room is made for
anything. Headers of arrays are matched, not evaluated: an array of numbers or text has no other.
"""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import IO, Any

import numpy as np

from semibandit._util.arrays import Array
from semibandit.errors import FileError, InputError

__all__ = ["read_npz", "save_npz"]

ERRORS = (  # of zipfile, zlib and numpy, while a damaged file is read
    *(ValueError, OSError, EOFError, KeyError, TypeError, NotImplementedError, RuntimeError),
    *(MemoryError, OverflowError, struct.error, zipfile.BadZipFile, zlib.error),
)
MAGIC = b"\x93NUMPY"
ARRAY = re.compile(  # the header of an array, as numpy writes it
    rb"\{'descr': '(?P<dtype>[<>|=][biufUS][1-9]\d*)', 'fortran_order': (?P<fortran>True|False), "
    rb"'shape': \((?P<shape>(?:\d+L?, ?)*(?:\d+L?)?)\), \} *\n?"
)
LONGEST_HEADER = 10_000  # bytes
ROOM = 1 << 30  # bytes that a compressed file may always expand to
EXPANSION = 100  # times its own size, if that is more
CHUNK = 1 << 20  # bytes read at a time


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


def read_npz(
    file: IO[bytes], *, compressed: bool = False, wanted: Callable[[str], bool] | None = None
) -> dict[str, Array]:
    """The arrays of an .npz file.

    Parameters
    ----------
    file : open binary file
        The file. Without compression the arrays take no more memory than it has bytes.
    compressed : bool
        Whether it may be compressed. Then its arrays may take a gigabyte, or a hundred times the
        bytes of the file if that is more.
    wanted : function, optional
        Whether an array of this name is to be read; the others are left alone.

    Returns
    -------
    dict of str to array
        Arrays of numbers or texts, by their names.

    Raises
    ------
    FileError
        If it is damaged, of another kind, or says that it holds more than it does.
    """
    size = file.seek(0, 2)
    file.seek(0)
    try:
        there = zipfile.is_zipfile(file)
        file.seek(0)
        if not there:
            one = file.read(6) == MAGIC
            raise FileError(f"it is no .npz file, {'it holds one array' if one else 'or cut off'}")
        with zipfile.ZipFile(file) as archive:
            members = _members(archive, size, compressed)
            members = {k: v for k, v in members.items() if wanted is None or wanted(k)}
            room = max(ROOM, EXPANSION * size) if compressed else size
            total = sum(one.file_size for one in members.values())
            if total > room:
                raise FileError(f"its arrays take {total:,} bytes, and the file has {size:,}")
            return {name: _read_array(archive, one, name) for name, one in members.items()}
    except FileError:
        raise
    except ERRORS as why:
        raise FileError(str(why) or type(why).__name__) from None


def _members(archive: zipfile.ZipFile, size: int, compressed: bool) -> dict[str, zipfile.ZipInfo]:
    """The members by the names of their arrays."""
    members: dict[str, zipfile.ZipInfo] = {}
    kinds = (zipfile.ZIP_STORED, *((zipfile.ZIP_DEFLATED,) if compressed else ()))
    for one in archive.infolist():
        name = one.filename.removesuffix(".npy")
        if name == one.filename:
            raise FileError(f"it holds {name[:40]!r}, which is no array")
        if name in members:
            raise FileError(f"it holds the array {name[:40]!r} twice")
        if one.compress_type not in kinds:
            raise FileError(f"the array {name[:40]!r} is compressed, as none in such a file is")
        members[name] = one
    if sum(one.compress_size for one in members.values()) > size:
        raise FileError(f"it says that it has more than the {size:,} bytes that are there")
    return members


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Array:
    with archive.open(member) as file:
        start, found = _read_header(file)
        if found is None:
            raise FileError(f"the array {name[:40]!r} is not one of numbers or texts")
        dtype = np.dtype(found["dtype"].decode())
        shape = tuple(int(n) for n in re.findall(rb"\d+", found["shape"]))
        if start + math.prod(shape) * dtype.itemsize != member.file_size:
            raise FileError(f"the array {name[:40]!r} does not have the bytes that its shape says")
        array = np.empty(math.prod(shape), dtype)
        room = array.view(np.uint8).data
        for place in range(0, len(room), CHUNK):
            part = room[place : place + CHUNK]
            if file.readinto(part) != len(part):  # type: ignore[attr-defined]
                raise FileError(f"the array {name[:40]!r} is cut off")
    return array.reshape(shape[::-1]).T if found["fortran"] == b"True" else array.reshape(shape)


def _read_header(file: IO[bytes]) -> tuple[int, re.Match[bytes] | None]:
    """How many bytes the header of an array has, and what it says; None if it is no such header."""
    magic = file.read(8)
    if magic[:6] != MAGIC or magic[6:7] not in (b"\1", b"\2", b"\3"):
        return 8, None
    width = 2 if magic[6] == 1 else 4
    length = int.from_bytes(file.read(width), "little")
    if length > LONGEST_HEADER:
        return 8, None
    return 8 + width + length, ARRAY.fullmatch(file.read(length))
