"""Arrays out of a pickle, without unpickling it.

The data sets come as protocol-0 pickles of {'X': array, 'y': array}. A pickle is a program, and
Python's own reader runs it. This one does not: it knows the thirteen instructions that such a file
needs, the three names that an array is made of, and nothing else. It imports nothing, calls nothing
that the file names, and builds arrays from bytes itself. Anything else is refused where it stands.
"""

from __future__ import annotations

import codecs
import math
import warnings
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from semibandit._util.arrays import Array
from semibandit.errors import InputError

__all__ = ["LIMIT", "read_arrays"]

LIMIT = 1 << 30  # bytes of all strings together; the largest real file holds 153 MB
LONGEST_LINE = 200  # of anything but a string
MOST_STEPS = 10_000  # a real file takes under a hundred
CHUNK = 1 << 20

RECONSTRUCT = "numpy.core.multiarray _reconstruct"
NDARRAY = "numpy ndarray"
DTYPE = "numpy dtype"
NAMES = (RECONSTRUCT, NDARRAY, DTYPE)
KINDS = ("b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")


@dataclass(frozen=True)
class _Name:
    """A name the file asks for. It stays a word: nothing is looked up."""

    text: str


class _Mark:
    """Where a tuple began on the stack."""


@dataclass
class _Dtype:
    code: str
    order: str = "="


@dataclass
class _Array:
    value: Array | None = None


def read_arrays(file: BinaryIO, limit: int = LIMIT) -> dict[str, Array]:
    """The arrays of a pickled {'name': array, ...}, at most `limit` bytes in all.

    Raises ValueError, and has done nothing, where the file holds anything but arrays of numbers,
    is cut off, or is larger than that.
    """
    return _Machine(file, limit).run()


