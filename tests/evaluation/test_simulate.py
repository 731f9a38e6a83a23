"""A service that learns at once is played exactly as its learner is."""

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import InputError
from semibandit.evaluation.simulate import simulate, world_for

D, K = 4, 5
NAMES = list("abcde")


class InstantService:
    """The client of a service whose learner learns each answer before the next request."""

    def __init__(self, learner, feature_names=None, cost=None):
        self.learner, self.feature_names = learner, feature_names
        self.cost = cost or {"is": "decreasing"}

    labels = property(lambda self: self.learner.labels)

    def state(self):
        return {
            "n_features": D,
            "n_labels": K,
            "feature_names": self.feature_names,
            "settings": {"a": self.learner.a, "cost": self.cost},
        }

    def rank(self, x, slots):
        if self.feature_names is not None:
            x = [x[name] for name in self.feature_names]
        return self.learner.rank(x, slots)

    def learn(self, slate, clicked):
        self.learner.learn(slate, clicked)


@pytest.mark.parametrize("feature_names", [None, ["w", "x", "y", "z"]])
def test_simulate_is_play(feature_names):
    world = sb.Synthetic(D, K, density=0.2, seed=3)
    service = InstantService(sb.SlateUCB(D, NAMES, a=0.7, seed=1), feature_names)
    found = simulate(service, world, 60, 2)
    plain = sb.play(sb.SlateUCB(D, K, a=0.7, seed=1), world, 60, 2)
    np.testing.assert_array_equal(found.trace.slates, plain.trace.slates)
    np.testing.assert_array_equal(found.regret, plain.regret)
    assert found.covered is None


def test_it_goes_on_from_a_later_round():
    world = sb.Synthetic(D, K, density=0.2, seed=3)
    whole = simulate(InstantService(sb.SlateUCB(D, NAMES)), world, 50, 2)
    service, steps = InstantService(sb.SlateUCB(D, NAMES)), []
    first = simulate(service, world, 20, 2, progress=steps.append)
    rest = simulate(service, world, 30, 2, first=20)
    joined = np.concatenate([first.expected, rest.expected])
    np.testing.assert_array_equal(joined, whole.expected)
    assert sum(steps) == 20


def test_costs_of_the_service_are_those_regret_is_measured_in():
    world = sb.Synthetic(D, K, density=0.3, seed=1)
    rows = [[1.0], [0.9, 0.1]]
    service = InstantService(sb.SlateUCB(D, NAMES, cost=rows), cost={"is": "table", "rows": rows})
    plain = sb.play(sb.SlateUCB(D, K, cost=rows), world, 20, 2)
    np.testing.assert_array_equal(simulate(service, world, 20, 2).expected, plain.expected)
    own = InstantService(sb.SlateUCB(D, NAMES), cost={"is": "your own", "name": "mine"})
    with pytest.raises(InputError, match="cost that was written in Python, 'mine'"):
        simulate(own, world, 5)


def test_a_world_that_does_not_fit_is_refused():
    service = InstantService(sb.SlateUCB(D, NAMES))
    assert (world_for(service).n_features, world_for(service).n_labels) == (D, K)
    with pytest.raises(InputError, match="the world has 5 features and 6 labels, the service 4"):
        simulate(service, sb.Synthetic(5, 6), 10)
    with pytest.raises(InputError, match="rounds = -1"):
        simulate(service, sb.Synthetic(D, K), -1)
