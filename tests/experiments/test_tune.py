"""Tuning finds what replay says is best, whatever form the data comes in."""

import numpy as np
import pytest
from scipy import sparse

import semibandit as sb
from semibandit.errors import InputError, RunError
from semibandit.experiments import setting
from semibandit.experiments.setting import Setting
from semibandit.experiments.tune import tune

FEW = {"alphas": (0.1, 1.0), "losses": ("square",), "slot_limits": (1,), "rounds": 80, "jobs": 1}


@pytest.fixture(scope="module")
def arrays():
    random = np.random.default_rng(3)
    X = random.standard_normal((400, 5)) + 2.0
    return X, (random.random((400, 8)) < 0.15).astype(np.uint8)


@pytest.fixture
def data(arrays, tmp_path):
    path = tmp_path / "toy.npz"
    np.savez(path, X_train=arrays[0], Y_train=arrays[1])
    return str(path)


def test_the_best_is_the_least_of_all_that_was_tried(data, tmp_path):
    start = Setting(data, slots=4, rounds=300)
    options = {
        "alphas": (0.1, 1.0),
        "losses": ("square", "logistic:1"),
        "slot_limits": (1, 2, 4, 9),
    }
    found = tune(start, **options, seeds=2, folder=tmp_path / "runs", jobs=1)
    assert len(found.tried) == 2 * 2 * 2 + 2  # slots below those of the start: 1 and 2
    assert found.loss == min(loss for _, loss in found.tried)
    again = [setting.run({**found.best.json(), "seed": seed})["ac"] for seed in (0, 1)]
    assert found.loss == pytest.approx(np.mean(again))
    assert found.best.rounds == 300
    assert tune(start, **options, seeds=2, folder=tmp_path / "runs", jobs=1) == found


def test_names_paths_data_sets_and_arrays_give_the_same(arrays, data, tmp_path):
    X, Y = arrays
    found = tune(data, slots=2, scale="unit", **FEW)  # sparse contexts are not centred
    losses = [loss for _, loss in found.tried]
    for given in (
        (tmp_path / "toy.npz",),
        (sb.Dataset("toy", X, Y),),
        (X, Y),
        (sparse.csr_array(X), sparse.csr_array(Y)),
    ):
        other = tune(*given, slots=2, scale="unit", **FEW)
        assert [loss for _, loss in other.tried] == pytest.approx(losses, rel=1e-12)
        assert other.best.width == found.best.width
    assert tune(sb.Dataset("toy", X, Y), slots=2, **FEW).best.data == "toy"


def test_a_folder_keeps_results_and_other_data_does_not_find_them(arrays, tmp_path):
    X, Y = arrays
    first = tune(X, Y, folder=tmp_path / "runs", **FEW)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    assert tune(X, Y, folder=tmp_path / "runs", **FEW) == first
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()} == before
    assert tune(X, Y[::-1], folder=tmp_path / "runs", **FEW).loss != first.loss


def test_rows_without_features_are_tried_with_a_bias_alone(arrays):
    X, Y = arrays[0].copy(), arrays[1]
    X[5] = 0
    assert {one.bias for one, _ in tune(X, Y, **FEW).tried} == {True}
    assert {one.bias for one, _ in tune(*arrays, **FEW).tried} == {False, True}
    with pytest.raises(RunError, match="context"):
        tune(X, Y, biases=[False], scale="unit", **FEW)


@pytest.mark.parametrize("model", ["full", "full:float32", "diagonal"])
def test_the_result_makes_its_learner_and_prints_how(arrays, model):
    found = tune(*arrays, model=model, cost="constant", a=0.7, slots=3, **FEW)
    learner = found.learner(5, list("abcdefgh"))
    expression = found.code(5, 8)
    made = eval(expression, {"sb": sb})
    for part in (
        "width",
        "loss",
        "model",
        "a",
        "bias",
        "scale",
        "project",
        "probe",
        "at_least",
        "forget",
    ):
        assert repr(getattr(made, part)) == repr(getattr(learner, part))
    assert made.cost.cost is learner.cost.cost is sb.constant
    assert learner.labels == list("abcdefgh")
    assert f"slots={found.best.slots}: average loss {found.loss:.4f}, the best of" in str(found)
    assert str(found).startswith("sb.SlateUCB(n_features, labels, width=sb.Scaled(alpha=")
    assert ("model=" in expression) == (model != "full")


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (("X",), {}, "Y is missing"),
        (("data", "Y"), {}, "Y was given, but data has labels of its own"),
        (("start",), {"slots": 3}, "slots was given beside a Setting"),
        (("X", "Y"), {"alphas": []}, "alphas is empty"),
        (("X", "Y"), {"seeds": 0}, "seeds = 0"),
        (("X", "Y"), {"a": 3}, "a = 3"),
        (("X", "Y"), {"model": "dense"}, "model = 'dense'"),
        (("X", "Y"), {"backend": "spark"}, "backend is 'spark'"),
        (("nowhere.npz",), {}, "nowhere.npz"),
    ],
)
def test_mistakes_are_found_before_the_work(arrays, data, given, options, message):
    values = {"X": arrays[0], "Y": arrays[1], "data": data, "start": Setting(data)}
    with pytest.raises(InputError, match=message):
        tune(*(values.get(name, name) for name in given), **{"jobs": 1} | options)
