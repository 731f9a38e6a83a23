"""Laws of the state: the same numbers as `FullState`, bounds that hold, nothing half-learned."""

import copy

import numpy as np
import pytest
import torch
from beside import contexts

import semibandit as sb
from semibandit._util.ordering import turned
from semibandit.errors import DeviceError
from semibandit.models.fused import LossStep
from semibandit.models.gpu import tensors
from semibandit.models.gpu.device import bytes_per_row
from semibandit.models.gpu.packed import pack, products, unpack
from semibandit.models.gpu.search import select
from semibandit.models.gpu.tensors import TILE
from semibandit.models.partial import Aim

NONE = np.empty(0, dtype=np.intp)


def started(device, labels=40, d=7, half_life=None):
    states = [sb.Full().start(labels, d), sb.Full(device=device).start(labels, d)]
    for state in states:
        if half_life is not None:
            state.set_half_life(half_life)
    return states


def step_both(cpu, gpu, x, labels, steps, change=0.0):
    change = np.full(len(labels), change)
    for state in (cpu, gpu):
        state.step_at(state.margins_at(x, labels), labels, change, steps)


def assert_same(cpu, gpu, x, atol=1e-6):
    one, two = cpu.look(x), gpu.look(x)
    np.testing.assert_allclose(one.margin, two.margin, atol=atol)
    np.testing.assert_allclose(one.norm2, two.norm2, atol=atol)


@pytest.mark.parametrize("half_life", [None, 3.0, 30.0])
@pytest.mark.parametrize("d", [1, 7, 33, 70])
def test_the_numbers_are_those_of_full_matrices(device, d, half_life):
    rng = np.random.default_rng(d)
    cpu, gpu = started(device, d=d, half_life=half_life)
    for x in contexts(30, d):
        labels = rng.choice(40, 5, replace=False)
        step_both(cpu, gpu, x, labels, rng.standard_normal(5), change=0.01)
        if half_life is not None:
            cpu.advance(1)
            gpu.advance(1)
        assert_same(cpu, gpu, x)
    for label in range(40):
        np.testing.assert_allclose(cpu.inverse(label), gpu.inverse(label), atol=1e-6)
    assert gpu.margins(x).margin.tolist() == gpu.look(x).margin.tolist()
    some = np.array([30, 2, 17])
    assert gpu.look_at(x, some).norm2.tolist() == gpu.look(x).norm2[some].tolist()
    assert gpu.margins_at(x, some).margin.tolist() == gpu.look(x).margin[some].tolist()


def test_a_projection_alone_leaves_the_matrix(device):
    cpu, gpu = started(device)
    x = contexts(1, 7)[0]
    step_both(cpu, gpu, x, np.array([3, 5]), np.ones(2))
    for state in (cpu, gpu):
        moved, shown = np.array([3]), np.array([5])
        state.step(state.margins(x), moved, np.array([-0.2]), shown, np.array([0.5]))
    assert_same(cpu, gpu, x)
    assert gpu.t.count[:2].tolist() == [1, 2]


def test_rows_close_up_and_labels_start_anew(device):
    rng = np.random.default_rng(0)
    cpu, gpu = started(device, half_life=20.0)
    X = contexts(60, 7)
    for t, x in enumerate(X):
        step_both(cpu, gpu, x, rng.choice(len(gpu.row_of), 4, replace=False), rng.random(4))
        cpu.advance(1)
        gpu.advance(1)
        if t % 7 == 6:
            gone = np.sort(rng.choice(len(gpu.row_of), 5, replace=False))
            for state in (cpu, gpu):
                state.reset(gone)
                state.add(1)
        assert_same(cpu, gpu, x)
    assert gpu.n == cpu.n == int(gpu.t.used)
    rows = gpu.t.row_of.cpu().numpy()
    assert rows.tolist() == gpu.row_of.tolist()
    assert not gpu.t.A[gpu.n :].any()


