r"""Arrays out of a pickle of Python 2, without unpickling it.

The members of the source package are protocol-0 pickles of {'X': array, 'y': array}. A pickle is a
program, but all of these are one and the same program with other numbers in it. So nothing is run:
the file is read as a list of instructions, which must match a regular expression, and the arrays
are made from the strings and integers in their places. Whatever does not match is refused.

Why this is not `pickle.Unpickler` with an allow-list in `find_class`, which was tried:

- Memory. The training part of delicious is 613 MB of text for 153 MB of numbers. The unpickler
  takes a string as one line of text and copies it: 912 to 1233 MB at the peak, against 235 MB here,
  where strings are decoded as they come (`getrusage(RUSAGE_SELF).ru_maxrss` of a new process after
  `Unpickler(...).load()` and after `read_arrays(bz2.open("delicious-train.dump.bz2"))`).
- Safety. `find_class` guards the names alone. `(dp40000000\n.` makes the unpickler allocate 620 MB
  for its memo, and a tuple that holds the one before it twice, sixty times over, has no hash in a
  lifetime when it becomes a key. A version that decoded strings by itself and refused such programs
  before it ran them was no shorter than this one.
"""

from __future__ import annotations

import codecs
import math
import re
import warnings
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from semibandit._util.arrays import Array
from semibandit.errors import FileError

__all__ = ["LIMIT", "read_arrays"]

LIMIT = 1 << 30  # bytes of all strings together; the largest real file holds 153 MB
LONGEST_LINE = 200  # of anything but a string
MOST_INSTRUCTIONS = 10_000  # a real file has 110 at most
CHUNK = 1 << 20

