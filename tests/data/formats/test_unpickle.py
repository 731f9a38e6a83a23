"""Arrays come out of a pickle; nothing else ever does, and nothing in it runs."""

import bz2
import io
import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from old_pickle import dump

from semibandit.data.formats import unpickle
from semibandit.data.formats.unpickle import read_arrays
from semibandit.errors import FileError

X = np.arange(12.0).reshape(4, 3) / 7
GOOD = dump({"y": np.array([[0, 1], [1, 0], [1, 1], [0, 0]]), "X": X})


def read(content, **options):
    return read_arrays(io.BytesIO(content), **options)


def array_of(state: bytes) -> bytes:
    """A pickle of {'X': array}, whose array is built from `state`."""
    made = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
    return b"(dS'X'\n" + made + state + b"bs."


def array_of_dtype(arguments: bytes, order: bytes = b"<") -> bytes:
    """A pickle of {'X': array}, whose dtype is made of `arguments`."""
    state = b"(I3\nS'" + order + b"'\nNNNI-1\nI-1\nI0\ntb"
    return array_of(b"(I1\n(I1\ntcnumpy\ndtype\n" + arguments + b"R" + state + b"I0\nS'x'\nt")


@given(
    arrays.arrays(
        st.sampled_from([np.int64, np.float64, np.uint8, np.int32, np.float32]),
        arrays.array_shapes(min_dims=1, max_dims=2, max_side=7),
    ),
    st.integers(1, 40),
)
def test_what_was_written_is_read_to_the_bit_in_chunks_of_any_size(array, chunk):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unpickle, "CHUNK", chunk)
        got = read(dump({"X": array}))["X"]
    assert got.dtype == array.dtype
    assert got.shape == array.shape
    assert got.tobytes() == array.tobytes()


def test_our_twin_of_the_old_format_is_the_format():
    ours = pickle.loads(GOOD, encoding="latin1")  # our own bytes: Python agrees on what they say
    assert np.array_equal(ours["X"], X)
    assert list(read(GOOD)) == ["y", "X"]


def test_arrays_in_column_order():
    array = np.asfortranarray(X)
    assert np.array_equal(read(dump({"X": array}))["X"], X)


class Bomb:
    def __init__(self, call, *arguments):
        self.call, self.arguments = call, arguments

    def __reduce__(self):
        return self.call, self.arguments


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("wrap", [lambda b: b, lambda b: {"X": b, "y": b}, lambda b: [(b,)]])
def test_a_file_that_runs_code_is_refused_and_does_not(tmp_path, protocol, wrap):
    witness = tmp_path / "it ran"
    for call, argument in [
        (os.system, f"touch '{witness}'"),
        (eval, f"open({str(witness)!r}, 'w')"),
        (exec, f"open({str(witness)!r}, 'w')"),
        (open, str(witness)),
    ]:
        arguments = (argument, "w") if call is open else (argument,)
        with pytest.raises(FileError, match="the pickle"):
            read(pickle.dumps(wrap(Bomb(call, *arguments)), protocol=protocol))
    assert not witness.exists()


