"""Features that stopped changing, or have moved away from what they were in the first week."""

import json

import numpy as np
import pytest

from semibandit.service.engine.feature_drift import DAY, FeatureDrift
from semibandit.store.event import Decision


def decision(at, values):
    named = values if isinstance(values, dict) else None
    x = np.zeros(3) if named is not None else np.array(values, dtype=float)
    return Decision("v", at, x, 1, None, None, [], [], [], [], 1, 1, named=named)


def sampled(days, make, per_day=500):
    """What is found after so many days of visits; halfway it is saved and restored."""
    drift, rng = FeatureDrift(), np.random.default_rng(0)
    for i in range(int(days * per_day)):
        at = 1e9 + i * DAY / per_day
        drift.add(decision(at, make(rng, at, i / per_day)))
        if i == days * per_day // 2:
            drift = FeatureDrift.restore(json.loads(json.dumps(drift.dump())))
    return drift.find()


def hours(at):
    return at / 3600 % 24


def test_what_comes_and_goes_with_the_day_is_neither():
    def usual(rng, at, day):
        rare, weekend = float(rng.random() < 0.002), float(at // DAY % 7 >= 5)
        return [hours(at), weekend, rare, rng.normal()]

    assert sampled(20, usual) == ([], [])


def test_a_feature_that_stops_or_never_varies_is_constant():
    def stops(rng, at, day):
        return [rng.normal() if day < 10 else 0.0, rng.integers(2), 1.0]

    assert sampled(11, stops) == ([0, 2], [])
    assert sampled(1.5, stops) == ([], [])  # it is too early to say


@pytest.mark.parametrize("named", [False, True])
def test_a_feature_whose_unit_changed_drifts(named):
    def scaled(rng, at, day):
        price = rng.normal(10, 2) * (100 if day > 12 else 1)
        values = {"hour": hours(at), "price": price, "other": "text"}
        return values if named else [values["hour"], price]

    assert sampled(15, scaled) == ([], ["price" if named else 1])
    assert sampled(12, scaled) == ([], [])


def test_unknown_values_and_huge_ones_are_no_trouble():
    def odd(rng, at, day):
        return {"a": rng.normal()} if rng.random() < 0.5 else {"b": 1e308 * rng.choice([-1, 1])}

    assert sampled(10, odd) == ([], [])


def test_no_value_of_a_single_visit_is_saved():
    drift = FeatureDrift()
    for at, secret in ((0.0, 1.0), (2.0, 3.0), (4.0, 1234.5)):
        drift.add(decision(at, {"income": secret}))
    assert "1234.5" not in json.dumps(drift.dump())


def test_long_contexts_and_more_than_one_a_second_are_left_out():
    drift = FeatureDrift()
    drift.add(decision(0.0, np.ones(201)))
    drift.add(decision(0.0, [1.0, 2.0]))
    drift.add(decision(0.5, [3.0, 2.0]))
    assert drift.dump()["values"][-1] == [1.0, 1.0]
