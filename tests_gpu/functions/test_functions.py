"""The Triton functions are their twins: on a CPU under TRITON_INTERPRET=1, on a GPU themselves."""

import copy

import numpy as np
import pytest
import torch

from semibandit.models.fused import LossStep
from semibandit.models.gpu import numbers as at
from semibandit.models.gpu import triton_functions, twins
from semibandit.models.gpu.numbers import Clock
from semibandit.models.gpu.packed import padded_size
from semibandit.models.gpu.tensors import TILE, Tensors
from semibandit.models.gpu.updates import Update, flags_of

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
LABELS = 9
LOSSES = [None, LossStep(1.0, 1.0, False), LossStep(2.0, 0.1, True)]


def learned(d, clock, rounds=4, seed=0):
    """Tensors in which some labels have learned, by the twins."""
    rng = np.random.default_rng(seed)
    t = Tensors.start(LABELS + 3, d, DEVICE)
    t.reserve(LABELS)
    row_of = np.full(LABELS + 3, -1)
    for _ in range(rounds):
        labels = rng.choice(LABELS, 4, replace=False)
        line, update = line_of(t, d, row_of, labels, clock, LOSSES[1], rng)
        twins.update_rows(t, line, len(labels), update.mode, fades=clock.rate > 0)
    return t, row_of, rng


def line_of(t, d, row_of, labels, clock, loss, rng, room=None, learns=None):
    x = rng.standard_normal(d)
    x /= np.linalg.norm(x)
    fresh = np.flatnonzero(row_of[labels] < 0)
    row_of[labels[fresh]] = np.arange(t.n, t.n + len(fresh))
    t.n += len(fresh)
    change = np.where(rng.random(len(labels)) < 0.5, 0.1, 0.0)
    change = change if loss is None else rng.choice([-1.0, 1.0], len(labels))
    flags = flags_of(len(labels), fresh, learns)
    steps = rng.standard_normal(len(labels))
    update = Update(x, clock, row_of[labels], labels, flags, change, steps, t.n, loss)
    line = np.zeros(at.line_size(d, room or len(labels)))
    update.write(line)
    line[d + at.R], line[d + at.SPREAD], line[d + at.CAP] = 1.0, 0.4, 2.0
    if loss is not None:
        line[d + at.R] = loss.R
    return torch.from_numpy(line).to(DEVICE), update


def same(one, two, atol=1e-6):
    torch.testing.assert_close(one, two, rtol=0.0, atol=atol)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("d", "clock"), [(5, Clock()), (33, Clock(40, 0.05)), (70, Clock())])
def test_update_rows(d, clock, loss):
    t, row_of, rng = learned(d, clock)
    labels = np.array([LABELS, 0, 3, 7, LABELS - 1])
    labels = labels[np.argsort(rng.random(5))]
    learns = None if loss is not None else np.array([True, False, True, True, False])
    twin = copy.deepcopy(t)
    before = row_of.copy()
    line, update = line_of(t, d, row_of, labels, clock, loss, rng, room=7, learns=learns)
    twin.n = t.n
    fades = clock.rate > 0
    triton_functions.update_rows(t, line, 7, update.mode, fades=fades)
    exact = line[: at.line_size(d, 5)]
    twins.update_rows(twin, exact, 5, update.mode, fades=fades)
    for name in ("A", "w", "count", "label_of", "since", "row_of", "used", "F", "E"):
        same(getattr(t, name), getattr(twin, name))
    same(t.A16.float(), twin.A16.float(), atol=1e-3)
    assert (before != row_of).any()
    weight = twins.pack(torch.full((1, d, d), 2.0, device=DEVICE) - torch.eye(d, device=DEVICE))
    lost = ((t.A - t.A16.float()).double() ** 2 @ weight[0].double()).sqrt()[: t.n]
    assert (
        t.E[: t.n] >= lost + 2.0**-11 * (t.A.double() ** 2 @ weight[0].double()).sqrt()[: t.n]
    ).all()


@pytest.mark.parametrize(("d", "clock"), [(5, Clock()), (33, Clock(40, 0.05))])
def test_look_tiles(d, clock):
    t, row_of, rng = learned(d, clock)
    t.reserve(3 * TILE)
    line, _ = line_of(t, d, row_of, np.array([0]), clock, None, rng)
    q = torch.empty(padded_size(d), dtype=torch.float64, device=DEVICE)
    twins.prepare(line, d, q, q.float())
    bounds = torch.full((t.capacity,), -torch.inf, device=DEVICE)
    bounds[: t.n] = torch.rand(t.n, device=DEVICE)
    tiles = torch.tensor([1, 0], device=DEVICE)
    for least in (0.0, float(bounds[: t.n].sort(descending=True).values[2])):
        found = [torch.zeros((4, 2 * twins.PER_TILE), dtype=torch.float64, device=DEVICE)]
        found += [torch.zeros_like(found[0])]
        for functions, one in zip((triton_functions, twins), found, strict=True):
            given = line, q, bounds, tiles, torch.tensor([least], device=DEVICE), one
            functions.look_tiles(t, *given, fades=clock.rate > 0)
        same(*found, atol=1e-13)
        assert found[0][3, :2].tolist() == [0, t.n if least == 0 else 3]
        assert (found[0][0] >= 0).sum() == min(twins.PER_TILE, found[0][3, 1])


@pytest.mark.parametrize(("d", "clock"), [(5, Clock()), (33, Clock(40, 0.05)), (70, Clock())])
def test_looks_and_bounds(d, clock):
    t, row_of, rng = learned(d, clock)
    line, _ = line_of(t, d, row_of, np.array([0]), clock, None, rng)
    fades = clock.rate > 0
    size = padded_size(d)
    q = [torch.empty(size, dtype=torch.float64, device=DEVICE) for _ in range(2)]
    q32 = [torch.empty(size, dtype=torch.float32, device=DEVICE) for _ in range(2)]
    for functions, one, two in zip((triton_functions, twins), q, q32, strict=True):
        functions.prepare(line, d, one, two)
    same(*q, atol=1e-15)
    same(*q32)
    rows = torch.tensor([2, -1, 0, t.n - 1, 1], dtype=torch.int32, device=DEVICE)
    out = [torch.zeros((2, 5), dtype=torch.float64, device=DEVICE) for _ in range(2)]
    for functions, found in zip((triton_functions, twins), out, strict=True):
        functions.look_rows(t, line, q[0], rows, found, fades=fades)
    same(*out, atol=1e-13)
    margins = torch.zeros_like(out[0])
    triton_functions.look_rows(t, line, q[0], rows, margins, fades=fades, norms=False)
    assert torch.equal(margins[0], out[0][0])
    bounds = [torch.empty(t.capacity, device=DEVICE) for _ in range(2)]
    for functions, found in zip((triton_functions, twins), bounds, strict=True):
        functions.scan(t, line, q32[0], found, fades=fades)
    same(bounds[0][: t.n], bounds[1][: t.n], atol=1e-3)  # their slack for rounding differs
    every = torch.arange(t.n, dtype=torch.int32, device=DEVICE)
    exact = torch.zeros((2, t.n), dtype=torch.float64, device=DEVICE)
    twins.look_rows(t, line, q[0], every, exact, fades=fades)
    score = exact[0].clamp(-1.0, 1.0) + (0.4 * exact[1].sqrt()).clamp(max=2.0)
    for found in bounds:
        assert (found[: t.n] >= score).all()
        assert (found[t.n :] == -torch.inf).all()
        assert (found[: t.n] - score).max() < 1e-2
