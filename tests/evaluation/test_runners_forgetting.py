"""The runners of replay forget as the plain loop and the naive twin do."""

import numpy as np
import pytest
from scipy import sparse

import semibandit as sb
from forgetting_reference import Naive
from semibandit.evaluation import runners

K = 9
MODELS = {
    "full": sb.Full(),
    "float32": sb.Full("float32"),
    "diagonal": sb.Diagonal(),
    "obr": None,
}


def data(T, d, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((T, d))
    truth = 2.0 * random.standard_normal((K, d)) / np.sqrt(d)
    Y = (X @ truth.T + 0.3 * random.standard_normal((T, K)) > 1.2).astype(np.uint8)
    return X, Y, random.choice([0, 1, 2, 3, 5, K], size=T).tolist()


def learner_for(model, d, h, **more):
    more = {"scale": "unit", "bias": False, **more}
    if model == "obr":
        return sb.OBR(d, K, seed=3, forget=h, **more)
    return sb.SlateUCB(d, K, model=MODELS[model], width=sb.Scaled(0.5), seed=3, forget=h, **more)


@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(1.3)], ids=["square", "logistic"])
@pytest.mark.parametrize("h", [1.0, 7.7, 60.0, 400.0])
@pytest.mark.parametrize("d", [5, 34])
@pytest.mark.parametrize("model", MODELS)
def test_a_runner_is_the_plain_loop(model, loss, h, d):
    X, Y, slots = data(700, d)
    fast, plain = (learner_for(model, d, h, loss=loss) for _ in range(2))
    runner = runners.runner_for(fast, 5, 1)
    assert runner is not None
    runner.close()
    one, two = sb.replay(fast, X, Y, slots), sb.replay(plain, X, Y, slots, plain=True)
    tolerance = 2e-3 if model == "float32" else 1e-8
    if model == "float32":
        assert np.mean(one.slates == two.slates) > 0.98
    else:
        np.testing.assert_array_equal(one.slates, two.slates)
    s, p = fast._state, plain._state
    assert (s.fading.now, p.fading.now) == (700, 700)
    if model != "float32":
        assert s.fading.since.tolist()[:K] == p.fading.since.tolist()[:K]
        for x in X[:5] / np.linalg.norm(X[:5], axis=1)[:, None]:
            np.testing.assert_allclose(s.look(x).margin, p.look(x).margin, atol=tolerance)
            np.testing.assert_allclose(s.look(x).norm2, p.look(x).norm2, atol=tolerance)


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("h", [2.0, 30.0])
def test_a_runner_is_the_naive_twin(diagonal, h):
    X, Y, slots = data(250, 5, seed=1)
    fast = learner_for("diagonal" if diagonal else "full", 5, h)
    naive = sb.SlateUCB(
        5, K, model=Naive(diagonal=diagonal), width=sb.Scaled(0.5), seed=3, forget=h,
        scale="unit", bias=False,
    )  # fmt: skip
    one, two = sb.replay(fast, X, Y, slots), sb.replay(naive, X, Y, slots)
    np.testing.assert_array_equal(one.slates, two.slates)
    look, other = (learner.scores(X[0]) for learner in (fast, naive))
    np.testing.assert_allclose(look.width, other.width, atol=1e-9)


def test_sparse_rows_are_dense_rows():
    X, Y, slots = data(300, 12, seed=2)
    X[np.abs(X) < 1] = 0
    X[:, 0] += 0.1
    one, two = (learner_for("diagonal", 12, 9.0) for _ in range(2))
    traces = sb.replay(one, X, Y, slots), sb.replay(two, sparse.csr_array(X), Y, slots)
    np.testing.assert_array_equal(traces[0].slates, traces[1].slates)
    np.testing.assert_allclose(one._state.A, two._state.A, rtol=1e-12)


@pytest.mark.parametrize("model", ["full", "diagonal", "obr"])
def test_it_goes_on_from_where_the_learner_is(model):
    """Cut anywhere, with plain rounds in between and labels that come and go."""
    X, Y, slots = data(500, 5, seed=3)
    parts, plain = (learner_for(model, 5, 21.0) for _ in range(2))
    for first, end, by_rounds in ((0, 37, False), (37, 60, True), (60, 301, False), (301, 500, 0)):
        some = X[first:end], Y[first:end], slots[first:end]
        one = sb.replay(parts, *some, plain=bool(by_rounds))
        two = sb.replay(plain, *some, plain=True)
        np.testing.assert_array_equal(one.slates, two.slates)
        for learner in (parts, plain):
            learner.retire_labels([learner.labels[1]])
            learner.add_labels(1)


def test_rounding_errors_of_often_updated_labels_are_folded_away(monkeypatch):
    monkeypatch.setattr("semibandit.models.dense.COMPENSATED_FROM", 20)
    X, Y, slots = data(600, 6, seed=4)
    fast, plain = (learner_for("full", 6, 15.0) for _ in range(2))
    one, two = sb.replay(fast, X, Y, slots), sb.replay(plain, X, Y, slots, plain=True)
    np.testing.assert_array_equal(one.slates, two.slates)
    assert fast._state.dense.n_errors
    for i in range(K):
        np.testing.assert_allclose(fast._state.inverse(i), plain._state.inverse(i), atol=1e-10)
