"""Files of arrays hold what was given, and never anything that must be unpickled."""

import io

import numpy as np
import pytest

from semibandit._util.npz import read_npz, save_npz
from semibandit.errors import FileError, InputError


@pytest.mark.parametrize("compressed", [False, True])
def test_the_arrays_that_were_given_and_no_other(compressed):
    file = io.BytesIO()
    save_npz(file, {"x": np.arange(3), "name": np.array("a")}, compressed=compressed)
    file.seek(0)
    with np.load(file, allow_pickle=False) as found:
        assert sorted(found) == ["name", "x"]
        assert found["x"].tolist() == [0, 1, 2]
    again = read_npz(file, compressed=compressed)
    assert again["x"].tolist() == [0, 1, 2]
    assert str(again["name"]) == "a"


def test_objects_are_refused():
    with pytest.raises(InputError, match="the array 'x' holds objects"):
        save_npz(io.BytesIO(), {"x": np.array([{}])})


SHAPES = [(), (0,), (3,), (0, 7), (2, 3), (4, 1, 2)]
TYPES = ["<f8", "<f4", ">f8", "<i8", "|u1", "|b1", "<U5", "|S3"]


@pytest.mark.parametrize("dtype", TYPES)
def test_every_array_is_read_as_numpy_reads_it(dtype):
    random = np.random.default_rng(0)
    for shape in SHAPES:
        array = random.integers(0, 2, shape).astype(dtype)
        for one in (array, array.T, np.asfortranarray(array)):
            file = io.BytesIO()
            save_npz(file, {"x": one})
            found = read_npz(file)["x"]
            assert (found.dtype, found.shape) == (one.dtype, one.shape)
            np.testing.assert_array_equal(found, one)
            assert found.flags.writeable


def test_what_is_compressed_is_read_only_if_it_may_be():
    file = io.BytesIO()
    save_npz(file, {"x": np.zeros(1000)}, compressed=True)
    assert read_npz(file, compressed=True)["x"].shape == (1000,)
    with pytest.raises(FileError, match="the array 'x' is compressed, as none in such a file is"):
        read_npz(file)
    assert read_npz(file, compressed=True, wanted=lambda name: name != "x") == {}


def test_every_flipped_byte_gives_the_same_arrays_or_is_refused():
    file = io.BytesIO()
    save_npz(file, {"x": np.arange(5.0), "name": np.array("abc")})
    whole = file.getvalue()
    for place in range(len(whole)):
        broken = bytearray(whole)
        broken[place] ^= 0x5A
        try:
            found = read_npz(io.BytesIO(broken))
        except FileError:
            continue
        for name, array in found.items():  # one may be missing, which whoever needs it will say
            assert array.tolist() == {"x": [0, 1, 2, 3, 4], "name": "abc"}[name]
