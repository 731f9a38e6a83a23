"""Tuning finds what replay says is best."""

import numpy as np
import pytest

from semibandit.experiments import setting
from semibandit.experiments.setting import Setting
from semibandit.experiments.tune import tune


@pytest.fixture
def data(tmp_path):
    random = np.random.default_rng(3)
    X = random.standard_normal((400, 5)) + 2.0
    Y = (random.random((400, 8)) < 0.15).astype(np.uint8)
    path = tmp_path / "toy.npz"
    np.savez(path, X_train=X, Y_train=Y)
    return str(path)


def test_the_best_is_the_least_of_all_that_was_tried(data, tmp_path):
    start = Setting(data, slots=4, rounds=300)
    options = {"alphas": (0.1, 1.0), "losses": ("square", "logistic:1"), "slots": (1, 2, 4, 9)}
    found = tune(start, **options, seeds=2, folder=tmp_path / "runs", jobs=1)
    assert len(found.tried) == 2 * 2 * 2 + 2  # slots below those of the start: 1 and 2
    assert found.loss == min(loss for _, loss in found.tried)
    again = [setting.run({**found.best.json(), "seed": seed})["ac"] for seed in (0, 1)]
    assert found.loss == pytest.approx(np.mean(again))
    assert found.best.rounds == 300
    assert tune(start, **options, seeds=2, folder=tmp_path / "runs", jobs=1) == found
