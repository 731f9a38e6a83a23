"""The Triton functions of a window are their twins."""

import copy

import numpy as np
import pytest
import torch
from replays import pair, shown, world

import semibandit as sb
from semibandit.models.gpu import (
    candidates,
    rounds_twin,
    scan_triton,
    scan_twin,
    window,
)
from semibandit.models.gpu.candidates import CandidateLists
from semibandit.models.gpu.contexts import ContextBlock, Contexts

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
GRID = 2.0**20

# the interpreter takes loop bounds from arrays of one number
pytestmark = pytest.mark.filterwarnings("ignore:Conversion of an array:DeprecationWarning")


@pytest.fixture
def twins(monkeypatch):
    """Play windows by the twins; call it to go back to Triton."""
    monkeypatch.setattr(candidates, "functions_for", lambda device: scan_twin)
    monkeypatch.setattr(window, "functions_for", lambda device: rounds_twin)
    return monkeypatch.undo


@pytest.mark.parametrize(("d", "bias", "n"), [(16, True, 500), (5, False, 300), (33, True, 300)])
def test_candidates(d, bias, n, twins):
    learner = pair(n, d, DEVICE, width=sb.Scaled(0.3), a=1.0, bias=bias)[1]
    sb.replay(learner, *world(n, d, n // 8), slots=10)
    t = learner._state.t
    X = np.random.default_rng(0).standard_normal((20, t.d))
    block = ContextBlock.of(X / np.linalg.norm(X, axis=1, keepdims=True), t.device)
    contexts = Contexts.of(block, np.arange(20), np.linspace(0.1, 2, 20), np.full(20, 2.0))
    found = []
    for functions in (scan_twin, scan_triton):
        into = CandidateLists.start(t.device)
        best = functions.sample(t, contexts, 1.0, 2, 16)
        torch.testing.assert_close(best, scan_twin.sample(t, contexts, 1.0, 2, 16))
        functions.set_tau(best, 5, contexts, 1.0, GRID, into)
        functions.scan(t, contexts, 1.0, into)
        functions.refine(t, contexts, into)
        functions.make_codes(t, contexts, 1.0, GRID, into)
        found.append(into)
    one, two = found
    torch.testing.assert_close(one.tau, two.tau)
    assert int(one.n_entries) == int(two.n_entries) > 20
    assert torch.equal(one.n_listed, two.n_listed)
    for b in range(20):
        many = int(one.n_listed[b])
        assert sorted(one.codes[b, :many].tolist()) == sorted(two.codes[b, :many].tolist())
    order = [into.entry_row[: int(into.n_entries)].argsort() for into in found]
    for name in ("margin", "norm2"):
        a, b = (getattr(into, name)[at] for into, at in zip(found, order, strict=True))
        torch.testing.assert_close(a, b, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("d", "options"),
    [
        (16, {"a": 0.3, "probe": 0.6, "width": sb.Scaled(0.05)}),
        (5, {"a": 0.5, "loss": sb.Logistic(2.0), "cost": sb.constant, "bias": False}),
        (20, {"a": 1.0, "at_least": 1}),
    ],
)
def test_rounds(d, options, twins):
    X, Y = world(40, d, 40)
    one = pair(40, d, DEVICE, **options)[1]
    sb.replay(one, X[:30], Y[:30], slots=4)
    two = copy.deepcopy(one)
    expected = shown(sb.replay(one, X[30:], Y[30:], slots=4))
    twins()
    assert shown(sb.replay(two, X[30:], Y[30:], slots=4)) == expected
    a, b = one._state.t, two._state.t
    n = a.n
    assert b.n == n
    assert torch.equal(a.label_of[:n], b.label_of[:n])
    for name in ("A", "A16", "F", "E", "w", "count", "row_of", "since", "used"):
        x, y = getattr(a, name), getattr(b, name)
        same = (x, y) if name in ("row_of", "used") else (x[:n], y[:n])
        torch.testing.assert_close(
            *(one.float() for one in same), rtol=0, atol=2e-3 if name == "A16" else 1e-6
        )


def test_more_labels_with_one_score_than_are_ranked(twins):
    """All labels have seen one and the same context: only ties decide, and no round is left out."""
    K, slots = 300, 10
    X, Y = np.tile([0.6, -0.8, 0.1], (K // slots + 2, 1)), np.zeros((K // slots + 2, K), np.int8)
    one = pair(K, 3, DEVICE, a=1.0, scale="unit", bias=False)[1]
    sb.replay(one, X[:-2], Y[:-2], slots)
    two = copy.deepcopy(one)
    expected = shown(sb.replay(one, X[-2:], Y[-2:], slots))
    twins()
    assert shown(sb.replay(two, X[-2:], Y[-2:], slots)) == expected
