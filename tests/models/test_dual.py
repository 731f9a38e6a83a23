"""The dual model against explicit matrices in a feature space that can be written down."""

import numpy as np
import pytest

import semibandit as sb
from semibandit.errors import InputError

D = 3
NONE = np.empty(0, dtype=np.intp)


def phi(x):
    """Features of k(x, y) = ((x·y + 1)/2)²: k = φ·φ."""
    z = np.append(x, 1.0) / np.sqrt(2)
    return np.outer(z, z).ravel()


def unit(random):
    x = random.standard_normal(D)
    return x / np.linalg.norm(x)


def test_a_polynomial_kernel_is_full_matrices_on_its_features():
    random = np.random.default_rng(0)
    dual = sb.Dual(sb.polynomial(2, 1.0)).start(2, D)
    full = sb.Full().start(2, len(phi(np.zeros(D))))
    for _ in range(150):
        x = unit(random)
        looks = dual.look(x), full.look(phi(x))
        np.testing.assert_allclose(looks[0].margin, looks[1].margin, atol=1e-9)
        np.testing.assert_allclose(looks[0].norm2, looks[1].norm2, atol=1e-9)
        moved, change = random.choice(2, size=1), random.standard_normal(1)
        shown, steps = random.choice(2, size=1), random.standard_normal(1)
        for state, look in zip((dual, full), looks, strict=True):
            state.step(look, moved, change, shown, steps)


@pytest.mark.parametrize("kernel", [sb.linear, sb.rbf(2.0)])
def test_a_budget_is_kept_and_forgets_towards_the_unknown(kernel):
    random = np.random.default_rng(1)
    kept, whole = (sb.Dual(kernel, budget=b).start(2, D) for b in (8, None))
    for _ in range(200):
        x = unit(random)
        small, big = kept.look(x), whole.look(x)
        assert np.all(small.norm2 >= big.norm2 - 1e-9)  # never surer than the whole model
        assert np.all(small.norm2 <= 1 + 1e-12)
        for state, look in ((kept, small), (whole, big)):
            state.step(look, np.array([1]), np.array([0.01]), np.array([0]), np.array([0.1]))
    assert len(kept.labels[0].points) == 8
    assert len(kept.labels[1].extra) == 8
    assert len(kept.pool) <= 2 * 8 + 64 + 64
    gram = kernel(kept.pool[kept.labels[0].points], kept.pool[kept.labels[0].points])
    np.testing.assert_allclose(kept.labels[0].B @ (np.eye(8) + gram), np.eye(8), atol=1e-9)


def test_dropping_a_repeated_context_loses_nothing_of_the_weights():
    x, y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    state = sb.Dual(sb.rbf(1.0), budget=50).start(1, D)
    for _ in range(51):
        state.step(state.look(x), NONE, np.empty(0), np.array([0]), np.array([1.0]))
    free = sb.Dual(sb.rbf(1.0)).start(1, D)
    for _ in range(51):
        free.step(free.look(x), NONE, np.empty(0), np.array([0]), np.array([1.0]))
    assert len(state.labels[0].points) == 50
    for z in (x, y):
        assert state.look(z).margin[0] == pytest.approx(free.look(z).margin[0], rel=0.01)


def test_the_effective_dimension():
    assert sb.Dual(sb.linear).start(1, 7).dimension(1000) == 7
    assert sb.Dual(sb.polynomial(2)).start(1, 3).dimension(1000) == 10
    assert sb.Dual(sb.rbf()).start(1, 3).dimension(1000) == 999
    assert sb.Dual(sb.rbf()).start(1, 3).dimension(1) == 1


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda X, Y: X @ Y.T * np.nan, "not a finite number"),
        (lambda X, Y: np.zeros((len(X), len(Y))), r"k\(x, x\) = 0; it must be positive"),
        (lambda X, Y: X, r"shape \(1, 3\) for 1 and 1 contexts"),
    ],
)
def test_a_kernel_that_is_none_is_refused(kernel, message):
    bandit = sb.SlateUCB(D, 2, model=sb.Dual(kernel), scale="unit", bias=False)
    with pytest.raises(InputError, match=message):
        bandit.rank([1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sb.Dual("rbf"), r"kernel = 'rbf', but it must be a function"),
        (lambda: sb.Dual(sb.linear, budget=0), "budget = 0"),
        (lambda: sb.Dual(sb.rbf), "with its settings"),
        (lambda: sb.Dual(sb.linear, budget=True), "budget = True"),
        (lambda: sb.rbf(0.0), "gamma = 0"),
        (lambda: sb.rbf(float("inf")), "gamma = inf"),
        (lambda: sb.polynomial(2.5), "degree = 2.5"),
        (lambda: sb.polynomial(0), "degree = 0"),
        (lambda: sb.polynomial(2, -1.0), "c = -1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_what_is_projected_and_learned_at_once_is_one_point():
    """A label keeps each context that it learned from once, and those of other projections."""
    random = np.random.default_rng(0)
    state = sb.Dual(sb.rbf(0.5)).start(2, D)
    for _ in range(20):
        look = state.look(unit(random))
        state.step(look, np.array([0, 1]), np.array([0.1, 0.1]), np.array([0]), np.array([0.3]))
    assert state.arrays()["sizes"].tolist() == [[20, 0], [0, 20]]  # support and extra points
