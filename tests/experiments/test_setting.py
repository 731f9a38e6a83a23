"""A setting is data: what it spells is what is built, and what is misspelled is named."""

import json

import numpy as np
import pytest

import semibandit as sb
from semibandit.experiments import setting
from semibandit.experiments.setting import LEARNERS, Setting


@pytest.fixture
def data(tmp_path):
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 4))
    Y = (X @ random.standard_normal((4, 6)) > 0.8).astype(np.uint8)
    path = tmp_path / "toy.npz"
    np.savez(path, X_train=X, Y_train=Y)
    return str(path)


@pytest.mark.parametrize(
    ("given", "part", "expected"),
    [
        ({"loss": "logistic:2.5"}, "loss", sb.Logistic(2.5)),
        ({"width": "scaled:0.25"}, "width", sb.Scaled(0.25)),
        ({"width": "known:2,0.1"}, "width", sb.KnownNorm(2.0, 0.1)),
        ({"width": "unknown"}, "width", sb.UnknownNorm()),
        ({"model": "diagonal"}, "model", sb.Diagonal()),
        ({"model": "full:float32"}, "model", sb.Full(dtype="float32")),
        ({"model": "rbf:0.5"}, "model", sb.Dual(sb.rbf(0.5))),
        ({"model": "polynomial:3"}, "model", sb.Dual(sb.polynomial(3))),
    ],
)
def test_a_part_is_what_it_spells(given, part, expected):
    assert repr(getattr(Setting("", **given).build(3, 4), part)) == repr(expected)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_runs_from_json_and_gives_json(learner, data):
    given = json.loads(json.dumps(Setting(data, learner=learner, slots=2, rounds=120).json()))
    result = setting.run(given)
    assert json.loads(json.dumps(result)) == result == setting.run(given)
    assert result["rounds"] == 120
    assert result["marks"][-1] == 120
    assert result["curve"][-1] == pytest.approx(result["ac"])
    assert result["hamming_per_label"] == pytest.approx(result["hamming"] / 6)
    assert result["rank_per_slot"] == pytest.approx(result["rank"] / 2)


def test_a_setting_is_the_replay_it_stands_for(data):
    given = {"width": "scaled:0.5", "cost": "constant", "a": 0.7, "bias": True, "seed": 3}
    result = setting.run(Setting(data, slots=3, **given).json())
    arrays = np.load(data)
    learner = sb.SlateUCB(4, 6, width=sb.Scaled(0.5), cost=sb.constant, a=0.7, bias=True, seed=3)
    trace = sb.replay(learner, arrays["X_train"], arrays["Y_train"], 3)
    for kind in ("ac", "hamming", "rank", "p_rank"):
        assert result[kind] == trace.losses(kind).mean()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"learner": "LinUCB"}, "learner = 'LinUCB', but it must be one of SlateUCB, OBR"),
        ({"loss": "hinge"}, "loss = 'hinge', but it must be one of square, logistic"),
        ({"loss": "logistic:1,2"}, "loss = 'logistic:1,2': 2 numbers are not what it takes"),
        ({"loss": "logistic:-1"}, "loss = 'logistic:-1': R"),
        ({"width": "scaled:wide"}, "width = 'scaled:wide': 'wide' is not a number"),
        ({"width": "scaled:nan"}, "width = 'scaled:nan', but its numbers must be finite"),
        ({"model": "dense"}, "model = 'dense', but it must be one of full, diagonal"),
        ({"cost": "rising"}, "cost = 'rising', but it must be one of decreasing, constant"),
    ],
)
def test_what_is_misspelled_is_named(given, message):
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")[:60]):
        Setting("", **given).build(3, 4)


def test_an_unknown_key_is_named():
    with pytest.raises(ValueError, match="'alpha' is not part of a setting: a, bias, cost"):
        Setting.of({"data": "x", "alpha": 1})
