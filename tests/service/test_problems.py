"""What is wrong is said in plain sentences, and only then."""

import re

import pytest

from semibandit.service.engine.problems import Observed, find_problems

WELL = {
    "a": 0.8,
    "recent_decisions": 400,
    "recent_empty": 40,
    "hour_decisions": 2000,
    "hour_feedback": 1500,
    "day_decisions": 40_000,
    "day_feedback": 30_000,
    "feedback": 30_000,
    "backlog": 12,
    "requests": 3000,
    "errors": 3,
    "refused": 10,
    "labels": 40,
    "decisions_since_labels_changed": 40_000,
}

UNWELL = {
    "it is silent": (
        {"recent_empty": 390},
        "98% of the visits .* shown nothing at all.$",
    ),
    "silent without a": ({"a": None, "recent_empty": 390}, "shown nothing at all.$"),
    "it is a standby": (
        {"not_ready": "following another service, which writes to the store; 3 events behind"},
        "This is a standby",
    ),
    "the store is away": ({"not_ready": "the store is away"}, "cannot work .*: the store is away"),
    "it stopped learning": (
        {"not_ready": "learning stopped at event 7 with TypeError; the service's log says why"},
        "no longer learns: learning stopped at event 7",
    ),
    "it is behind": ({"backlog": 2300}, "2,300 events wait to be learned, of at most 10,000"),
    "errors": ({"errors": 31}, r"^1\.0% of the requests of the last 5 minutes failed"),
    "mistakes": ({"refused": 450}, "^15% .* turned away"),
    "feedback stopped": ({"hour_feedback": 0}, "what was clicked in the last hour, though 2,000"),
    "there never was any": (
        {"hour_feedback": 0, "day_feedback": 0, "feedback": 0},
        "what was clicked yet, though 2,000",
    ),
    "never shown": ({"never_shown": 3}, "^3 items have never been shown, in 40,000 visits"),
    "one never shown": ({"never_shown": 1}, "^1 item has never been shown"),
    "constant": ({"constant": ["hour"]}, "^The feature “hour” is always the same"),
    "worse than the holdout": (
        {"most_gained": -0.123},
        "^Visits that it decides have at least 12% fewer clicks than those of the holdout",
    ),
    "drifting": ({"drifting": list("abcdefg")}, "“e” and 2 more are far from"),
}


@pytest.mark.parametrize(("given", "what"), UNWELL.values(), ids=UNWELL)
def test_what_is_wrong_is_said(given, what):
    (found,) = find_problems(Observed(**WELL | given))
    assert re.search(what, found.what)
    assert found.do.endswith(".")
    assert ("about 20% of the time" in found.do) == ("recent_empty" in given and "a" not in given)
    jargon = "slate|label|probe|width|margin|well|cut"
    assert not re.search(rf"\b({jargon})s?\b", f"{found.what} {found.do}", re.IGNORECASE)


FINE = {
    "all is well": {},
    "a new service": dict.fromkeys(WELL, 0),
    "a few empty lists": {"recent_decisions": 10, "recent_empty": 10},
    "a few requests": {"requests": 4, "errors": 4},
    "a new item": {"never_shown": 1, "decisions_since_labels_changed": 700},
    "a quiet hour": {"hour_feedback": 0, "hour_decisions": 30},
    "feedback once a day": {"hour_feedback": 0, "day_feedback": 500},
}


@pytest.mark.parametrize("given", FINE.values(), ids=FINE)
def test_nothing_is_said_if_all_is_well(given):
    assert find_problems(Observed(**WELL | given)) == []


def test_the_worst_comes_first():
    found = find_problems(
        Observed(**WELL | {"constant": ["hour"], "errors": 300, "not_ready": "x"})
    )
    assert [one.what.split()[0] for one in found] == ["The", "10%", "The"]