@pytest.mark.parametrize(
    "name",
    [
        "os system",
        "posix system",
        "nt system",
        "subprocess Popen",
        "builtins eval",
        "__builtin__ eval",
        "__builtin__ getattr",
        "importlib import_module",
        "numpy load",
        "numpy fromfile",
        "numpy.testing._private.utils runstring",
        "numpy.f2py.diagnose run_command",
        "numpy.core.multiarray scalar",
        "numpy.core.multiarray fromfile",
        "numpy ndarray.tofile",
        "scipy.sparse csr_matrix",
        "_codecs encode",
        "copy_reg _reconstructor",
        "numpy.core.multiarray  _reconstruct",
        "NUMPY ndarray",
    ],
)
def test_only_the_names_of_an_array_are_known(name):
    module, _, word = name.partition(" ")
    content = f"c{module}\n{word}\n(S'x'\ntR.".encode()
    with pytest.raises(FileError, match=r"the pickle asks for .*: refused"):
        read(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"cnumpy\nndarray\n(I5\ntR.", "not a dictionary of arrays"),
        (array_of_dtype(b"(cnumpy\ndtype\n(S'O8'\nI0\nI1\ntRI0\nI1\nt"), "not a dictionary of arr"),
        (array_of_dtype(b"(S'O8'\nI0\nI1\nt"), "dtype 'O8', .*: refused"),
        (array_of_dtype(b"(S'V8'\nI0\nI1\nt"), "dtype 'V8', .*: refused"),
        (array_of_dtype(b"(S'f8,O'\nI0\nI1\nt"), "dtype 'f8,O', .*: refused"),
        (array_of_dtype(b"(S'f8'\nt"), "not a dictionary of arrays"),
        (array_of_dtype(b"(S'f8'\nI0\nI1\nt", order=b"x"), "byte order b'x': refused"),
        (b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\ndtype\n(I0\ntS'b'\ntR.", "not a dict"),
        (b"ios\nsystem\n(S'x'\n.", "instruction 'i'"),
        (b"(cos\nsystem\nS'x'\no.", "os.system: refused"),
        (b"P1\n.", "instruction 'P'"),
        (b"\x80\x02}.", r"instruction '\\x80'"),
        (b"\x8e" + b"\x7f" * 8, r"instruction '\\x8e', which no array needs"),
        (b"\x8b\xff\xff\xff\x7f", r"instruction '\\x8b', which no array needs"),
        (b"(dS'X'\nI5\ns.", "not a dictionary of arrays, but the program"),
        (b"(dI1\nI5\ns.", "not a dictionary of arrays"),
        (b"(d(db.", "not a dictionary of arrays"),
        (b"I5\n.", "not a dictionary of arrays"),
        (b".", "not a dictionary of arrays"),
        (b"t.", "not a dictionary of arrays"),
        (b"g7\n.", "'7', which it never stored"),
        (b"p1\n.", "not a dictionary of arrays"),
        (b"p1\ng1\n.", "'1', which it never stored"),
        (b"s.", "not a dictionary of arrays"),
        (b"(I1\nI2\nd.", "not a dictionary of arrays"),
        (b"Ifive\n.", "holds 'five', expected an integer"),
        (b"I\xff\n.", "expected an integer"),
        (b"Sx'\n.", "without quotes"),
        (b"S'x\n.", "does not end"),
        (b"S'\\q'\n.", "cannot be read"),
        (b"S'\\xz'\n.", "cannot be read"),
        (b"I" + b"9" * 10**6 + b"\n.", "a line that is too long"),
        (b"(" * 10**6, "more than 10000 instructions"),
        (array_of(b"(I1\n(I2\ntcnumpy\ndtype\n(S'f8'\nI0\nI1\ntRI0\nS'x'\nt"), "1 bytes"),
        (array_of(b"(I1\n(I-1\ntcnumpy\ndtype\n(S'f8'\nI0\nI1\ntRI0\nS'x'\nt"), "positive"),
        (array_of(b"(I1\nNcnumpy\ndtype\n(S'f8'\nI0\nI1\ntRI0\nS'x'\nt"), "not a dictionary"),
        (array_of(b"(I1\n(I1\ntNI0\nS'x'\nt"), "not a dictionary of arrays"),
        (
            array_of(
                b"(I1\n(I%d\nI%d\ntcnumpy\ndtype\n(S'f8'\nI0\nI1\ntRI0\nS''\nt" % (10**99, 10**99)
            ),
            "0 bytes, which its array's shape does not fit",
        ),
    ],
)
def test_hostile_files_are_refused_with_a_reason(content, message):
    with pytest.raises(FileError, match=message):
        read(content)