@pytest.mark.parametrize("half_life", [None, 5.0])
def test_bounds_hold_and_the_best_are_found(device, half_life):
    rng = np.random.default_rng(3)
    _, gpu = started(device, labels=600, d=20, half_life=half_life)
    X = contexts(80, 20)
    tie, R = rng.random(600), 1.0
    for t, x in enumerate(X):
        for spread, cap, most in ((0.3, 2 * R, 7), (2.0, np.inf, 3), (0.0, 2 * R, 60)):
            without = np.sort(rng.choice(600, 20, replace=False)) if t % 2 else NONE
            turn = t % 3 / 3
            found = gpu.best(x, Aim(most, R, spread, tie, without, gpu.grid, cap, turn))
            look = gpu.look(x)
            score = np.clip(look.margin, -R, R) + np.minimum(spread * np.sqrt(look.norm2), cap)
            if gpu._search is not None:
                bound = gpu._search.bounds.cpu().numpy()[: gpu.n]
                score_of_row = score[gpu.t.label_of[: gpu.n].cpu().numpy()]
                assert (bound >= score_of_row)[bound > -np.inf].all()
            level = np.rint(score * gpu.grid)
            level[without] = -np.inf
            best = np.lexsort((turned(tie, turn), -level))[:most]
            assert set(best.tolist()) <= set(found.labels.tolist())
            assert not set(without.tolist()) & set(found.labels.tolist())
            assert found.look.norm2.tolist() == look.norm2[found.labels].tolist()
        gpu.learn_at(x, rng.choice(600, 20, replace=False), np.ones(20), LossStep(R, 1.0, False))
        gpu.advance(1)


def test_of_many_labels_that_are_alike_those_from_the_turn_on_are_found(device):
    _, gpu = started(device, labels=600, d=6)
    tie, (x, *X) = np.random.default_rng(5).random(600), contexts(5, 6)
    gpu.learn_at(x, np.arange(500), np.ones(500), LossStep(1.0, 1.0, False))  # 100 are untouched
    aims = [Aim(4, 1.0, 0.2, tie, NONE, gpu.grid, None, turn) for turn in (0.0, 0.3, 0.6, 0.9)]
    for one, aim, found in zip(X, aims, gpu.best_many(X, aims), strict=True):
        for labels in (found.labels, gpu.best(one, aim).labels):
            look = gpu.look(one)
            level = np.rint(aim.scores(look.margin, look.norm2) * gpu.grid)
            best = np.lexsort((turned(tie, aim.turn), -level))[:4]
            assert set(best.tolist()) <= set(labels.tolist())


