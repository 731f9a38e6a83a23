"""What learners have learned depends on these numbers: they must never change."""

import pytest

from semibandit._util.stable_hash import stable_hash


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 13020603013274838756),
        ("phone", 17562147157493747175),
        ("device=phone", 10882358829513801089),
        ("é", 3394012004367669963),
        ("\ud800", 7497787021708494914),  # half of a character, which JSON may bring
    ],
)
def test_the_hash_of_a_text_never_changes(text, number):
    assert stable_hash(text) == number
