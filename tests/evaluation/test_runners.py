"""The runners of replay give the plain loop's slates and leave the learner as it would."""

import copy

import numpy as np
import pytest
from scipy import sparse

import semibandit as sb
from reference import FIGURE_2, Figure2
from semibandit.evaluation import runners
from semibandit.models.window import Window


def data(T, d, K, seed=0, scale=2.0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((T, d))
    truth = scale * random.standard_normal((K, d)) / np.sqrt(d)
    Y = (X @ truth.T + 0.3 * random.standard_normal((T, K)) > 1.2).astype(np.uint8)
    slots = random.choice([0, 1, 2, 3, 5, K], size=T).tolist()
    return X, Y, slots


def stairs(i, s):
    return max(0.0, 1.0 - 0.3 * (i // 2))


def weights(state):
    """w_i of every label of a full model: its margins at the unit vectors."""
    return np.array([state.margins(x).margin for x in np.eye(state.d)]).T


def has_runner(learner, most=5):
    runner = runners.runner_for(learner, most, 1)
    if runner:
        runner.close()
    return runner is not None


SETTINGS = [
    {"width": sb.Scaled(0.4)},
    {"width": sb.Scaled(0.4), **FIGURE_2},
    {"width": sb.Scaled(0.1), "probe": 0.5, "a": 0.3, "bias": False},
    {"width": sb.Scaled(0.2), "loss": sb.Logistic(2.0), "probe": 1.0, "scale": "unit"},
    {"width": sb.Scaled(0.1), "probe": 0.3, "forget": 90, "a": 0.3},
    {"width": sb.Scaled(1.0), "cost": sb.constant, "bias": True},
    {"width": sb.UnknownNorm(0.1), "loss": sb.Logistic(1.3), "a": 0.7},
    {"width": sb.KnownNorm(2.0), "cost": stairs, "a": 0.4},
    {"width": sb.Scaled(0.3), "loss": sb.Logistic(0.8), "cost": sb.constant},
    {"width": sb.Scaled(0.2), "a": 1.0, "scale": "none", "bias": False},
    {"width": sb.Scaled(0.5), "cost": [[1.0], [0.9, 0.1], [0.5, 0.4, 0.3]]},
]


def same(one, two, state_one, state_two, K):
    np.testing.assert_array_equal(one.slates, two.slates)
    np.testing.assert_array_equal(one.hits, two.hits)
    for kind in ("ac", "hamming", "rank", "p_rank"):
        np.testing.assert_array_equal(one.losses(kind), two.losses(kind))
    if hasattr(state_one, "inverse"):
        np.testing.assert_allclose(weights(state_one), weights(state_two), atol=1e-8)
        for i in range(K):
            np.testing.assert_allclose(state_one.inverse(i), state_two.inverse(i), atol=1e-9)
    else:
        for name, array in state_one.arrays().items():
            np.testing.assert_allclose(state_two.arrays()[name], array, atol=1e-8)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("model", [sb.Full(), sb.Diagonal()], ids=["full", "diagonal"])
@pytest.mark.parametrize(("d", "K"), [(5, 12), (34, 9)])
@pytest.mark.filterwarnings("ignore::semibandit.errors.UnprovenWidth")
def test_a_runner_is_the_plain_loop(settings, model, d, K):
    T = 700
    X, Y, slots = data(T, d, K)
    fast, plain = (sb.SlateUCB(d, K, model=model, seed=3, **settings) for _ in range(2))
    if settings.get("scale") == "none":
        X /= np.linalg.norm(X, axis=1)[:, None] * 1.1
    assert has_runner(fast, most=3)
    one, two = sb.replay(fast, X, Y, slots), sb.replay(plain, X, Y, slots, plain=True)
    same(one, two, fast._state, plain._state, K)
    assert fast.t == plain.t == T + 1
    assert one.sizes.sum() > T / 3


@pytest.mark.parametrize("threads", [1, 2])
def test_windows_are_the_reference_with_projections_candidates_and_slots(threads):
    T, d, K = 900, 6, 10
    X, Y, slots = data(T, d, K, seed=4, scale=6.0)
    may = np.random.default_rng(9).random((T, K)) < 0.6
    bandit = sb.SlateUCB(d, K, width=sb.Scaled(0.3), seed=2, **FIGURE_2)
    slow = Figure2(
        d, K, R=1.0, g=lambda m: 1 - m, c2=1.0, cost=lambda i, s: (s - i + 1) / s, a=0.5,
        width=lambda n, t: 0.3 * n**0.5, tie=bandit._tie,
    )  # fmt: skip
    trace = sb.replay(bandit, X, Y, slots, candidates=may, threads=threads)
    for t in range(T):
        x = X[t] / np.linalg.norm(X[t])
        shown = slow.rank(x, slots[t], np.flatnonzero(may[t]).tolist())
        assert trace.slates[t, : trace.sizes[t]].tolist() == shown
        slow.learn(x, shown, set(np.flatnonzero(Y[t]).tolist()))
    assert slow.projected > 50
    for i in range(K):
        np.testing.assert_allclose(bandit._state.inverse(i) @ slow.A[i], np.eye(d), atol=1e-8)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("settings", [{"probe": 0.5}, {"forget": 90}, {"project": "all"}], ids=str)
def test_a_window_opens_only_the_candidates_of_its_rounds(settings, threads, monkeypatch):
    T, d, K = 400, 5, 60
    X, Y, slots = data(T, d, K, seed=4)
    may, random = np.zeros((T, K), dtype=bool), np.random.default_rng(9)
    for t in range(T):  # a handful of labels, others every 40 rounds
        group = 10 * (t // 40 % 5) + np.arange(15)
        may[t, group] = random.random(15) < 0.7
    fast, plain = (sb.SlateUCB(d, K + 3, seed=3, **settings) for _ in range(2))
    opened, open_window = [], Window.open

    def recorded(self, X, most, labels=None):
        window = open_window(self, X, most, labels)
        opened.append(window.opened)
        return window

    monkeypatch.setattr(Window, "open", recorded)
    for learner in (fast, plain):
        learner.retire_labels([0, 30, 61])
    one = sb.replay(fast, X, Y, slots, candidates=may, threads=threads)
    two = sb.replay(plain, X, Y, slots, candidates=may, plain=True)
    same(one, two, fast._state, plain._state, K)
    assert fast._state.n > 50
    most = max(map(len, opened))
    assert most == fast._state.n if settings == {"project": "all"} else most <= 40


@pytest.mark.parametrize("settings", [{"probe": 0.5}, {"forget": 9}, {"project": "all"}], ids=str)
def test_diagonal_matrices_with_few_candidates_are_the_plain_loop(settings):
    T, d, K = 150, 5, 60
    X, Y, slots = data(T, d, K, seed=4)
    may = np.random.default_rng(9).random((T, K)) < np.array([0.05, 0.5])[np.arange(T) % 2, None]
    make = {"model": sb.Diagonal(), "seed": 3, **settings}
    fast, plain = (sb.SlateUCB(d, K, **make) for _ in range(2))
    one = sb.replay(fast, X, Y, slots, candidates=may)
    two = sb.replay(plain, X, Y, slots, candidates=may, plain=True)
    same(one, two, fast._state, plain._state, K)


@pytest.mark.parametrize("make", [sb.OBR, sb.Greedy], ids=["obr", "greedy"])
@pytest.mark.parametrize("loss", [sb.Square(), sb.Logistic(1.5)], ids=repr)
def test_obr_and_greedy_are_their_plain_loops(make, loss):
    X, Y, slots = data(500, 7, 11, seed=2, scale=5.0)
    fast, plain = (make(7, 11, loss=loss, seed=1) for _ in range(2))
    assert has_runner(fast)
    one, two = sb.replay(fast, X, Y, slots), sb.replay(plain, X, Y, slots, plain=True)
    np.testing.assert_array_equal(one.slates, two.slates)
    x = X[0]
    np.testing.assert_allclose(fast.scores(x).margin, plain.scores(x).margin, atol=1e-9)


@pytest.mark.parametrize("make", [sb.SlateUCB, sb.OBR])
@pytest.mark.parametrize("model", [sb.Full(), sb.Diagonal()], ids=["full", "diagonal"])
def test_replay_goes_on_from_any_state_and_with_retired_labels(make, model):
    """Learn online, retire, add, replay in two parts: as the plain loop does."""
    X, Y, slots = data(400, 12, 9, seed=5)
    more = {} if make is sb.OBR else {"model": model, "width": sb.Scaled(0.5)}
    learners = [make(12, list("abcdefgh"), seed=6, **more) for _ in range(2)]
    traces = []
    for learner, plain in zip(learners, (False, True), strict=True):
        for t in range(60):
            slate = learner.rank(X[t], 3)
            told = [name for j, name in enumerate("abcdefgh") if Y[t, j]]
            shown = [name for name in told if name in slate.labels]
            learner.learn(slate, told if learner.full_information else shown)
        learner.retire_labels(["c", "f"])
        learner.add_labels(["z", "y", "x"])
        parts = [(60, 201), (201, 400)]
        traces.append(
            [sb.replay(learner, X[a:b], Y[a:b], slots[a:b], plain=plain) for a, b in parts]
        )
    for one, two in zip(*traces, strict=True):
        np.testing.assert_array_equal(one.slates, two.slates)
    a, b = (learner.scores(X[0]) for learner in learners)
    assert a.labels == b.labels
    np.testing.assert_allclose(a.margin, b.margin, atol=1e-9)
    np.testing.assert_allclose(a.width, b.width, atol=1e-9)


def test_many_labels_that_are_never_shown_stay_untouched():
    T, d, K = 200, 16, 20_000
    random = np.random.default_rng(0)
    X = random.standard_normal((T, d))
    Y = sparse.csr_array((random.random((T, K)) < 1e-4).astype(float))
    fast, plain = (sb.SlateUCB(d, K, seed=1) for _ in range(2))
    one = sb.replay(fast, X, Y, 4)
    two = sb.replay(plain, X, Y, 4, plain=True)
    np.testing.assert_array_equal(one.slates, two.slates)
    state = fast._state
    assert state.n == len(np.unique(one.slates[one.slates >= 0])) <= 4 * T
    assert len(state.w) < K / 10
    assert len(state.low_rank.V) < 8 * T


def test_only_ties_differ_where_contexts_repeat():
    """One-hot and repeated contexts make labels equal; where slates differ, scores were equal."""
    random = np.random.default_rng(3)
    X = np.eye(6)[random.integers(0, 6, size=600)]
    X[::5] = X[0] + X[1]
    Y = (random.random((600, 15)) < 0.3).astype(np.uint8)
    fast, plain = (sb.SlateUCB(6, 15, width=sb.Scaled(0.7), seed=1) for _ in range(2))
    for first in range(0, 600, 50):
        part = slice(first, first + 50)
        one, two = (
            sb.replay(fast, X[part], Y[part], 4),
            sb.replay(plain, X[part], Y[part], 4, plain=True),
        )
        differ = np.flatnonzero((one.slates != two.slates).any(axis=1))
        assert not len(differ)  # none here: the grid of theory/slate.py makes equal scores equal


@pytest.mark.parametrize("model", [sb.Full(), sb.Diagonal()], ids=["full", "diagonal"])
def test_every_form_of_the_data_is_the_same_data(model, tmp_path):
    T, d, K = 2500, 6, 5
    X, Y, _ = data(T, d, K, seed=8)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")

    def blocks(array, size):
        return (array[first : first + size] for first in range(0, T, size))

    forms = [
        (mapped, Y),
        (sparse.csr_array(X), sparse.csr_array(Y)),
        (blocks(X, 333), blocks(Y, 500)),
        (blocks(X, 1), Y),
        (blocks(sparse.csr_array(X), 2000), blocks(sparse.csr_array(Y), 7)),
        (X.astype(np.float32).astype(np.float64) * 0 + X, Y.astype(bool)),
    ]
    expected = sb.replay(sb.SlateUCB(d, K, model=model, scale="unit"), X, Y, 2)
    for x, y in forms:
        trace = sb.replay(sb.SlateUCB(d, K, model=model, scale="unit"), x, y, 2)
        np.testing.assert_array_equal(trace.slates, expected.slates)
    small = sb.replay(sb.SlateUCB(d, K, model=model, scale="unit"), X, Y, 2, keep_slates=False)
    assert small.slates is None
    np.testing.assert_array_equal(small.losses("p_rank"), expected.losses("p_rank"))


def test_what_does_not_fit_is_refused_with_the_row():
    X, Y, _ = data(50, 4, 3)
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"row 7 of X: context\[2\] is nan"):
        sb.replay(sb.SlateUCB(4, 3), X, Y, 2)
    X[7] = 0.0
    plain = {"scale": "unit", "bias": False}
    diagonal = sb.SlateUCB(4, 3, model=sb.Diagonal(), **plain)
    for learner in (sb.SlateUCB(4, 3, **plain), diagonal, sb.Random(4, 3, **plain)):
        with pytest.raises(ValueError, match="row 7 of X: context is all zeros"):
            sb.replay(learner, X, Y, 2)
        assert learner.t == 1
    for x, y, message in (
        (iter([X[:5]]), iter([Y[:3]]), "Y ends after 3 rounds, X goes on"),
        (X[:5], iter([Y[:5, :2]]), "Y has 2 columns, the learner 3 labels"),
    ):
        with pytest.raises(ValueError, match=message):
            sb.replay(sb.SlateUCB(4, 3), x, y, 2)
    with pytest.raises(ValueError, match="candidates names 'q'"):
        sb.replay(sb.SlateUCB(4, 3), X[:5], Y[:5], 2, candidates=["q"])
    with pytest.raises(ValueError, match=r"candidates has shape \(2, 3\), expected \(5, 3\)"):
        sb.replay(sb.SlateUCB(4, 3), X[:5], Y[:5], 2, candidates=np.ones((2, 3)))


def test_learners_without_a_runner_are_played_plainly(monkeypatch):
    assert not has_runner(sb.Thompson(4, 3))
    assert not has_runner(sb.SlateUCB(4, 3, model=sb.Dual(sb.linear)))
    assert not has_runner(sb.SlateUCB(4, 3, loss=sb.Surrogate(g=lambda m: 1 - m, R=1.0)))
    assert not has_runner(sb.SlateUCB(4, 3, width=lambda norm2, **_: 0 * norm2))
    assert not has_runner(sb.SlateUCB(4, 3, cost=stairs), most=5000)
    X, Y, slots = data(100, 4, 3)
    fast = sb.replay(sb.SlateUCB(4, 3), X, Y, slots)
    monkeypatch.setattr(runners, "has_numba", lambda: False)
    assert not has_runner(sb.SlateUCB(4, 3))
    np.testing.assert_array_equal(sb.replay(sb.SlateUCB(4, 3), X, Y, slots).slates, fast.slates)


def test_float32_is_close():
    T, d, K = 1500, 20, 8
    X, Y, _ = data(T, d, K, seed=11)
    exact, half = sb.SlateUCB(d, K), sb.SlateUCB(d, K, model=sb.Full(dtype="float32"))
    one, two = sb.replay(exact, X, Y, 3), sb.replay(half, X, Y, 3)
    assert half._state.dense.A_inv.dtype == np.float32
    assert np.mean(one.losses("ac") == two.losses("ac")) > 0.9
    assert two.losses("ac").mean() == pytest.approx(one.losses("ac").mean(), rel=0.02)
    with pytest.raises(ValueError, match="dtype = 'float16'"):
        sb.Full(dtype="float16")


@pytest.mark.parametrize("products_from", [1, 6, 10**9])  # products of all labels, some, none
def test_matrices_are_whole_and_symmetric_to_the_bit_after_every_block(monkeypatch, products_from):
    """In between only lower halves are kept up; also where a later block is refused."""
    monkeypatch.setattr("semibandit.models.window.PRODUCTS_FROM", products_from)
    monkeypatch.setattr("semibandit.models.dense.COMPENSATED_FROM", 300)
    T, d, K = 1500, 19, 6
    X, Y, _ = data(T, d, K, seed=2)
    plain = sb.SlateUCB(d, K, a=1.0)
    sb.replay(plain, X[:1024], Y[:1024], 3, plain=True)
    X[1200, 3] = np.nan
    learner = sb.SlateUCB(d, K, a=1.0)
    with pytest.raises(ValueError, match="row 1200"):
        sb.replay(learner, X, Y, 3)
    s, dense = learner._state, learner._state.dense
    assert dense.n == K
    assert learner.t == 1025
    for matrices in (dense.A_inv[: dense.n], dense.error[: dense.n_errors]):
        np.testing.assert_array_equal(matrices, matrices.transpose(0, 2, 1))
    for i in range(K):
        np.testing.assert_allclose(s.inverse(i), plain._state.inverse(i), atol=1e-12)


def test_a_label_updated_very_often_is_compensated_in_replay(monkeypatch):
    monkeypatch.setattr("semibandit.models.dense.COMPENSATED_FROM", 200)
    X = np.tile([0.3, 0.2, 0.9, -0.1], (1000, 1))
    X[::3, 0] += 0.4
    Y = np.ones((1000, 2), dtype=np.uint8)
    fast, plain = (sb.SlateUCB(4, 2, a=1.0, scale="unit", bias=False) for _ in range(2))
    sb.replay(fast, X, Y, 2)
    sb.replay(plain, X, Y, 2, plain=True)
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    A = np.eye(4) + unit.T @ unit
    for learner in (fast, plain):
        assert np.all(learner._state.dense.error_of[:2] >= 0)
        assert learner._state.dense.n_errors == 2
        np.testing.assert_allclose(learner._state.inverse(0) @ A, np.eye(4), atol=1e-11)


def test_rounding_errors_survive_copies_and_retired_labels(monkeypatch):
    """Windows, single steps, a copy and a retired label in between: as a learner never copied."""
    monkeypatch.setattr("semibandit.models.dense.COMPENSATED_FROM", 20)
    X, Y, _ = data(600, 4, 3, seed=1)
    learners = [sb.SlateUCB(4, list("abc"), a=1.0) for _ in range(2)]
    for number, learner in enumerate(learners):
        sb.replay(learner, X[:200], Y[:200])
        if number:
            learners[1] = learner = copy.deepcopy(learner)
        for t in range(200, 240):
            learner.learn(learner.rank(X[t]), [n for n, y in zip("abc", Y[t], strict=True) if y])
        learner.retire_labels(["b"])
        learner.add_labels(["d"])
        for t in range(240, 300):
            learner.learn(learner.rank(X[t]), [n for n, y in zip("adc", Y[t], strict=True) if y])
        sb.replay(learner, X[300:], Y[300:])
    one, two = (learner._state.arrays() for learner in learners)
    for name, array in one.items():
        np.testing.assert_array_equal(two[name], array)
    assert np.any(one["lost"] != 0)


def test_at_least_so_many_are_shown_in_windows_and_never_more_than_slots():
    X, Y, _ = data(300, 5, 9)
    fast, plain = (sb.SlateUCB(5, 9, at_least=2, a=0.1, probe=0.5) for _ in range(2))
    one, two = sb.replay(fast, X, Y, 3), sb.replay(plain, X, Y, 3, plain=True)
    np.testing.assert_array_equal(one.slates, two.slates)
    assert set(one.sizes.tolist()) == {2, 3}
    for wrong in ({}, {"plain": True}):
        learner = sb.SlateUCB(5, 9, at_least=2)
        with pytest.raises(sb.errors.InputError, match="slots = 1, but this learner shows"):
            sb.replay(learner, X, Y, [3] * 299 + [1], **wrong)
