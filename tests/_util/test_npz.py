"""Files of arrays hold what was given, and never anything that must be unpickled."""

import io

import numpy as np
import pytest

from semibandit._util.npz import save_npz
from semibandit.errors import InputError


@pytest.mark.parametrize("compressed", [False, True])
def test_the_arrays_that_were_given_and_no_other(compressed):
    file = io.BytesIO()
    save_npz(file, {"x": np.arange(3), "name": np.array("a")}, compressed=compressed)
    file.seek(0)
    with np.load(file, allow_pickle=False) as found:
        assert sorted(found) == ["name", "x"]
        assert found["x"].tolist() == [0, 1, 2]


def test_objects_are_refused():
    with pytest.raises(InputError, match="the array 'x' holds objects"):
        save_npz(io.BytesIO(), {"x": np.array([{}])})
