"""What a log keeps is what the distribution says, to the bit."""

from itertools import permutations

import pytest

from semibandit.policies.distributions.fixed import FixedSlate
from semibandit.policies.distributions.mixture import Mixture
from semibandit.policies.distributions.plackett_luce import PlackettLuceSlates
from semibandit.policies.distributions.propensities import propensities_of
from semibandit.policies.distributions.uniform import UniformSlates

FIXED = FixedSlate(["a", 1], "c", 0.3)
DRAWN = PlackettLuceSlates({"a": 0.3, 1: 0.1, "c": 0.0}, 2)
MIX = Mixture([(0.95, FIXED), (0.05, UniformSlates(4, 3))])


@pytest.mark.parametrize(
    "distribution",
    [
        FIXED,
        FixedSlate(["a", 1]),
        MIX,
        Mixture([(0.98, MIX), (0.02, UniformSlates(4, 3))]),  # as with a holdout
        Mixture([(0.98, FixedSlate(["a"])), (0.02, FixedSlate(["a", 1]))]),
        DRAWN,
        Mixture([(0.9, DRAWN), (0.1, UniformSlates(4, 3))]),
    ],
)
def test_they_are_those_of_the_distribution(distribution):
    long = isinstance(distribution, PlackettLuceSlates) or any(
        part is DRAWN for _, part in getattr(distribution, "parts", [])
    )
    for size in range(4):
        for labels in map(list, permutations(["a", 1, "c", "d"], size)):
            found = propensities_of(distribution, labels)
            assert found.slate == distribution.slate_propensity(labels)
            assert found.prefix == distribution.prefix_propensity(labels).tolist()
            expected = None if long else distribution.item_propensity(labels).tolist()
            assert found.item == expected
            assert propensities_of(distribution, labels) == found  # perhaps from memory
