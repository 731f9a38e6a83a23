"""Laws that every model keeps, whatever it stores."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import semibandit as sb
from semibandit.errors import FileError
from semibandit.models.model import Look, Sparse, dense
from semibandit.models.shared import SharedState

D, K = 6, 5
MODELS = [
    pytest.param(sb.Full(), id="full"),
    pytest.param(sb.Diagonal(), id="diagonal"),
    pytest.param(sb.Dual(sb.linear), id="linear"),
    pytest.param(sb.Dual(sb.rbf(0.7)), id="rbf"),
    pytest.param(sb.Dual(sb.polynomial(3, 0.5)), id="polynomial"),
    pytest.param(sb.Dual(lambda X, Y: (1 + X @ Y.T) ** 2 / 4), id="yours"),
]
NONE = np.empty(0, dtype=np.intp)


def unit(random, n=1):
    x = random.standard_normal((n, D))
    x /= np.linalg.norm(x, axis=1)[:, None]
    return x if n > 1 else x[0]


def busy(model, seed=0, rounds=30):
    """A state after some rounds of moves and steps on random labels."""
    random, state = np.random.default_rng(seed), model.start(K, D)
    for _ in range(rounds):
        look = state.look(unit(random))
        moved = random.choice(K, size=2, replace=False)
        shown = random.choice(K, size=3, replace=False)
        change = 0.1 * random.standard_normal(2)
        state.step(look, moved, change, shown, 0.5 * random.standard_normal(3))
    return state, random


@pytest.mark.parametrize("model", MODELS)
def test_a_move_changes_the_margin_at_x_by_what_was_asked(model):
    state, random = busy(model)
    x = unit(random)
    before = state.look(x)
    moved, change = np.array([0, 3]), np.array([0.4, -0.7])
    state.step(before, moved, change, NONE, np.empty(0))
    after = state.look(x)
    expected = before.margin.copy()
    expected[moved] += change
    np.testing.assert_allclose(after.margin, expected, atol=1e-10)
    np.testing.assert_allclose(after.norm2, before.norm2, atol=1e-12)  # A is as it was


@pytest.mark.parametrize("model", [*MODELS, pytest.param(sb.Full("float32"), id="float32")])
@pytest.mark.parametrize("rounds", [0, 2, 30])  # untouched, low-rank and dense labels
def test_many_looks_at_once_are_single_looks(model, rounds):
    state, random = busy(model, rounds=rounds)
    xs = list(unit(random, 7))
    tolerance = 1e-5 if model == sb.Full("float32") else 1e-13
    margin, norm2 = state.look_many(xs)
    for b, one in enumerate(map(state.look, xs)):
        np.testing.assert_allclose(margin[b], one.margin, atol=tolerance)
        np.testing.assert_allclose(norm2[b], one.norm2, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("d", [5, 6, 34])
@pytest.mark.parametrize("n", [1, 3, 4, 8, 9, 16, 40])
def test_looks_through_a_window_are_looks(monkeypatch, dtype, d, n):
    monkeypatch.setattr("semibandit.models.full.LEAST", 0)
    monkeypatch.setattr("semibandit.models.full.TO_LOAD", 0)
    random, state = np.random.default_rng(d), sb.Full(dtype).start(9, d)
    for i in range(d):
        shown = np.flatnonzero(i < d * np.arange(9) // 10)  # untouched, low-rank, dense
        x = random.standard_normal(d) / d**0.5
        state.step(state.look(x), NONE, np.empty(0), shown, random.standard_normal(len(shown)))
    assert 0 < state.dense.n < state.n
    xs = list(random.standard_normal((n, d)) / d**0.5)
    margin, norm2 = state.look_many(xs)
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    for b, one in enumerate(map(state.look, xs)):
        np.testing.assert_allclose(margin[b], one.margin, atol=tolerance)
        np.testing.assert_allclose(norm2[b], one.norm2, atol=tolerance)


@pytest.mark.parametrize("model", [*MODELS, pytest.param(sb.Full("float32"), id="float32")])
@pytest.mark.parametrize("rounds", [0, 2, 30])
def test_margins_are_those_of_a_look(model, rounds):
    state, random = busy(model, rounds=rounds)
    x = unit(random)
    look, margins = state.look(x), state.margins(x)
    np.testing.assert_array_equal(margins.x, look.x)
    tolerance = 1e-6 if isinstance(model, sb.Full) and model.dtype == "float32" else 1e-14
    np.testing.assert_allclose(margins.margin, look.margin, rtol=0, atol=tolerance)
    assert not len(margins.norm2)


@pytest.mark.parametrize("model", [m for m in MODELS if m.id != "diagonal"])
def test_an_update_lowers_the_norm_at_x_as_sherman_and_morrison_say(model):
    state, random = busy(model)
    x = unit(random)
    before = state.look(x)
    shown, steps = np.array([1, 4]), np.array([0.9, -0.3])
    state.step(before, NONE, np.empty(0), shown, steps)
    after, n = state.look(x), before.norm2[shown]
    np.testing.assert_allclose(after.norm2[shown], n / (1 + n), rtol=1e-9)
    np.testing.assert_allclose(
        after.margin[shown], before.margin[shown] + steps * n / (1 + n), atol=1e-10
    )
    others = [0, 2, 3]
    np.testing.assert_array_equal(after.norm2[others], before.norm2[others])
    np.testing.assert_array_equal(after.margin[others], before.margin[others])


def test_the_diagonal_is_remark_2():
    state, random = sb.Diagonal().start(2, D), np.random.default_rng(0)
    A, w = np.ones((2, D)), np.zeros((2, D))
    for _ in range(50):
        x, i, step = unit(random), int(random.integers(2)), float(random.standard_normal())
        look = state.look(x)
        np.testing.assert_allclose(look.norm2, (x**2 / A).sum(axis=1), rtol=1e-12)
        np.testing.assert_allclose(look.margin, w @ x, atol=1e-12)
        state.step(look, NONE, np.empty(0), np.array([i]), np.array([step]))
        A[i] += x**2
        w[i] += step * x / A[i]


@pytest.mark.parametrize("model", MODELS)
def test_norms_are_positive_and_never_grow(model):
    state, random = busy(model, rounds=1)
    probes = unit(random, 20)
    before = np.array([state.look(x).norm2 for x in probes])
    for _ in range(60):
        x = unit(random)
        state.step(state.look(x), NONE, np.empty(0), np.array([2]), np.array([0.1]))
        after = np.array([state.look(x).norm2 for x in probes])
        assert np.all(after > 0)
        assert np.all(after <= before + 1e-12)
        before = after


@pytest.mark.parametrize("model", MODELS)
def test_adding_and_resetting_touch_no_other_label(model):
    state, random = busy(model)
    x = unit(random)
    before = state.look(x)
    state.add(2)
    state.reset(np.array([1]))
    after, fresh = state.look(x), model.start(1, D).look(x)
    keep = [0, 2, 3, 4]
    np.testing.assert_array_equal(after.margin[keep], before.margin[keep])
    np.testing.assert_array_equal(after.norm2[keep], before.norm2[keep])
    for new in (1, 5, 6):
        assert after.margin[new] == 0
        assert after.norm2[new] == pytest.approx(fresh.norm2[0])


@pytest.mark.parametrize("model", MODELS)
def test_a_restored_state_is_the_same_to_the_bit(model):
    state, random = busy(model)
    other = model.start(K, D)
    other.restore({name: array.copy() for name, array in state.arrays().items()})
    for _ in range(20):
        x = unit(random)
        one, two = state.look(x), other.look(x)
        np.testing.assert_array_equal(one.margin, two.margin)
        np.testing.assert_array_equal(one.norm2, two.norm2)
        for s, look in ((state, one), (other, two)):
            s.step(look, np.array([0]), np.array([0.1]), np.array([1, 2]), np.array([0.2, -0.3]))


@pytest.mark.parametrize("model", MODELS)
def test_a_damaged_snapshot_is_refused_and_changes_nothing(model):
    state, random = busy(model)
    x = unit(random)
    before = state.look(x)
    good = state.arrays()
    for name in good:
        with pytest.raises(FileError, match=name):
            state.restore({k: v for k, v in good.items() if k != name})
        if good[name].size:
            with pytest.raises(FileError, match=r"the array"):
                state.restore({**good, name: good[name][..., :-1]})
        if good[name].size and name in ("owner", "V_row", "A_row", "points", "extra"):
            for wrong in (-2, 10_000):
                with pytest.raises(FileError, match=f"'{name}' has numbers outside of"):
                    state.restore({**good, name: np.full_like(good[name], wrong)})
    np.testing.assert_array_equal(state.look(x).margin, before.margin)


def test_shared_is_full_where_every_label_is_updated():
    random = np.random.default_rng(2)
    shared, full = SharedState.start(K, D), sb.Full().start(K, D)
    everything = np.arange(K)
    for _ in range(100):
        x, steps = unit(random), random.standard_normal(K)
        moved, change = random.choice(K, size=2, replace=False), random.standard_normal(2)
        for state in (shared, full):
            state.step(state.look(x), moved, change, everything, steps)
        one, two = shared.look(x), full.look(x)
        np.testing.assert_allclose(one.margin, two.margin, atol=1e-10)
        np.testing.assert_allclose(one.norm2, two.norm2, atol=1e-12)


def test_sparse_contexts_give_the_diagonal_models_dense_results():
    random = np.random.default_rng(1)
    one, two = sb.Diagonal().start(K, 50), sb.Diagonal().start(K, 50)
    for _ in range(80):
        row = sparse.csr_array(random.random((1, 50)) * (random.random((1, 50)) < 0.1))
        if not row.nnz:
            continue
        x = Sparse(row.indices.astype(np.intp), row.data, 50)
        looks = one.look(x), two.look(dense(x))
        np.testing.assert_allclose(looks[0].margin, looks[1].margin, atol=1e-12)
        np.testing.assert_allclose(looks[0].norm2, looks[1].norm2, atol=1e-12)
        shown, steps = random.choice(K, size=2, replace=False), random.standard_normal(2)
        for state, look in zip((one, two), looks, strict=True):
            state.step(look, np.array([0]), np.array([0.3]), shown, steps)


D64, MILLION = 64, 1_000_000


def check_inverse(A, A_inv, within=1e-8):
    assert np.max(np.abs(A @ A_inv - np.eye(len(A)))) <= within
    np.testing.assert_array_equal(A_inv, A_inv.T)
    assert np.linalg.eigvalsh(A_inv).min() > 0


def test_many_updates_on_one_context_keep_the_inverse():
    """By `step`, one by one. It is the hardest case, and needs the compensated sum.

    After a quarter of a million the error is 7e-11; of a plain sum, whose error grows, 4.5e-10.
    """
    n = MILLION // 4
    x = np.random.default_rng(3).standard_normal(D64)
    x /= np.linalg.norm(x)
    state, label, step = sb.Full().start(1, D64), np.array([0]), np.zeros(1)
    look = Look(x, step, step)
    for _ in range(n):
        state.step(look, NONE, np.empty(0), label, step)
    check_inverse(np.eye(D64) + n * np.outer(x, x), state.inverse(0), within=2e-10)


def test_a_million_updates_on_even_contexts_keep_the_inverse():
    """By windows."""
    random, A = np.random.default_rng(3), np.eye(D64)
    bandit, Y = (
        sb.SlateUCB(D64, 1, a=1.0, scale="unit", bias=False),
        np.ones((50_000, 1), dtype=np.uint8),
    )
    for _ in range(MILLION // 50_000):
        X = random.standard_normal((50_000, D64))
        X /= np.linalg.norm(X, axis=1)[:, None]
        A += X.T @ X
        sb.replay(bandit, X, Y, keep_slates=False)
    assert bandit.t == MILLION + 1
    check_inverse(A, bandit._state.inverse(0))


def test_numba_need_not_be_able_to_keep_what_it_compiles():
    code = (
        "from numba.core import caching; caching.CacheImpl._locator_classes = []; "
        "from semibandit._util.jit import FAST; print(FAST['cache'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
