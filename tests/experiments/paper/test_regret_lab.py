"""The regret lab: what it plays is what `play` plays, and its slope is a slope."""

import numpy as np
import pytest

import semibandit as sb
from reference import FIGURE_2
from semibandit.experiments.paper import regret_lab


def test_slope_is_the_exponent():
    t = np.arange(1, 2001)
    assert regret_lab.slope(3.0 * t**0.5) == pytest.approx(0.5)
    assert regret_lab.slope(2.0 * t) == pytest.approx(1.0)
    assert regret_lab.slope(np.zeros(50)) is None


def test_a_game_is_what_play_plays():
    runs = regret_lab.lab_runs(60, 2)
    found = regret_lab.play_run(runs["synthetic", "Scaled(1)", 1])
    world = sb.Synthetic(4, 8, density=0.2, seed=1)
    bandit = sb.SlateUCB(4, 8, width=sb.Scaled(1.0), seed=1, **FIGURE_2)
    regret = sb.play(bandit, world, 60, 3).regret
    assert found["regret"] == regret[np.array(found["marks"]) - 1].tolist()
    assert 0 <= found["covered"] <= 1


@pytest.mark.parametrize("world", regret_lab.WORLDS)
def test_theorems_hold_and_their_widths_cover(world):
    runs = regret_lab.lab_runs(80, 1)
    for case, about in regret_lab.CASES.items():
        found = regret_lab.play_run(runs[world, case, 0])
        if "bound" in about:
            assert found["covered"] == 1.0
            assert all(r <= b for r, b in zip(found["regret"], found["bound"], strict=True))
        else:
            assert "bound" not in found
