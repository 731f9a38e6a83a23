"""The catalogue: its data agree with each other, and names are looked up."""

import pytest

from semibandit.data import catalogue
from semibandit.errors import InputError


def test_the_catalogue_is_of_one_piece():
    names = [entry.name for entry in catalogue.SOURCE.sets]
    assert names[0] == "mediamill"
    assert len(set(names)) == 9
    digests = {m.sha256 for entry in catalogue.SOURCE.sets for m in (entry.train, entry.test)}
    assert len(digests) == 18
    for entry in catalogue.SOURCE.sets:
        assert entry.cardinality / entry.K == pytest.approx(entry.density, abs=6e-4)


def test_an_unknown_name_says_which_there_are():
    with pytest.raises(
        InputError,
        match=r"is called 'mediamil'; there are mediamill, y.*; did you mean 'mediamill'\?",
    ):
        catalogue.SOURCE.entry("mediamil")
