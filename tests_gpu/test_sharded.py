"""Shards with a device each: the slates of one device, and files for all."""

import numpy as np
import pytest

import semibandit as sb
from semibandit.models.sharded.placement import Shards
from semibandit.policies.sharded import Sharded, move_to_shards

D = 6


@pytest.mark.parametrize(
    "options", [{}, {"forget": 30.0}, {"loss": sb.Logistic(2.0), "probe": 0.5, "a": 0.3}]
)
def test_shards_on_devices_show_what_one_device_shows(options, tmp_path):
    random, model = np.random.default_rng(0), sb.Full(device="cpu")
    single = sb.SlateUCB(D, 40, seed=3, model=model, **options)
    sharded = Sharded(sb.SlateUCB, D, 40, shards=3, on="here", seed=3, model=model, **options)
    for t in range(60):
        x = random.standard_normal(D)
        slates = [one.rank(x, 4) for one in (single, sharded)]
        assert slates[0].labels == slates[1].labels
        clicked = [label for label in slates[0].labels if random.random() < 0.4]
        for one, slate in zip((single, sharded), slates, strict=True):
            one.learn(slate, clicked)
            if t == 30:
                one.add_labels(4)
                one.retire_labels([1, 5])
    sharded.save(tmp_path / "sharded.npz")
    moved = sb.load(tmp_path / "sharded.npz")
    move_to_shards(moved, Shards(2, on="here"), device="cpu")
    loaded = sb.load(tmp_path / "sharded.npz", shards=2, on="here", device="cpu")
    X = random.standard_normal((5, D))
    shown = [[slate.labels for slate in one.rank_many(X, 3)] for one in (single, moved, loaded)]
    assert shown[0] == shown[1] == shown[2]
