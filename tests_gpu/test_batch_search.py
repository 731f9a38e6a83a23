"""Many contexts by one scan: `rank_many` shows what `rank` shows."""

import numpy as np
import pytest
from replays import pair, world

import semibandit as sb
from semibandit.models.gpu.batch_search import BatchSearch


@pytest.fixture
def learner(device):
    learner = pair(1500, 12, device, width=sb.Scaled(0.2), a=0.4, probe=0.5)[1]
    sb.replay(learner, *world(1500, 12, 300), slots=10)
    return learner


def same(learner, X, **how):
    one, many = [learner.rank(x, 8, **how) for x in X], learner.rank_many(X, 8, **how)
    assert [slate.labels for slate in many] == [slate.labels for slate in one]
    for a, b in zip(one, many, strict=True):
        np.testing.assert_allclose(a.margin + a.width, b.margin + b.width, atol=1e-7)
    return one


def test_rank_many_is_rank(learner, monkeypatch):
    X, calls = world(1500, 12, 100, seed=1)[0], []
    found = BatchSearch._found
    monkeypatch.setattr(
        BatchSearch, "_found", lambda self, *a: calls.append(len(a[1])) or found(self, *a)
    )
    slates = same(learner, X)
    assert calls[:2] == [64, 36]
    assert any(slate.probe is not None for slate in slates)
    gone = {label for slate in slates[:2] for label in slate.labels}
    learner.retire_labels(sorted(gone))
    assert not any(gone & set(slate.labels) for slate in same(learner, X))


def test_more_rows_than_can_be_listed_are_looked_for_one_by_one(device):
    learner = pair(1100, 3, device, a=1.0, scale="unit", bias=False)[1]
    X, Y = np.tile([0.6, -0.8, 0.1], (120, 1)), np.zeros((120, 1100), dtype=np.int8)
    sb.replay(learner, X, Y, slots=10)
    assert learner._state.n == 1100
    same(learner, X[:3])
