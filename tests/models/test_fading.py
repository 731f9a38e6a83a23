"""Laws of forgetting that every model keeps."""

import copy
import math

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import FileError
from semibandit.models.fading import Fading, folded, gains
from semibandit.models.model import Look, Sparse, dense
from semibandit.models.shared import SharedState

D, K = 5, 4
NONE = np.empty(0, dtype=np.intp)


class Shared:
    """The model of OBR, as other models are made."""

    def start(self, n_labels, n_features):
        return SharedState.start(n_labels, n_features)


MODELS = [
    pytest.param(sb.Full(), id="full"),
    pytest.param(sb.Diagonal(), id="diagonal"),
    pytest.param(sb.Dual(sb.linear), id="linear"),
    pytest.param(sb.Dual(sb.rbf(0.7)), id="rbf"),
    pytest.param(sb.Dual(sb.rbf(0.7), budget=6), id="budget"),
    pytest.param(Shared(), id="shared"),
]


def unit(random):
    x = random.standard_normal(D)
    return x / np.linalg.norm(x)


def started(model, h):
    state = model.start(K, D)
    if h is not None:
        state.set_half_life(h)
    return state


def play(state, random, rounds, labels=K):
    """Rounds of moves and steps on random labels."""
    for _ in range(rounds):
        look = state.look(unit(random))
        moved = random.choice(labels, size=2, replace=False)
        shown = random.choice(labels, size=2, replace=False)
        change, steps = 0.1 * random.standard_normal(2), 0.5 * random.standard_normal(2)
        state.step(look, moved, change, shown, steps)
        state.advance(1)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("h", [0.01, 1.0, 2.5, 40.0])
