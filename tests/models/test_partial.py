"""States that look at some labels alone say of them what they say when they look at all."""

import copy

import numpy as np
import pytest

import semibandit as sb
from semibandit.models import partial_looks
from semibandit.models.model import Sparse, dense
from semibandit.models.partial import PartialState
from semibandit.models.shared import SharedState

D, K = 6, 15  # labels turn dense with 3 updates
STATES = {
    "full": lambda: sb.Full().start(K, D),
    "float32": lambda: sb.Full("float32").start(K, D),
    "diagonal": lambda: sb.Diagonal().start(K, D),
    "dual": lambda: sb.Dual(sb.rbf(0.5)).start(K, D),
    "budget": lambda: sb.Dual(sb.polynomial(2), budget=2).start(K, D),
    "shared": lambda: SharedState.start(K, D),
}


def taught(make, half_life, rounds, seed=0):
    """A state some of whose labels have learned: none, a few or many times, by `step_at`."""
    random, state = np.random.default_rng(seed), make()
    if half_life is not None:
        state.set_half_life(half_life)
    for t in range(rounds):
        x = random.standard_normal(D) / 2
        labels = random.choice(K - 3, 2 if t % 3 else 1, replace=False)
        labels = np.arange(K) if isinstance(state, SharedState) else labels
        change = np.where(random.random(len(labels)) < 0.3, 0.1, 0.0)
        state.step_at(
            state.margins_at(x, labels), labels, change, random.standard_normal(len(labels))
        )
        state.advance(1)
    return state


@pytest.mark.parametrize("rounds", [0, 40])
@pytest.mark.parametrize("half_life", [None, 3.0])
@pytest.mark.parametrize("make", STATES.values(), ids=STATES)
def test_a_look_at_some_labels_is_that_part_of_a_look_at_all(make, half_life, rounds, monkeypatch):
    state, random = taught(make, half_life, rounds), np.random.default_rng(1)
    assert isinstance(state, PartialState)
    atol = 1e-5 if getattr(getattr(state, "w", None), "dtype", None) == np.float32 else 1e-12
    xs = [random.standard_normal(D) for _ in range(4)]
    if make is STATES["diagonal"]:
        xs[1] = Sparse(np.array([4, 1]), np.array([0.5, -2.0]), D)
    some = [random.permutation(K)[:n] for n in (0, 1, 5, K)]
    for least in (10**9, 0):  # numpy, then numba
        monkeypatch.setattr(partial_looks, "LEAST", least)
        monkeypatch.setattr(partial_looks, "TO_LOAD", least)
        for labels in (some, [some[2]] * 4):
            for x, which, many in zip(xs, labels, state.look_at_many(xs, labels), strict=True):
                whole, one = state.look(x), state.look_at(x, which)
                for found in (one, many):
                    np.testing.assert_array_equal(dense(found.x), dense(x))
                    np.testing.assert_allclose(found.margin, whole.margin[which], atol=atol)
                    np.testing.assert_allclose(found.norm2, whole.norm2[which], atol=atol)
                margins = state.margins_at(x, which).margin
                np.testing.assert_allclose(margins, whole.margin[which], atol=atol)


@pytest.mark.parametrize("half_life", [None, 3.0])
@pytest.mark.parametrize("make", STATES.values(), ids=STATES)
def test_a_step_of_some_labels_is_the_step_of_figure_2(make, half_life):
    one, random = taught(make, half_life, 40), np.random.default_rng(2)
    two, x = copy.deepcopy(one), random.standard_normal(D) / 2
    labels, steps = np.array([7, 2, 9, 0]), np.array([0.5, -0.2, 0.1, 0.3])
    if isinstance(one, SharedState):
        labels, steps = np.arange(K), random.standard_normal(K)
    change = np.where(np.arange(len(labels)) % 3 == 1, 0.2, 0.0)
    one.step_at(one.margins_at(x, labels), labels, change, steps)
    moved = change != 0
    two.step(two.margins(x), labels[moved], change[moved], labels, steps)
    for x in random.standard_normal((5, D)):
        np.testing.assert_allclose(one.look(x).margin, two.look(x).margin, atol=1e-6)
        np.testing.assert_allclose(one.look(x).norm2, two.look(x).norm2, atol=1e-6)


@pytest.mark.parametrize("make", STATES.values(), ids=STATES)
def test_margins_to_learn_from_depend_on_these_labels_alone(make, monkeypatch):
    """To the bit, whatever the others have learned and whether numba is there."""
    state, x = taught(make, None, 40), np.linspace(-1, 1, D)
    labels = np.array([3, 8, 1, 14])
    before = state.margins_at(x, labels).margin
    other = copy.deepcopy(state)
    others = np.array([0, 5])
    if not isinstance(state, SharedState):
        other.step_at(other.margins_at(-x, others), others, np.zeros(2), np.ones(2))
    other.add(9)
    monkeypatch.setattr(partial_looks, "LEAST", 0)
    monkeypatch.setattr(partial_looks, "TO_LOAD", 0)
    assert other.margins_at(x, labels).margin.tobytes() == before.tobytes()


def test_labels_that_are_not_asked_for_are_not_read():
    state, x = taught(STATES["full"], None, 60), np.ones(D)
    labels = np.array([2, 7, 11])
    rows, blocks, pool = state.row_of[labels], state.dense, state.low_rank
    before = state.look_at(x, labels)
    state.w[np.setdiff1d(np.arange(state.n), rows)] = np.nan
    blocks.A_inv[: blocks.n][~np.isin(blocks.row_of[: blocks.n], rows)] = np.nan
    pool.V[: pool.n][~np.isin(pool.row_of[: pool.n], rows)] = np.nan
    after = state.look_at(x, labels)
    np.testing.assert_array_equal(after.margin, before.margin)
    np.testing.assert_array_equal(after.norm2, before.norm2)
    assert np.isnan(state.look(x).margin).any()
