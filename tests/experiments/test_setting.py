"""A setting is data: what it spells is what is built, and what is misspelled is named."""

import json

import numpy as np
import pytest

import semibandit as sb
from semibandit.experiments import setting
from semibandit.experiments.setting import Setting
from semibandit.policies.learner_spec import LEARNERS


@pytest.fixture
def data(tmp_path):
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 4))
    Y = (X @ random.standard_normal((4, 6)) > 0.8).astype(np.uint8)
    path = tmp_path / "toy.npz"
    np.savez(path, X_train=X, Y_train=Y)
    return str(path)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_runs_from_json_and_gives_json(learner, data):
    given = json.loads(json.dumps(Setting(data, learner=learner, slots=2, rounds=120).json()))
    result = setting.run(given)
    assert json.loads(json.dumps(result)) == result == setting.run(given)
    assert result["rounds"] == 120
    assert result["marks"][-1] == 120
    assert result["curve"][-1] == pytest.approx(result["ac"])
    assert result["hamming_per_label"] == pytest.approx(result["hamming"] / 6)
    slots = 1 if LEARNERS[learner].one_slot else 2
    assert result["p_rank_per_slot"] == pytest.approx(result["p_rank"] / slots)


def test_a_setting_is_the_replay_it_stands_for(data):
    given = {"width": "scaled:0.5", "cost": "constant", "a": 0.7, "bias": True, "seed": 3}
    result = setting.run(Setting(data, slots=3, **given).json())
    arrays = np.load(data)
    learner = sb.SlateUCB(4, 6, width=sb.Scaled(0.5), cost=sb.constant, a=0.7, bias=True, seed=3)
    trace = sb.replay(learner, arrays["X_train"], arrays["Y_train"], 3)
    for kind in ("ac", "hamming", "rank", "p_rank"):
        assert result[kind] == trace.losses(kind).mean()


def test_an_unknown_key_is_named_with_its_neighbour():
    with pytest.raises(ValueError, match=r"'slot' is not a setting; did you mean 'slots'\?"):
        Setting.from_dict({"data": "x", "slot": 1})