def test_a_program_that_would_take_much_memory_or_time_to_run_does_not():
    """Python's unpickler allocates 64 GB for the first, and hashes the second for ever."""
    with pytest.raises(FileError, match="the pickle asks for '0', which it never stored"):
        read(b"(dp4000000000\ng0\n.")
    assert read(b"(dp4000000000\n.") == {}
    doubled = b"(I1\nI1\ntp0\n" + b"(g0\ng0\ntp0\n" * 60
    with pytest.raises(FileError, match="not a dictionary of arrays"):
        read(b"(d" + doubled + b"Ns.")


def test_a_dtype_is_referred_to_and_nothing_else_can_be_in_its_place():
    both = dump({"y": np.arange(4), "X": np.arange(6)})
    assert np.array_equal(read(both)["X"], np.arange(6))
    for key in (b"g7\n", b"g8\n", b"g0\n"):  # an array, a shape, the dictionary
        with pytest.raises(FileError, match="whose dtype refers to something else"):
            read(both.replace(b"g12\n", key))


def test_tuples_that_would_be_endless_when_written_out_are_refused_at_once():
    doubled = b"(I1\nI1\ntp0\n" + b"".join(b"0(g0\ng0\ntp0\n"[1:] for _ in range(60))
    for end in (b"b.", b"R.", b".", b"cnumpy\ndtype\n(g0\nI0\nI1\ntR."):
        with pytest.raises(FileError, match="the pickle"):
            read(doubled + end)
    with pytest.raises(FileError, match="the pickle"):
        read(b"(" * 4000 + b"t" * 4000 + b"b.")


class Endless(io.BytesIO):
    """A string that never ends, as one that was compressed to nothing may seem not to."""

    given = 0

    def readline(self, size=-1):
        line = super().readline(size)
        if line.endswith(b"\n"):
            return line
        self.given += size
        return b"0" * size


def test_a_memory_bomb_is_refused_before_it_is_in_memory():
    endless = Endless(b"(dS'X'\nS'")
    with pytest.raises(FileError, match="more than 5000000 bytes"):
        read_arrays(endless, limit=5_000_000)
    assert endless.given < 5_000_000 + 2 * unpickle.CHUNK
    bomb = bz2.compress(b"(dS'X'\nS'" + b"\\x00" * (1 << 18) + b"'\ns.")
    assert len(bomb) < 2000
    with bz2.open(io.BytesIO(bomb)) as file, pytest.raises(FileError, match="more than 65536"):
        read_arrays(file, limit=65536)
    small = dump({"X": X, "y": X})
    assert len(read(small, limit=2 * X.nbytes + 20)) == 2
    with pytest.raises(FileError, match="more than"):
        read(small, limit=2 * X.nbytes)  # the limit is for all strings together


def test_every_truncation_is_refused():
    for end in range(len(GOOD) - 1):
        with pytest.raises(FileError, match="the pickle"):
            read(GOOD[:end])


@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=4))
def test_damage_gives_arrays_of_numbers_or_an_error(place, bytes_):
    try:
        found = read(GOOD[:place] + bytes_ + GOOD[place + len(bytes_) :])
    except FileError:
        return
    assert all(a.dtype.kind in "biuf" and a.ndim <= 2 for a in found.values())


@given(st.binary(max_size=200))
def test_noise_is_refused(noise):
    with pytest.raises(FileError, match="the pickle"):
        read(noise)


CODES = [b"(", b"N", b"t", b"d", b"s", b"R", b"b", b"I0\n", b"I7\n", b"S'f8'\n", b"p0\n", b"g0\n"]
CODES += [b"cnumpy\ndtype\n", b"cnumpy\nndarray\n", b"cnumpy.core.multiarray\n_reconstruct\n"]


@given(st.lists(st.sampled_from(CODES), max_size=40))
def test_programs_of_known_instructions_are_refused_unless_they_are_arrays(codes):
    content = b"(d" + b"".join(codes) + b"."
    if content.replace(b"p0\n", b"") == b"(d.":
        assert read(content) == {}
    else:
        with pytest.raises(FileError, match="the pickle"):
            read(content)
