"""The curve: however long it gets, its points are means of all visits, in few numbers."""

import numpy as np
import pytest

from semibandit.experiments.shop_demo.learning_curve import MOST, RECENT, LearningCurve


@pytest.mark.parametrize("n", [0, 1, 19, 20, 4799, 4800, 20_013])
def test_points_are_means_of_groups(n):
    values, curve = np.random.default_rng(n).random(n), LearningCurve()
    for value in values:
        curve.add(value)
    assert curve.visits == n
    assert len(curve.points) <= MOST
    ends = [0, *(visits for visits, _ in curve.points)]
    assert len(set(np.diff(ends))) <= 1
    assert 0 <= n - ends[-1] < max(20, 2 * n / MOST + 1)
    for start, (end, mean) in zip(ends, curve.points, strict=False):
        assert mean == pytest.approx(values[start:end].mean())
    assert curve.now == (pytest.approx(values[-RECENT:].mean()) if n else None)
