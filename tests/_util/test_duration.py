"""Durations as people write them."""

import pytest

from semibandit._util.duration import parse_duration
from semibandit.errors import InputError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("15m", 900), ("12h", 43200), ("90d", 7776000), ("2w", 1209600),
     (" 1.5 H ", 5400)],
)  # fmt: skip
def test_what_it_is_in_seconds(text, seconds):
    assert parse_duration("keep", text) == seconds


@pytest.mark.parametrize(
    "text", ["", "45", "0d", "-1d", "d", "90 days", "1y", "nan", "inf", "1" * 400]
)
def test_what_is_no_duration(text):
    with pytest.raises(InputError, match=r"keep = .*, expected a duration with its unit"):
        parse_duration("keep", text)
