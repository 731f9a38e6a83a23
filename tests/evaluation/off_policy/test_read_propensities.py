"""Propensities out of a log: numbers that follow from the distribution need no second look."""

import numpy as np
import pytest

from semibandit.evaluation.off_policy import read_propensities as module
from semibandit.evaluation.off_policy.read_propensities import ZERO, read_propensities
from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.propensities import propensities_of
from semibandit.policies.distributions.uniform import UniformSlates

LIKELY = FixedSlate(["a", "b"], "c", 0.25)


def body_of(distribution, labels):
    found = propensities_of(distribution, labels)
    return {
        "distribution": distribution.json(), "slate_propensity": found.slate,
        "prefix_propensity": found.prefix, "item_propensity": found.item,
    }  # fmt: skip


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"], ["b", "a", "d"]])
@pytest.mark.parametrize(
    "distribution", [LIKELY, Mixture([(0.9, LIKELY), (0.1, UniformSlates(5, 3))])]
)
def test_the_quick_way_reads_what_the_checks_let_through(distribution, labels, monkeypatch):
    body = body_of(distribution, labels)
    quick = read_propensities(body, labels)
    monkeypatch.setattr(module, "known_propensities", lambda *_: None)
    slow = read_propensities(body, labels)
    assert quick == slow
    assert (slow == ZERO) == (propensities_of(distribution, labels).slate == 0)


def test_what_is_shown_with_probability_0_is_refused():
    never = FixedSlate(["a", "b"], "c", 1.0)  # the probe always comes as well
    assert read_propensities(body_of(never, ["a", "b"]), ["a", "b"]) == ZERO


def test_numbers_that_are_nearly_those_of_the_distribution_are_kept():
    body = body_of(LIKELY, ["a", "b"])
    body["slate_propensity"] = np.nextafter(body["slate_propensity"], 0)
    found = read_propensities(
        {**body, "slate_propensity": float(body["slate_propensity"])}, ["a", "b"]
    )
    assert found.slate == body["slate_propensity"] != LIKELY.slate_propensity(["a", "b"])