DTYPES = ("b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
BYTE_ORDERS = {b"<": "<", b">": ">", b"=": "=", b"|": "="}

# Every instruction is one character of the program: the three names have letters of their own, and
# g is what refers back to a dtype. ( and t enclose a tuple, R calls, b sets a state, s an item.
NAMES = {
    "numpy.core.multiarray _reconstruct": "A",
    "numpy ndarray": "a",
    "numpy dtype": "D",
}
ARRAY = re.compile(
    r"(?P<name>S)"
    r"A\(a\(ItStR"  # _reconstruct(ndarray, (0,), 'b')
    r"\(I\((?P<shape>I+)t"  # its state: version, shape,
    r"(?:D\((?P<dtype>S)IIt(?P<made>R)(?:\(I(?P<order>S)NNNIIItb)?|(?P<again>g))"  # dtype,
    r"(?P<fortran>I)(?P<data>S)tbs"  # order of axes, bytes
)
PROGRAM = re.compile(rf"\(d(?:{re.sub('[?]P<[a-z]+>', '?:', ARRAY.pattern)})*\.")


def read_arrays(file: BinaryIO, limit: int = LIMIT) -> dict[str, Array]:
    """Read the arrays of a pickled {'name': array, ...}.

    Parameters
    ----------
    file : binary file
        The pickle, of protocol 0.
    limit : int
        The most bytes that all strings may have together.

    Returns
    -------
    dict of str to array
        Read-only arrays of numbers, with one or two dimensions.

    Raises
    ------
    FileError
        If the pickle holds anything but arrays of numbers, is cut off, or is too large.
    """
    program, values = _instructions(file, limit)
    if not PROGRAM.fullmatch(program):
        shown = program if len(program) <= 60 else program[:57] + "..."
        raise FileError(f"the pickle is not a dictionary of arrays, but the program {shown}")
    arrays: dict[str, Array] = {}
    dtypes: dict[int, np.dtype[Any]] = {}
    for match in ARRAY.finditer(program):
        made = match.start("made") if match["made"] else values[match.start("again")]
        if match["made"]:
            order = values[match.start("order")] if match["order"] else b"="
            dtypes[made] = _dtype(values[match.start("dtype")], order)
        if made not in dtypes:
            raise FileError("the pickle holds an array whose dtype refers to something else")
        name = values[match.start("name")].decode("latin-1")
        shape = values[slice(*match.span("shape"))]
        fortran, data = values[match.start("fortran")], values[match.start("data")]
        arrays[name] = _array(shape, dtypes[made], fortran, data)
    return arrays


def _dtype(code: bytes, order: bytes) -> np.dtype[Any]:
    text = code.decode("latin-1")
    if text not in DTYPES or order not in BYTE_ORDERS:
        shown = f"{text[:20]!r}, byte order {order[:20]!r}"
        raise FileError(f"the pickle holds an array of dtype {shown}: refused, expected numbers")
    return np.dtype(text).newbyteorder(BYTE_ORDERS[order])  # type: ignore[arg-type]


def _array(shape: list[int], dtype: np.dtype[Any], fortran: int, data: bytes) -> Array:
    if min(shape) < 1:
        raise FileError("the pickle holds an array whose shape is not of positive numbers")
    if len(shape) > 2 or math.prod(shape) * dtype.itemsize != len(data):
        raise FileError(f"the pickle holds {len(data)} bytes, which its array's shape does not fit")
    return np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C")


def _instructions(file: BinaryIO, limit: int) -> tuple[str, list[Any]]:
    """The program, a character for each instruction, and a value for each; the memo is resolved."""
    program, left = "", limit
    values: list[Any] = []
    memo: dict[str, int] = {}
    for _ in range(MOST_INSTRUCTIONS):
        code, value = file.read(1).decode("latin-1"), None
        if code == "p":
            memo[_line(file)] = len(program) - 1
            continue
        if code == "g":
            code, value = _recall(_line(file), memo, program, values)
        elif code == "S":
            value = _string(file, left, limit)
            left -= len(value)
        elif code == "I":
            value = _integer(_line(file))
        elif code == "c":
            code = _name(_line(file), _line(file))
        elif not code or code not in "(NtdsRb.":
            what = f"holds instruction {code!r}, which no array needs" if code else "is cut off"
            raise FileError(f"the pickle {what}")
        program += code
        values.append(value)
        if code == ".":
            return program, values
    raise FileError(
        f"the pickle has more than {MOST_INSTRUCTIONS} instructions; arrays need about a hundred"
    )


def _recall(key: str, memo: dict[str, int], program: str, values: list[Any]) -> tuple[str, Any]:
    """A name or a string once more; of anything else, where it was made."""
    place = memo.get(key, -1)
    if place < 0:
        raise FileError(f"the pickle asks for {key!r}, which it never stored")
    return (program[place], values[place]) if program[place] in "SAaD" else ("g", place)


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise FileError(f"the pickle holds {text!r}, expected an integer") from None


def _name(module: str, name: str) -> str:
    if f"{module} {name}" not in NAMES:
        raise FileError(f"the pickle asks for {module}.{name}: refused, it is no array of numbers")
    return NAMES[f"{module} {name}"]


def _line(file: BinaryIO) -> str:
    line = file.readline(LONGEST_LINE)
    if not line.endswith(b"\n"):
        what = "is cut off" if len(line) < LONGEST_LINE else "holds a line that is too long"
        raise FileError(f"the pickle {what}")
    return line[:-1].decode("latin-1")


def _string(file: BinaryIO, left: int, limit: int) -> bytes:
    out = bytearray()
    for piece in _decoded(file):
        out += piece
        if len(out) > left:
            raise FileError(f"the pickle holds more than {limit} bytes of data")
    return bytes(out)


def _decoded(file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of a quoted string with escapes, for one chunk of its text at a time."""
    quote, rest, ended = file.read(1), b"", False
    if quote not in (b"'", b'"'):
        raise FileError("the pickle holds a string without quotes")
    while not ended:
        chunk = file.readline(CHUNK)
        if not chunk:
            raise FileError("the pickle is cut off inside a string")
        text = rest + chunk
        ended = text.endswith(b"\n")
        if ended and not text.endswith(quote + b"\n"):
            raise FileError("the pickle holds a string that does not end")
        cut = len(text) - 2 if ended else _whole(text[:-1])  # the last byte may be the quote
        yield _unescape(text[:cut])
        rest = text[cut:]


def _whole(text: bytes) -> int:
    """Up to where `text` ends with whole escapes: a chunk may end inside of \\x0f."""
    at = text.rfind(b"\\", max(len(text) - 3, 0))
    if at < 0:
        return len(text)
    run = at + 1 - len(text[: at + 1].rstrip(b"\\"))  # backslashes in a row: pairs stand for one
    length = 4 if text[at + 1 : at + 2] == b"x" else 2
    return len(text) if run % 2 == 0 or at + length <= len(text) else at


def _unescape(text: bytes) -> bytes:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an escape that does not exist
            return codecs.escape_decode(text)[0]
    except (ValueError, Warning) as error:
        raise FileError(f"the pickle holds a string that cannot be read: {error}") from None
