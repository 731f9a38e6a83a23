"""What plots show of several seeds: the mean as a line, in a band from the least to the largest."""

import numpy as np
import pytest

from semibandit.experiments import plot
from semibandit.experiments.paper.point import Point


def point(*values):
    """A point with these values, one of each seed."""
    return Point(
        [
            {
                "hamming": v,
                "p_rank_per_slot": 2 * v,
                "marks": [1, 10, 99],
                "curve": [3 * v, 2 * v, v],
            }
            for v in values
        ]
    )


@pytest.mark.parametrize(("axis", "factor"), [(1, 1.0), (2, 2.0)])
def test_the_papers_panels_draw_mean_and_range(axis, factor):
    by_slots = {
        "ours": {5: point(2.0, 4.0), 1: point(1.0, 2.0)},
        "theirs": {1: point(1), 5: point(1)},
    }
    left = {"ours": {None: point(1.0, 2.0)}, "theirs": {None: point(1.0)}}
    key = ("hamming", "p_rank_per_slot")[axis - 1]
    (axes,) = plot.losses_by_slots(by_slots, key, "toy", {"Bayes": {1: 0.5, 5: 0.25}}).axes
    assert axes.lines[0].get_xdata().tolist() == [1, 5]
    assert axes.lines[0].get_ydata().tolist() == [1.5 * factor, 3.0 * factor]
    assert _range(axes, 0) == {1: (factor, 2 * factor), 5: (2 * factor, 4 * factor)}
    assert _range(axes, 1) == {1: (factor, factor), 5: (factor, factor)}
    assert axes.lines[2].get_ydata().tolist() == [0.5, 0.25]
    (axes,) = plot.loss_curves(left, "toy", {"empty slate": 7.0}).axes
    assert axes.lines[0].get_ydata().tolist() == [4.5, 3.0, 1.5]
    assert _range(axes, 0) == {1: (3, 6), 10: (2, 4), 99: (1, 2)}
    assert set(axes.lines[2].get_ydata()) == {7.0}


def _range(axes, number):
    """The band of a line: x -> its least and its largest y."""
    (path,) = axes.collections[number].get_paths()
    x, y = path.vertices.T
    return {int(at): (y[x == at].min(), y[x == at].max()) for at in np.unique(x)}
