import inspect

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import InputError


def test_the_adversary_picks_the_worst_it_could_find():
    world = sb.Adversarial(5, 6, tries=6, slots=[1, 2, 4], seed=1)
    bandit = sb.SlateUCB(5, 6, seed=1)
    for t in range(30):
        x, slots = world.round(t, bandit)
        worst = max(
            world.regret(bandit, world.context(t, k), s) for k in range(6) for s in (1, 2, 4)
        )
        assert world.regret(bandit, x, slots) > worst - 2e-9  # compared on a grid of 1e-9
        slate = bandit.rank(x, slots)
        bandit.learn(slate, [i for i in slate.labels if i in world.relevant(t, x)])


def test_an_adversary_has_all_parameters_of_a_synthetic_world():
    synthetic, adversarial = (
        inspect.signature(cls).parameters for cls in (sb.Synthetic, sb.Adversarial)
    )
    for name, parameter in synthetic.items():
        assert adversarial[name] == parameter
    options = {"loss": sb.Logistic(3.0), "density": 0.2, "correlation": 0.3, "seed": 4}
    one, two = sb.Synthetic(5, 6, **options), sb.Adversarial(5, 6, **options)
    np.testing.assert_array_equal(one.u, two.u)
    np.testing.assert_array_equal(one.context(3), two.context(3))
    np.testing.assert_array_equal(one.relevant(3, one.context(3)), two.relevant(3, two.context(3)))
    assert pytest.approx(0.5) == sb.Adversarial(5, 6, U=0.5).U


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tries": 0}, "tries = 0, but it must be a whole number of at least 1"),
        ({"tries": 1.5}, "tries = 1.5, but it must be a whole number of at least 1"),
        ({"slots": []}, "slots is empty"),
        ({"slots": [1, -2]}, "slots = -2, but it must be a whole number"),
        ({"kind": "zero-one"}, "kind = 'zero-one', but a loss is one of ac, hamming, rank, p_rank"),
    ],
)
def test_adversaries_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        sb.Adversarial(5, 6, **arguments)
