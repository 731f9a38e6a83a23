import numpy as np
import pytest

import semibandit as sb


@pytest.mark.parametrize("density", [0.01, 0.03, 0.1, 0.3])
@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(R=6.0)], ids=repr)
def test_the_density_is_what_was_asked_for(density, loss):
    world = sb.Synthetic(40, 50, loss=loss, density=density, seed=4)
    rounds = range(3000)
    p = np.array([world.prob(world.context(t)) for t in rounds])
    assert p.mean() == pytest.approx(density, rel=0.05)
    y = np.mean([len(world.relevant(t, world.context(t))) / 50 for t in rounds])
    assert y == pytest.approx(density, rel=0.08)
    assert p.max() > 0.5  # and yet there is something to show
