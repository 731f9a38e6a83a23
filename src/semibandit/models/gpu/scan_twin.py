"""Finding candidates in plain torch: the twins of `scan_triton.py`, which they must match."""

from __future__ import annotations

from typing import Any

import torch

from semibandit.models.gpu.candidates import (
    ALL_BELOW,
    EMPTY,
    ENTRIES,
    HALVINGS,
    LISTED,
    CandidateLists,
    codes_of,
    rough_scores,
    score_of,
    upper_bounds,
)
from semibandit.models.gpu.contexts import Contexts
from semibandit.models.gpu.tensors import TILE, Tensors

__all__ = ["make_codes", "refine", "sample", "scan", "set_tau"]


def sample(tensors: Tensors, contexts: Contexts, R: float, stride: int, group: int) -> Any:
    """The best score of each `group` of rows, roughly, in every `stride`-th tile: WINDOW×groups."""
    tiles = torch.arange(0, -(-tensors.n // TILE), stride, device=tensors.device)
    rows = (tiles[:, None] * TILE + torch.arange(TILE, device=tensors.device)).flatten()
    scores = rough_scores(tensors, contexts, R, rows)
    scores[rows >= tensors.n] = -torch.inf
    return scores.T.reshape(scores.shape[1], -1, group).amax(dim=2)


def set_tau(
    best: Any, place: int, contexts: Contexts, R: float, grid: float, into: CandidateLists
) -> None:
    """Set tau to a score that `place` of the best ones reach, found by bisection; -inf if 0.

    Nothing is listed any more.
    """
    into.n_entries.zero_()
    into.n_listed.zero_()
    if place:
        low, high = best.new_full((len(best),), -R - 1.0), best.amax(dim=1)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            enough = (best >= middle[:, None]).sum(dim=1) >= place
            low, high = torch.where(enough, middle, low), torch.where(enough, high, middle)
        into.tau.copy_(torch.maximum(low, (contexts.least - 2.0 / grid).float()))
        into.tau_grid.copy_((into.tau.double() * grid).round())
    else:
        into.tau.fill_(-torch.inf)
        into.tau_grid.fill_(ALL_BELOW)
    into.tau[contexts.many :] = torch.inf


def scan(tensors: Tensors, contexts: Contexts, R: float, into: CandidateLists) -> None:
    """List the rows whose bounds reach tau, at each context."""
    bounds = upper_bounds(tensors, contexts, R, slice(0, tensors.n))
    reach = bounds >= into.tau
    rows = reach.any(dim=1).nonzero().flatten()
    into.n_entries.fill_(len(rows))
    into.n_listed.copy_(reach.sum(dim=0))
    rows = rows[:ENTRIES]
    into.entry_row[: len(rows)] = rows.int()
    for b in range(contexts.many):
        entries = reach[rows, b].nonzero().flatten()[:LISTED]
        into.listed[b, : len(entries)] = entries.int()


def refine(tensors: Tensors, contexts: Contexts, into: CandidateLists) -> None:
    """Margins and norms of all entries at all contexts."""
    entries = slice(0, min(int(into.n_entries), ENTRIES))
    rows = into.entry_row[entries].long()
    at = contexts.at.long()
    into.margin[entries] = tensors.w[rows].double() @ contexts.block.X[at].T
    into.norm2[entries] = tensors.A[rows].double() @ contexts.block.Q[at].T


def make_codes(
    tensors: Tensors, contexts: Contexts, R: float, grid: float, into: CandidateLists
) -> None:
    """The codes of all candidates, `EMPTY` past them."""
    for b in range(contexts.many):
        n = min(int(into.n_listed[b]), LISTED)
        entries = into.listed[b, :n].long()
        look = into.margin[entries, b], into.norm2[entries, b]
        score = score_of(*look, R, contexts.spread[b], contexts.cap[b])
        labels = tensors.label_of[into.entry_row[entries].long()].long()
        into.codes[b, :n] = codes_of(score, tensors.tie_rank[labels], grid)
        into.codes[b, n:] = EMPTY
