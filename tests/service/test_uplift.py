"""What the learner gains over the holdout: counts, intervals, and how long until it can tell."""

import json

import numpy as np
import pytest

from semibandit.service.engine.uplift import Comparison


def compared(n, learner=0.4, holdout=0.3, share=0.1, seed=0, slots=3):
    """So many visits; every one of the labels shown is clicked with this probability."""
    random, found = np.random.default_rng(seed), Comparison()
    for _ in range(n):
        held_out = random.random() < share
        arm, rate = (found.holdout, holdout) if held_out else (found.learner, learner)
        arm.add(int((random.random(slots) < rate).sum()), slots, slots)
    return found


def test_counts_rates_and_intervals():
    found = compared(4000)
    told = found.describe(pace=2.0)
    for name, rate in (("learner", 0.4), ("holdout", 0.3)):
        arm = told[name]
        assert arm["shown"] == 3 * arm["visits"]
        assert arm["clicked_share"] == arm["clicked_visits"] / arm["visits"]
        assert arm["clicks_per_visit"] == pytest.approx(3 * rate, abs=0.1)
    assert told["learner"]["visits"] + told["holdout"]["visits"] == 4000
    clicked, clicks = told["visits_with_a_click"], told["clicks_per_visit"]
    truth = (1 - 0.6**3) / (1 - 0.7**3) - 1
    for one, relative, plain in (
        (clicked, truth, 0.6**3 - 0.7**3),
        (clicks, 1 / 3, -0.3),
    ):
        low, high = one["relative_interval"]
        assert low < relative < high
        low, high = one["difference_interval"]
        assert low < -plain < high
        assert low < one["difference"] < high
    assert clicks["can_tell"]
    assert (clicks["visits_to_go"], clicks["seconds_to_go"]) == (None, None)


@pytest.mark.parametrize("measure", ["visits_with_a_click", "clicks_per_visit"])
def test_how_long_it_takes_is_right_if_visits_go_on_as_they_are(measure):
    def after(visits):
        """The same 100 visits again and again, of which 10 belong to the holdout."""
        found = Comparison()
        for i in range(visits):
            arm = found.holdout if i % 10 == 0 else found.learner
            arm.add(int(i % 3 == 0) + int(i % 2 and i % 10 == 3), 3, 3)
        return found.describe(pace=0.5)[measure]

    early = after(1500)
    assert not early["can_tell"]
    to_go = early["visits_to_go"]
    assert to_go > 1000
    assert early["seconds_to_go"] == 2 * to_go
    assert after(1500 + int(1.1 * to_go))["can_tell"]
    assert not after(1500 + int(0.9 * to_go))["can_tell"]


def test_nothing_is_known_without_visits():
    for found in (Comparison(), compared(50, share=0.0)):
        one = found.describe(pace=0.0)["visits_with_a_click"]
        assert one["difference_interval"] == one["relative_interval"] == [None, None]
        assert (one["can_tell"], one["visits_to_go"], one["relative"]) == (False, None, None)
    never = compared(300, holdout=0.0).describe(pace=1.0)["visits_with_a_click"]
    assert (never["relative"], never["relative_interval"][1]) == (None, None)


def test_slates_of_several_sizes_and_without_labels():
    found = Comparison()
    for i in range(600):
        found.learner.add(i % 4 // 2, i % 4, None)  # the first one is empty: the scale is 1
        found.holdout.add(0, 0, 0)
    one = found.describe(pace=1.0)["clicks_per_visit"]
    low, high = one["difference_interval"]
    assert 0 < low < 0.5 < high < 1


def test_saved_and_restored_in_the_middle_it_goes_on():
    whole, parts = compared(700, seed=4), Comparison()
    random = np.random.default_rng(4)
    for i in range(700):
        held_out = random.random() < 0.1
        arm, rate = (parts.holdout, 0.3) if held_out else (parts.learner, 0.4)
        arm.add(int((random.random(3) < rate).sum()), 3, 3)
        if i % 100 == 37:
            parts = Comparison.restore(json.loads(json.dumps(parts.dump())))
    assert flat(parts.describe(1.0)) == pytest.approx(flat(whole.describe(1.0)), rel=1e-9)


def flat(told):
    """All numbers of a description."""
    if isinstance(told, dict):
        return [number for one in told.values() for number in flat(one)]
    if isinstance(told, list):
        return [number for one in told for number in flat(one)]
    return [] if told is None else [float(told)]


@pytest.mark.parametrize(("visitors", "tells"), [(1, False), (8, False), (40, True), (None, True)])
def test_few_visitors_who_come_often_tell_nothing(visitors, tells):
    found = Comparison()
    for i in range(3000):
        found.learner.add(int(i % 2 == 0), 1, 1)
        visitor = None if visitors is None else f"visitor {i % visitors}"
        found.holdout.add(int(i % 10 == 0), 1, 1, visitor)
    for one in (found, found.copy()):
        uplift = one.describe(pace=1.0)
        assert uplift["visits_with_a_click"]["can_tell"] == tells
        assert uplift["few_visitors"] == (None if tells else visitors)
        assert uplift["visits_with_a_click"]["visits_to_go"] is None