class _Machine:
    """The pickle machine, as far as arrays need it: a stack, a memo, thirteen instructions."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self.file = file
        self.left = limit
        self.limit = limit
        self.stack: list[Any] = []
        self.memo: dict[str, Any] = {}

    def run(self) -> dict[str, Array]:
        for _ in range(MOST_STEPS):
            code = self.file.read(1)
            if code == b".":
                return self._result()
            if not code:
                raise InputError("the pickle is cut off")
            step = STEPS.get(code)
            if step is None:
                raise InputError(f"the pickle holds instruction {code!r}, which no array needs")
            step(self)
        raise InputError(
            f"the pickle takes more than {MOST_STEPS} steps; arrays need under a hundred"
        )

    def _result(self) -> dict[str, Array]:
        found = self._pop(dict)
        arrays = {}
        for name, array in found.items():
            if not isinstance(array, _Array) or array.value is None:
                raise InputError(f"the pickle's {name!r} is not an array")
            arrays[name] = array.value
        return arrays

    # The stack

    def _pop(self, kind: type) -> Any:
        if not self.stack or type(self.stack[-1]) is not kind:
            got = type(self.stack[-1]).__name__.strip("_") if self.stack else "nothing"
            wanted = kind.__name__.strip("_")
            raise InputError(f"the pickle is not of arrays: expected {wanted}, found {got}")
        return self.stack.pop()

    def _line(self) -> str:
        line = self.file.readline(LONGEST_LINE)
        if not line.endswith(b"\n"):
            what = "is cut off" if len(line) < LONGEST_LINE else "holds a line that is too long"
            raise InputError(f"the pickle {what}")
        try:
            return line[:-1].decode("ascii")
        except UnicodeDecodeError:
            raise InputError(f"the pickle holds {line!r}, which no array needs") from None

    # The instructions

    def mark(self) -> None:
        self.stack.append(_Mark())

    def none(self) -> None:
        self.stack.append(None)

    def integer(self) -> None:
        text = self._line()
        try:
            self.stack.append(int(text))
        except ValueError:
            raise InputError(f"the pickle holds {text!r} where a number belongs") from None

    def string(self) -> None:
        self.stack.append(self._string())

    def name(self) -> None:
        asked = f"{self._line()} {self._line()}"
        if asked not in NAMES:
            dotted = asked.replace(" ", ".")
            raise InputError(f"the pickle asks for {dotted}: refused, it is no array of numbers")
        self.stack.append(_Name(asked))

    def put(self) -> None:
        if not self.stack:
            raise InputError("the pickle is not of arrays: it stores nothing")
        self.memo[self._line()] = self.stack[-1]

    def get(self) -> None:
        key = self._line()
        if key not in self.memo:
            raise InputError(f"the pickle asks for {key!r}, which it never stored")
        self.stack.append(self.memo[key])

    def tuple(self) -> None:
        self.stack.append(tuple(self._since_mark()))

    def dict(self) -> None:
        if self._since_mark():
            raise InputError("the pickle is not of arrays: its dictionary is not of {'X', 'y'}")
        self.stack.append({})

    def setitem(self) -> None:
        if len(self.stack) < 3:
            raise InputError("the pickle is not of arrays: nothing to store")
        value, key = self.stack.pop(), self._pop(bytes)
        into = self.stack[-1]
        if type(into) is not dict:
            raise InputError("the pickle is not of arrays: it stores into something else")
        into[key.decode("latin-1")] = value

    def reduce(self) -> None:
        """dtype('f8', 0, 1) or _reconstruct(ndarray, (0,), 'b'), and no other call."""
        arguments, called = self._pop(tuple), self._pop(_Name)
        if called.text == DTYPE and len(arguments) == 3 and arguments[1:] == (0, 1):
            self.stack.append(_Dtype(_kind(arguments[0])))
        elif called.text == RECONSTRUCT and arguments == (_Name(NDARRAY), (0,), b"b"):
            self.stack.append(_Array())
        else:
            raise InputError(f"the pickle calls {called.text.replace(' ', '.')} as no array does")

    def build(self) -> None:
        """The state of a dtype or of an array."""
        state = self._pop(tuple)
        into = self.stack[-1] if self.stack else None
        if isinstance(into, _Dtype):
            if len(state) != 8 or state[1] not in (b"<", b">", b"|", b"="):
                raise InputError("the pickle holds a type of number that is not plain")
            into.order = state[1].decode("ascii")
        elif isinstance(into, _Array):
            into.value = _array(state)
        else:
            raise InputError("the pickle is not of arrays: it sets the state of something else")

    # Helpers

    def _since_mark(self) -> list[Any]:
        for at in range(len(self.stack) - 1, -1, -1):
            if type(self.stack[at]) is _Mark:
                taken = self.stack[at + 1 :]
                del self.stack[at:]
                return taken
        raise InputError("the pickle is not of arrays: it closes what it never opened")

    def _string(self) -> bytes:
        """A quoted string with escapes, decoded piece by piece: its text is four times as long."""
        quote = self.file.read(1)
        if quote not in (b"'", b'"'):
            raise InputError("the pickle holds a string without quotes")
        out, rest = bytearray(), b""
        while True:
            piece = self.file.readline(CHUNK)
            if not piece:
                raise InputError("the pickle is cut off inside a string")
            rest += piece
            end = rest.endswith(b"\n")
            cut = len(rest) if end else _whole(rest[:-1])  # the last may be the quote
            piece, rest = rest[:cut], rest[cut:]
            if end:
                if not piece.endswith(quote + b"\n"):
                    raise InputError("the pickle holds a string that does not end")
                piece = piece[:-2]
            decoded = _unescape(piece)
            self.left -= len(decoded)
            if self.left < 0:
                raise InputError(f"the pickle holds more than {self.limit} bytes of data")
            out += decoded
            if end:
                return bytes(out)


def _whole(text: bytes) -> int:
    """Up to where `text` ends with whole escapes: a chunk may end inside \\x0f."""
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
    except (ValueError, Warning) as why:
        raise InputError(f"the pickle holds a string that cannot be read: {why}") from None


def _kind(code: object) -> str:
    text = code.decode("latin-1") if isinstance(code, bytes) else "something"
    if text not in KINDS:
        raise InputError(f"the pickle holds an array of {text[:20]}: refused, it is not of numbers")
    return text


def _array(state: tuple[Any, ...]) -> Array:
    """The array of (version, shape, dtype, is_fortran, bytes)."""
    if len(state) != 5 or not isinstance(state[2], _Dtype) or not isinstance(state[4], bytes):
        raise InputError("the pickle holds an array without shape, type and bytes")
    _, shape, kind, fortran, data = state
    # never shown as it stands: what a hostile file puts there may be endless when written out
    if not isinstance(shape, tuple) or not all(type(n) is int and n > 0 for n in shape):
        raise InputError("the pickle holds an array whose shape is not of positive numbers")
    dtype = np.dtype(kind.code).newbyteorder("=" if kind.order == "|" else kind.order)
    if len(shape) > 2 or math.prod(shape) * dtype.itemsize != len(data):
        raise InputError(
            f"the pickle holds {len(data)} bytes, which its array's shape does not fit"
        )
    return np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C")


STEPS = {
    b"(": _Machine.mark,
    b"N": _Machine.none,
    b"I": _Machine.integer,
    b"S": _Machine.string,
    b"c": _Machine.name,
    b"p": _Machine.put,
    b"g": _Machine.get,
    b"t": _Machine.tuple,
    b"d": _Machine.dict,
    b"s": _Machine.setitem,
    b"R": _Machine.reduce,
    b"b": _Machine.build,
}
