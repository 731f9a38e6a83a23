"""The collector runs more rarely for a while, and as before afterwards."""

import gc

import pytest

from semibandit._util.gc import rare_collections


def test_it_is_as_before_afterwards():
    before = gc.get_threshold()
    with rare_collections():
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before
    with pytest.raises(KeyError), rare_collections():
        raise KeyError
    assert gc.get_threshold() == before


def test_who_turned_it_off_keeps_it_off():
    before = gc.get_threshold()
    try:
        gc.set_threshold(0)
        with rare_collections():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
