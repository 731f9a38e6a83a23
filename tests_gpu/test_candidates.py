"""Candidates: bounds are never below scores, and no row that reaches tau is left out."""

import numpy as np
import pytest
import torch
from replays import pair

from semibandit.models.gpu.candidates import (
    CandidateLists,
    codes_of,
    rank_of,
    score_of,
    upper_bounds,
)
from semibandit.models.gpu.contexts import WINDOW, ContextBlock, Contexts
from semibandit.models.gpu.rounds_twin import is_undecided

GRID = 2.0**20


@pytest.fixture(params=[8, 33])
def learned(request, device):
    """Tensors of a learner with more labels than can be listed, and contexts of any length."""
    d, rng = request.param, np.random.default_rng(0)
    learner = pair(1400, d, device, bias=False)[1]
    state = learner._state
    for x in rng.standard_normal((60, d)) / np.sqrt(d):
        labels = rng.choice(1400, 100, replace=False)
        look = state.margins_at(x, labels)
        state.step_at(look, labels, np.zeros(100), rng.standard_normal(100))
    state.set_ties(rng.permutation(1400).astype(float))
    t = state.t
    assert t.n > 1200
    X = rng.standard_normal((50, d)) * np.geomspace(1e-3, 1e3, 50)[:, None]
    block = ContextBlock.of(X, t.device)
    spread = rng.uniform(0.05, 2.0, 50)
    cap = np.where(np.arange(50) % 5 == 0, np.inf, 2.0)
    return t, Contexts.of(block, np.arange(50), spread, cap)


def exact_scores(t, contexts):
    at = contexts.at.long()
    margin = t.w[: t.n].double() @ contexts.block.X[at].T
    norm2 = t.A[: t.n].double() @ contexts.block.Q[at].T
    return score_of(margin, norm2, 1.0, contexts.spread, contexts.cap)


def test_no_bound_is_below_its_score(learned):
    t, contexts = learned
    gap = upper_bounds(t, contexts, 1.0, slice(0, t.n)).double() - exact_scores(t, contexts)
    assert gap[:, : contexts.many].min() >= 0
    unit = (contexts.xx.sqrt() * contexts.spread)[: contexts.many]
    assert (gap[:, : contexts.many] <= 0.1 * unit + 1e-4).all()  # and not far above it


def test_all_rows_that_reach_tau_are_candidates(learned):
    t, contexts = learned
    found = CandidateLists.start(t.device)
    found.find(t, contexts, 1.0, GRID, wanted=100)
    scores = exact_scores(t, contexts)
    for b in range(contexts.many):
        n = int(found.n_listed[b])
        entries = found.listed[b, :n].long()
        rows = found.entry_row[entries].long()
        reach = set((scores[:, b] >= found.tau[b].double()).nonzero().flatten().tolist())
        assert reach <= set(rows.tolist())
        assert len(reach) >= 90
        ranks = t.tie_rank[t.label_of[rows].long()]
        codes = codes_of(scores[rows, b], ranks, GRID)
        assert (found.codes[b, :n] >> 32).sub(codes >> 32).abs().max() <= 1
        assert torch.equal(rank_of(found.codes[b, :n]), rank_of(codes))
        assert (found.norm2[entries, b] / contexts.xx[b]).max() <= 1.0 + 1e-6


def test_exact_candidates_are_the_best_rows(learned):
    t, contexts = learned
    one = Contexts.of(contexts.block, np.array([10, 11]), np.array([0.3, 2.0]), np.full(2, 2.0))
    found = CandidateLists.start(t.device)
    found.find_exactly(t, one, 1.0, GRID)
    scores = exact_scores(t, one)
    for b in range(2):
        rows = found.entry_row[found.listed[b].long()].long()
        left = torch.ones(t.n, dtype=torch.bool, device=t.device)
        left[rows] = False
        assert scores[rows, b].min() >= scores[left, b].max() - 2.0 / GRID


def test_contexts_past_the_end_have_no_candidates(learned):
    t, contexts = learned
    found = CandidateLists.start(t.device)
    found.find(t, contexts, 1.0, GRID, wanted=100)
    assert found.n_listed[contexts.many :].tolist() == [0] * (WINDOW - contexts.many)


def test_scores_next_to_each_other_on_the_grid_are_undecided():
    ranks = torch.arange(3)
    for levels, expected in (([9.0, 8.0, 2.0], True), ([9.0, 9.0, 2.0], False)):
        codes = codes_of(torch.tensor(levels), ranks, 1.0)
        assert is_undecided(codes) is expected
