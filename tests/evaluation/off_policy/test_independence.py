import numpy as np
import pytest
from slate_worlds import World

from semibandit.evaluation.off_policy.accumulate import Accumulator
from semibandit.evaluation.off_policy.independence import (
    Independence,
    check_independence,
    check_policies,
)
from semibandit.evaluation.off_policy.reward import read_reward

WORLD = World(seed=1)


def judged(clicks, size=12_000):
    """What was found of a policy in a log, and its samples."""
    sums = Accumulator(read_reward("clicks"))
    sums.add(*WORLD.visits(np.random.default_rng(0), size, clicks), WORLD.items)
    return sums.evaluation("target", {}), sums.samples


@pytest.fixture(scope="module")
def cascade():
    return judged("cascade")


@pytest.fixture(scope="module")
def independent():
    return judged("independent")


def test_a_note_if_positions_interact(cascade, independent):
    (note,) = Independence().applied(*cascade).notes
    assert "clicks depend on the labels above, so read Cascade-DR or snRIPS" in note
    assert "none of IIPS, snIIPS, PI, DM and IIPS-DR." in note
    assert Independence().applied(*independent).notes == []


def test_a_log_that_refutes_independence(cascade, independent):
    found = check_independence(*cascade)
    assert "clicks depend on the labels above" in found.refused
    estimates = found.applied(*independent).estimates
    values = {name for name, one in estimates.items() if one.value is not None}
    assert values == {"IPS", "SNIPS", "RIPS", "snRIPS", "DR", "Cascade-DR"}
    assert check_independence(*independent) == Independence()


def test_a_rough_check_is_said(independent):
    found = check_independence(*judged("independent", 5000))
    assert found.refused is None
    assert "only roughly" in found.unchecked
    assert found.applied(*independent).notes == []  # Cascade-DR comes first, which assumes less


def test_policies_refute_what_uniform_slates_could_not(cascade, independent):
    before = Independence(unchecked="this could not be checked")
    found = {"one": independent[0], "other": cascade[0]}
    samples = {"one": independent[1], "other": cascade[1]}
    assert "For the policy other, " in check_policies(before, found, samples).refused
    assert check_policies(Independence(), found, samples) == Independence()
    del found["other"]
    assert check_policies(before, found, samples) is before
