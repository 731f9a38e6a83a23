"""Features in words, of every kind."""

import pytest

from semibandit.errors import InputError
from semibandit.policies.features.encoder import parse_features
from semibandit.policies.features.features import Features
from semibandit.policies.features.hashed import Hashed


@pytest.mark.parametrize(
    ("words", "features"),
    [
        ("120", 120),
        ("hashed:256", Hashed(256)),
        ("hashed", Features(hashed="number")),
        ("hour,device:category", Features(hour="number", device="category")),
    ],
)
def test_words_spell_features(words, features):
    assert parse_features(words) == features
    assert isinstance(features, int) or parse_features(features.words) == features


@pytest.mark.parametrize("words", ["", "0", "hashed:", "hashed:x", "hashed:0", "a:b", "-3:x"])
def test_wrong_words_are_refused(words):
    with pytest.raises(InputError):
        parse_features(words)
