"""A service whose learner is on a device: the store does not know of it."""

import numpy as np
from beside import contexts
from engines import D, change, give, learned, rank, running

from semibandit.service.http.metrics import Metrics


def test_a_store_is_served_on_a_device_and_goes_on_without(device, tmp_path):
    X = contexts(40, D)
    with running(tmp_path / "s", device=device) as engine:
        for i, x in enumerate(X):
            shown = rank(engine, x, id=f"{i}").labels
            give(engine, f"{i}", shown[:1] if i % 3 else [])
        change(engine, add=["new"])
        change(engine, retire=["b"])
        learned(engine, len(X))
        assert engine.learner.model.device == device
        there = engine.learner.scores(X[0])
        assert b"semibandit_undecided_total 0.0" in Metrics(engine).text()
    with running(tmp_path / "s") as engine:  # from the snapshot that the device wrote
        assert engine.learner.model.device is None
        here = engine.learner.scores(X[0])
        assert here.labels == there.labels == [*"acdef", "new"]
        np.testing.assert_allclose(here.estimate, there.estimate, atol=1e-6)
        assert "device" not in str(engine.store.about)
