"""Data sets for experiments: what is drawn follows its truth, what is projected keeps its rows."""

import numpy as np
import pytest

from semibandit.experiments import sets
from semibandit.experiments.paper.point import best_losses


def test_the_world_of_tags_follows_its_probabilities():
    world, prob = sets.dataset("tags-world"), sets.probabilities("tags-world")
    assert (world.n_train, world.d, world.K) == (16_452, 98, 632)  # the size of Sony's data
    np.testing.assert_allclose(np.linalg.norm(world.X_train, axis=1), 1.0)
    for low in (0.0, 0.2, 0.5, 0.8):
        some = (prob >= low) & (prob < low + 0.2)
        assert world.Y_train[some].mean() == pytest.approx(prob[some].mean(), abs=0.005)


def test_showing_nothing_is_far_from_the_best_in_it():
    cardinality = sets.probabilities("tags-world").sum(axis=1).mean()
    assert best_losses({"data": "tags-world", "slots": 20})["hamming"] < 0.7 * cardinality


def test_a_projection_keeps_rows_and_labels_and_looks_at_the_test_part_alone(monkeypatch, tmp_path):
    random = np.random.default_rng(0)
    X, Y = random.random((30, 12)), (random.random((30, 5)) < 0.3).astype(np.uint8)
    test = random.random((20, 12))
    path = str(tmp_path / "words.npz")
    np.savez(path, X_train=X, Y_train=Y, X_test=test, Y_test=np.zeros((20, 5), dtype=np.uint8))
    monkeypatch.setitem(sets.PROJECTED, "toy", (path, 4))
    found = sets.dataset("toy")
    assert found.Y_train.tolist() == Y.tolist()
    assert found.X_train.shape == (30, 4)
    np.testing.assert_allclose(found.X_train[:, 0], np.sqrt(0.5))
    np.testing.assert_allclose(np.linalg.norm(found.X_train, axis=1), 1.0)
    unit = test / np.linalg.norm(test, axis=1)[:, None]
    directions = np.linalg.svd(unit)[2][:3]
    rows = X @ directions.T
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    signs = np.sign(rows[0] * found.X_train[0, 1:])  # directions have no sign
    np.testing.assert_allclose(found.X_train[:, 1:] * np.sqrt(2.0), rows * signs, atol=1e-9)