def test_no_norm_is_beyond_the_priors(model, h):
    state, random = started(model, h), np.random.default_rng(0)
    for _ in range(60):
        play(state, random, 5)
        look = state.look(unit(random))
        assert np.all(look.norm2 <= 1.0 + 1e-12)
        assert np.all(look.norm2 > 0)
        state.advance(int(random.integers(0, 3)))
    state.advance(10 + int(20 * h))
    np.testing.assert_allclose(state.look(unit(random)).norm2, 1.0, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("h", [1.0, 7.0, 100.0])
def test_eigenvalues_stay_between_0_and_the_priors(dtype, h):
    state, random = started(sb.Full(dtype), h), np.random.default_rng(1)
    for _ in range(100):
        play(state, random, 9, labels=3)
        for i in range(K):
            values, vectors = np.linalg.eigh(state.inverse(i).astype(np.float64))
            assert values[0] > 0
            assert values[-1] <= 1 + 1e-5
            for x in vectors.T:
                assert state.look(x).norm2[i] <= 1 + 1e-5


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("h", [16.0, 48.0])
def test_information_halves_in_a_half_life(model, h):
    """Between folds that of the prior, too, up to the prior's norm; after a fold not."""
    state, x = started(model, h), np.eye(D)[0]
    everyone = np.arange(K)
    for _ in range(50):
        state.step(state.look(x), NONE, np.empty(0), everyone, np.zeros(K))
    start = state.look(x).norm2
    for halvings in (1, 2, 3):
        state.advance(int(h))
        np.testing.assert_allclose(state.look(x).norm2, np.minimum(2**halvings * start, 1.0))
    state.advance(int(h))
    np.testing.assert_allclose(1.0 / state.look(x).norm2 - 1.0, (1.0 / start - 1.0) / 16)


@pytest.mark.parametrize("model", MODELS)
def test_no_half_life_and_a_huge_one_are_the_same(model):
    never, hardly = started(model, None), started(model, 1e15)
    for state in (never, hardly):
        play(state, np.random.default_rng(2), 60)
    x = unit(np.random.default_rng(3))
    one, two = never.look(x), hardly.look(x)
    np.testing.assert_allclose(two.margin, one.margin, atol=1e-9)
    np.testing.assert_allclose(two.norm2, one.norm2, atol=1e-9)
    assert not {"since", "clock", "scale"} & never.arrays().keys()


@pytest.mark.parametrize("model", MODELS)
def test_many_looks_at_once_are_single_looks(model, monkeypatch):
    monkeypatch.setattr("semibandit.models.full.LEAST", 0)
    monkeypatch.setattr("semibandit.models.full.TO_LOAD", 0)
    state, random = started(model, 30.0), np.random.default_rng(4)
    play(state, random, 40, labels=3)
    state.advance(50)
    xs = [unit(random) for _ in range(9)]
    margin, norm2 = state.look_many(xs)
    for b, look in enumerate(map(state.look, xs)):
        np.testing.assert_allclose(margin[b], look.margin, atol=1e-13)
        np.testing.assert_allclose(norm2[b], look.norm2, atol=1e-13)


def test_remark_3_the_linear_dual_is_full_and_so_is_the_diagonal_of_one_feature():
    random = np.random.default_rng(5)
    dual, full = started(sb.Dual(sb.linear), 9.0), started(sb.Full(), 9.0)
    line, one = (model.start(K, 1) for model in (sb.Diagonal(), sb.Full()))
    for state in (line, one):
        state.set_half_life(9.0)
    for state in (dual, full, line, one):  # a projection alone says nothing of A: it does not fade
        x = np.ones(state.dimension(1))
        state.step(state.look(x), np.array([0]), np.array([0.1]), NONE, np.empty(0))
        state.advance(7)
    for _ in range(150):
        x, steps = unit(random), random.standard_normal(2)
        moved, change = random.choice(K, size=1), random.standard_normal(1)
        shown = random.choice(K, size=2, replace=False)
        for states, context in (((dual, full), x), ((line, one), x[:1])):
            looks = [state.look(context) for state in states]
            np.testing.assert_allclose(looks[0].margin, looks[1].margin, atol=1e-9)
            np.testing.assert_allclose(looks[0].norm2, looks[1].norm2, atol=1e-9)
            for state, look in zip(states, looks, strict=True):
                state.step(look, moved, change, shown, steps)
                state.advance(1)


def test_sparse_contexts_give_the_diagonals_dense_results():
    random = np.random.default_rng(6)
    one, two = (sb.Diagonal().start(K, 20) for _ in range(2))
    for state in (one, two):
        state.set_half_life(5.0)
    for _ in range(120):
        x = Sparse(random.choice(20, size=3, replace=False), random.standard_normal(3), 20)
        shown, steps = random.choice(K, size=2, replace=False), random.standard_normal(2)
        looks = one.look(x), two.look(dense(x))
        np.testing.assert_allclose(looks[0].margin, looks[1].margin, atol=1e-12)
        np.testing.assert_allclose(looks[0].norm2, looks[1].norm2, atol=1e-12)
        for state, look in zip((one, two), looks, strict=True):
            state.step(look, np.array([0]), np.array([0.3]), shown, steps)
            state.advance(1)


@pytest.mark.parametrize(("h", "rounds"), [(1.0, 20_000), (20_000.0, 1_000_000)])
def test_a_million_rounds_in_one_direction_keep_the_inverse_positive(h, rounds):
    """By windows; the norm along x is about one over a half-life's updates."""
    x, across = np.array([[0.6, 0.8]]), np.array([0.8, -0.6])
    bandit = sb.SlateUCB(2, 1, a=1.0, forget=h, scale="unit", bias=False)
    for _ in range(10):
        X, Y = np.repeat(x, rounds // 10, axis=0), np.ones((rounds // 10, 1), dtype=np.uint8)
        sb.replay(bandit, X, Y, keep_slates=False)
        values = np.linalg.eigvalsh(bandit._state.inverse(0))
        assert 0 < values[0] < values[1] <= 1 + 1e-12
        look = bandit._state.look(across)
        assert look.norm2[0] == pytest.approx(1.0)
    along = bandit._state.look(x[0]).norm2[0]
    assert 0.5 / (h / math.log(2) + 1) <= along <= 2 / (h / math.log(2) + 1)


@pytest.mark.parametrize("h", [1.0, 50.0])
def test_updates_in_one_direction_by_single_steps(h):
    x, label, step = np.array([0.6, 0.8]), np.array([0]), np.zeros(1)
    state, look = sb.Full().start(1, 2), Look(x, step, step)
    state.set_half_life(h)
    for _ in range(5_000):
        state.step(look, NONE, np.empty(0), label, step)
        state.advance(1)
    values = np.linalg.eigvalsh(state.inverse(0))
    assert 0 < values[0] < values[1] <= 1 + 1e-12


def test_a_fold_forgets_the_rounding_errors(monkeypatch):
    monkeypatch.setattr("semibandit.models.dense.COMPENSATED_FROM", 5)
    state, plain = started(sb.Full(), 4.0), started(sb.Full(), 4.0)
    play(state, np.random.default_rng(7), 200)
    assert state.dense.n_errors
    monkeypatch.undo()
    play(plain, np.random.default_rng(7), 200)
    for i in range(K):
        np.testing.assert_allclose(state.inverse(i), plain.inverse(i), atol=1e-12)


@pytest.mark.parametrize("g", [0.9, 1 / 16, 1e-3])
def test_a_fold_divides_what_was_learned_and_not_the_prior(g):
    V = np.random.default_rng(8).standard_normal((3 * D, D))
    A = np.eye(D) + V.T @ V
    P = np.linalg.inv(A)
    P_new = folded(np.tril(P), g)
    np.testing.assert_allclose(np.linalg.inv(P_new), np.eye(D) + g * V.T @ V, rtol=1e-9)
    np.testing.assert_array_equal(P_new, P_new.T)


@pytest.mark.parametrize("c", [1.0, 1.3, 12.0])
def test_an_update_restores_the_prior_along_x_and_then_adds_x(c):
    random = np.random.default_rng(9)
    for seen in (0.1, 3.0):
        x, V = unit(random), seen * random.standard_normal((2, D))
        P = np.linalg.inv(np.eye(D) + V.T @ V)
        u = P @ x
        n, xx = u @ x, x @ x
        along, shrink = gains(n, c, xx)
        E = c * P
        if x @ E @ x > xx:
            E = E - (x @ E @ x - xx) / (x @ E @ x) ** 2 * np.outer(E @ x, E @ x)
            assert x @ E @ x == pytest.approx(xx)
        E = np.linalg.inv(np.linalg.inv(E) + np.outer(x, x))
        np.testing.assert_allclose(c * (P - shrink * np.outer(u, u)), E, atol=1e-12)
        np.testing.assert_allclose(along * u, E @ x, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_a_restored_state_goes_on_the_same_to_the_bit(model):
    state, random = started(model, 6.0), np.random.default_rng(10)
    play(state, random, 33, labels=3)
    other = started(model, 6.0)
    other.restore({name: array.copy() for name, array in state.arrays().items()})
    for one in (state, other):
        play(one, np.random.default_rng(11), 40)
    x = unit(random)
    np.testing.assert_array_equal(state.look(x).margin, other.look(x).margin)
    np.testing.assert_array_equal(state.look(x).norm2, other.look(x).norm2)


@pytest.mark.parametrize("model", MODELS)
def test_a_damaged_snapshot_is_refused_and_changes_nothing(model):
    state, random = started(model, 6.0), np.random.default_rng(12)
    play(state, random, 33)
    x, good = unit(random), state.arrays()
    before = copy.deepcopy(state)
    names = {"since", "clock", "scale"} & good.keys()
    assert {"since", "clock"} <= names
    for name in names:
        with pytest.raises(FileError, match=name):
            state.restore({k: v for k, v in good.items() if k != name})
        with pytest.raises(FileError, match=name):
            state.restore({**good, name: good[name][:-1]})
    for wrong in (np.full_like(good["since"], -2), np.full_like(good["since"], 34)):
        with pytest.raises(FileError, match="'since' has numbers outside of"):
            state.restore({**good, "since": wrong})
    with pytest.raises(FileError, match="'clock' holds -1"):
        state.restore({**good, "clock": np.array([-1])})
    np.testing.assert_array_equal(state.look(x).norm2, before.look(x).norm2)
    assert state.fading.now == 33


@pytest.mark.parametrize("model", MODELS[:-1])
def test_adding_and_resetting_labels_touch_no_other(model):
    state, random = started(model, 6.0), np.random.default_rng(13)
    play(state, random, 33)
    x = unit(random)
    before = state.look(x)
    state.add(2)
    state.reset(np.array([1]))
    after = state.look(x)
    keep = [0, 2, 3]
    # up to rounding: a BLAS product of other shape may add in another order
    np.testing.assert_allclose(after.margin[keep], before.margin[keep], rtol=0, atol=1e-14)
    np.testing.assert_allclose(after.norm2[keep], before.norm2[keep], rtol=0, atol=1e-14)
    assert np.all(after.margin[[1, 4, 5]] == 0)
    np.testing.assert_allclose(after.norm2[[1, 4, 5]], 1.0)
    play(state, random, 40, labels=6)


def test_a_budget_drops_what_has_faded():
    random = np.random.default_rng(14)
    state = started(sb.Dual(sb.rbf(1.0), budget=6), 20.0)
    for _ in range(100):
        state.step(state.look(unit(random)), NONE, np.empty(0), np.array([0]), np.array([0.1]))
        state.advance(1)
    label = state.labels[0]
    assert len(label.points) == 6
    Phi = state.pool[label.points]
    gram = label.scale[:, None] * state.kernel(Phi, Phi) * label.scale
    np.testing.assert_allclose(label.B @ (np.eye(6) + gram), np.eye(6), atol=1e-9)
    state.advance(80)
    old = set(state.labels[0].points.tolist())
    for _ in range(5):
        state.step(state.look(unit(random)), NONE, np.empty(0), np.array([0]), np.array([0.1]))
    assert len(old & set(state.labels[0].points.tolist())) == 1


def test_the_clock_says_when_rows_are_folded():
    fading, folds = Fading.start(32.0, 2), []
    assert (fading.stride, fading.rounds_to_fold()) == (2, 128)

    def fold(rows, g):
        folds.append((fading.now, rows.tolist()))
        np.testing.assert_allclose(g, 2.0 ** -((fading.now - fading.since[rows]) / 32.0))

    fading.advance(3, fold)
    fading.touch(np.array([0]))
    fading.advance(1, fold)
    fading.touch(np.array([0, 1]))
    assert fading.since.tolist() == [3, 4]
    assert fading.rounds_to_fold() == 128  # at 132, the first even clock from 3 + 128 on
    fading.advance(300, fold)
    assert folds == [(132, [0, 1]), (260, [0, 1])]
    assert fading.now == 304


@pytest.mark.parametrize("h", [1e-300, 0.3, 1.0, 5.5, 1e18, 1e300])
def test_any_half_life_will_do(h):
    state, random = started(sb.Full(), h), np.random.default_rng(15)
    play(state, random, 30)
    assert state.rounds_to_fold() >= 1
    assert np.all(np.isfinite(state.look(unit(random)).norm2))
