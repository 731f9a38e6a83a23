"""The regret that pictures show is that of `sb.play`."""

import numpy as np
import pytest
from tools.pictures.runs import Rounds

import semibandit as sb


def test_regret_is_that_of_play():
    world, n = sb.Synthetic(6, 8, density=0.2, seed=2), 60
    rounds = Rounds.of(world, n)
    rounds.X = np.array([world.context(t) for t in range(n)])
    rounds.p = np.array([world.prob(x) for x in rounds.X])
    for t, x in enumerate(rounds.X):
        rounds.Y[t] = np.isin(np.arange(8), world.relevant(t, x))
    played = sb.play(sb.SlateUCB(6, 8), world, rounds=n, slots=3)
    assert np.cumsum(rounds.regret(sb.SlateUCB(6, 8), slots=3)) == pytest.approx(played.regret)
    assert len({*played.trace.sizes.tolist()}) > 1  # slates of several lengths


def test_rounds_are_of_the_world():
    world = sb.Synthetic(6, 8, density=0.2, seed=2)
    rounds = Rounds.of(world, 4000)
    assert rounds.p.mean() == pytest.approx(0.2, rel=0.05)
    assert rounds.p[7] == pytest.approx(world.prob(rounds.X[7]))
    assert rounds.Y.mean() == pytest.approx(rounds.p.mean(), rel=0.05)