def test_few_of_many_rows_are_looked_at(device):
    rng, K = np.random.default_rng(4), 12_000
    _, gpu = started(device, labels=K, d=6)
    tie, looked = rng.random(K), []
    for t, x in enumerate(contexts(12, 6)):
        labels = np.arange(K) if t == 0 else rng.choice(K, K // 2, replace=False)
        signs = rng.choice([-1.0, 1.0], len(labels))
        gpu.learn_at(x, labels, signs, LossStep(1.0, 1.0, False))
    for x in contexts(12, 6, seed=1):
        found = gpu.best(x, Aim(10, 1.0, 0.2, tie, NONE, gpu.grid))
        look = gpu.look(x)
        level = np.rint((np.clip(look.margin, -1, 1) + 0.2 * np.sqrt(look.norm2)) * gpu.grid)
        assert set(np.lexsort((tie, -level))[:10]) <= set(found.labels.tolist())
        assert found.look.norm2.tolist() == look.norm2[found.labels].tolist()
        looked.append(found.looked)
    assert np.median(looked) < 100


def test_ties_of_many_labels_are_all_looked_at(device):
    _, gpu = started(device, labels=3000, d=3)
    x, tie = contexts(1, 3)[0], np.random.default_rng(0).random(3000)
    gpu.learn_at(x, np.arange(2900), np.ones(2900), LossStep(1.0, 1.0, False))
    found = gpu.best(x, Aim(5, 1.0, 0.1, tie, NONE, gpu.grid))
    assert set(np.argsort(tie[:2900])[:5]) <= set(found.labels.tolist())
    assert found.looked == 2900


def test_contexts_beyond_float32(device):
    cpu, gpu = started(device, labels=300)
    tie = np.random.default_rng(0).random(300)
    for x in contexts(5, 7) * 1e22:
        step_both(cpu, gpu, x, np.arange(0, 300, 2), np.full(150, 1e-22))
        aim = Aim(5, 1.0, 1e-22, tie, np.array([4]), gpu.grid)
        for found in (gpu.best(x, aim), *gpu.best_many([x, x], [aim, aim])):
            assert found.labels.tolist() == [*range(4), *range(5, 300)]
            assert np.isfinite(found.look.norm2).all()


def test_the_largest_bounds_and_that_of_the_rest():
    for size, count in ((TILE, 8), (40 * TILE, 8), (40 * TILE, 50 * TILE)):
        bounds = torch.randn(size)
        best, rows, rest = select(bounds, min(count, size))
        top = torch.sort(bounds, descending=True).values
        assert sorted(best.tolist(), reverse=True) == top[: len(best)].tolist()
        assert bounds[rows].tolist() == best.tolist()
        assert float(rest) == (float(top[len(best)]) if len(best) < size else -np.inf)


def test_packed_triangles():
    A = torch.randn(3, 5, 5, dtype=torch.float64)
    A = A + A.mT
    x = torch.randn(1, 5, dtype=torch.float64)
    assert torch.equal(unpack(pack(A), 5), A)
    norms = torch.einsum("r,nrc,c->n", x[0], A, x[0])
    torch.testing.assert_close(pack(A) @ products(x)[0], norms)


def test_memory_follows_the_labels_that_were_shown(device):
    state = sb.Full(device=device).start(100_000, 16)
    assert state.t.A.numel() == 0
    x = contexts(1, 16)[0]
    for first in range(0, 2000, 100):
        labels = np.arange(first, first + 100)
        state.learn_at(x, labels, np.ones(100), LossStep(1.0, 1.0, False))
    assert 2000 <= state.t.capacity <= 1.5 * 2000 + TILE
    assert bytes_per_row(64) < 14_000


def test_too_little_memory_says_what_fits_and_nothing_is_learned(device, monkeypatch):
    state = sb.Full(device=device).start(1000, 16)
    x = contexts(1, 16)[0]
    state.learn_at(x, np.arange(5), np.ones(5), LossStep(1.0, 1.0, False))
    before = copy.deepcopy(state.arrays())
    plain = tensors._empty

    def empty(name, rows, d, where):
        if name == "A" and rows > TILE:
            raise torch.OutOfMemoryError("out of memory")
        return plain(name, rows, d, where)

    monkeypatch.setattr(tensors, "_empty", empty)
    with pytest.raises(DeviceError, match=r"205 labels .* need .* are free .* labels fit"):
        state.learn_at(x, np.arange(300, 500), np.ones(200), LossStep(1.0, 1.0, False))
    after = state.arrays()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    state.learn_at(x, np.arange(300, 400), np.ones(100), LossStep(1.0, 1.0, False))
    assert state.n == 105


def test_a_copy_goes_on_alone(device):
    cpu, gpu = started(device, half_life=9.0)
    X = contexts(12, 7)
    for x in X[:6]:
        step_both(cpu, gpu, x, np.array([1, 4]), np.ones(2))
        gpu.advance(1)
    other = copy.deepcopy(gpu)
    before = gpu.look(X[6]).norm2.tolist()
    for x in X[6:]:
        other.learn_at(x, np.array([1, 5]), np.ones(2), LossStep(1.0, 1.0, False))
        other.advance(1)
    assert gpu.look(X[6]).norm2.tolist() == before
    assert other.n == 3
