"""The labels that can be best at some contexts: found by bounds, then looked at exactly.

1. `sample` and `set_tau`: a score that about `wanted` rows reach at each context, guessed.
2. `scan`: rows whose upper bound reaches tau at some context become *entries*, and are listed as
   candidates of that context. Whatever is not listed at a context has a score below its tau.
3. `refine`: margins and norms of all entries at all contexts, in float32.
4. `make_codes`: the same of candidates at their contexts with sums in float64, and their scores on
   the grid and ties as whole numbers to rank by.

Each is a Triton function (`scan_triton.py`) with a twin in plain torch here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from semibandit.models.gpu.contexts import SCALE, WINDOW, Contexts
from semibandit.models.gpu.functions import uses_triton
from semibandit.models.gpu.tensors import TILE, Tensors

__all__ = [
    "EMPTY",
    "ENTRIES",
    "LISTED",
    "CandidateLists",
    "codes_of",
    "rank_of",
    "rough_scores",
    "score_of",
    "upper_bounds",
]

LISTED = 960  # the most candidates of a context
ENTRIES = 32_768  # the most rows that are candidates of any context of a window
EMPTY = -(2**63)  # the code of no label: below all others
LAST = 2**31 - 1
ALL_BELOW = -(2**31)  # the tau of a context at which all rows are candidates, on the grid
SAMPLED = 512  # tiles that are sampled at least, if there are so many
STRIDE = 16  # of so many tiles one is sampled, if that is no more than 4 times as many
GROUP = 16  # of so many rows in a sampled tile the best bound is taken
FEW = 8192  # up to so many rows all of them are sampled, one by one
HALVINGS = 24  # by which tau is found
UNIT = 2.0**-23  # what an addition in float32 may take, relative to the sum
ROUNDING = 2.0**-20  # what float32 may take from a score besides
EVERY = 2.0**-15  # what each addition of 16 products may take from a norm, in units of E


@dataclass
class CandidateLists:
    """The candidates of up to `WINDOW` contexts; one such object serves all windows of a state."""

    entry_row: Any  # int32 (ENTRIES + more): the row of each entry
    n_entries: Any  # int32 (1): how many there are; it may be too many
    margin: Any  # float64 (entries×WINDOW)
    norm2: Any  # float64 (entries×WINDOW)
    listed: (
        Any  # int32 (WINDOW×LISTED): the entries that are candidates of each context, best first
    )
    n_listed: Any  # int32 (WINDOW): how many they are; it may be too many
    codes: Any  # int64 (WINDOW×LISTED): score on the grid and tie, see `codes_of`
    tau: Any  # float32 (WINDOW): what a bound must reach
    tau_grid: Any  # int64 (WINDOW): the same on the grid

    @classmethod
    def start(cls, device: Any, more: int = 0) -> CandidateLists:
        """Room for `ENTRIES` entries, and some more that a window may add."""
        whole, size = {"dtype": torch.int32, "device": device}, ENTRIES + more
        return cls(
            entry_row=torch.zeros(size, **whole),
            n_entries=torch.zeros(1, **whole),
            margin=torch.empty(size, WINDOW, dtype=torch.float64, device=device),
            norm2=torch.empty(size, WINDOW, dtype=torch.float64, device=device),
            listed=torch.zeros(WINDOW, LISTED, **whole),
            n_listed=torch.zeros(WINDOW, **whole),
            codes=torch.empty(WINDOW, LISTED, dtype=torch.int64, device=device),
            tau=torch.empty(WINDOW, device=device),
            tau_grid=torch.empty(WINDOW, dtype=torch.int64, device=device),
        )

    def find(
        self, tensors: Tensors, contexts: Contexts, R: float, grid: float, wanted: int
    ) -> None:
        """Find the candidates of all contexts.

        Parameters
        ----------
        tensors, contexts
            The rows, and the contexts at which they are looked at.
        R, grid : float
            Margins lie in [-R, R]; scores are compared as rint(score·grid).
        wanted : int
            About how many candidates each context is to have.
        """
        functions = functions_for(tensors.device)
        tiles, stride, group = -(-tensors.n // TILE), 1, 1
        if tensors.n > FEW:
            stride, group = -(-tiles // min(max(tiles // STRIDE, SAMPLED), 4 * SAMPLED)), GROUP
        best, place = None, 0
        if tensors.n > LISTED:
            best = functions.sample(tensors, contexts, R, stride, group)
            place = min(max(1, round(wanted / stride)), best.shape[1])
        functions.set_tau(best, place, contexts, R, grid, self)
        functions.scan(tensors, contexts, R, self)
        functions.refine(tensors, contexts, self)
        functions.make_codes(tensors, contexts, R, grid, self)
        self.codes, place = torch.sort(self.codes, dim=1, descending=True)
        self.listed = self.listed.gather(1, place)

    def find_exactly(self, tensors: Tensors, contexts: Contexts, R: float, grid: float) -> None:
        """Take the best rows as candidates, by exact scores, for few contexts: no row before them
        is left out. They are for the next round alone."""
        n, many = tensors.n, contexts.many
        at = contexts.at[:many].long()
        margin = (tensors.w[:n] @ contexts.block.X32[at].T).double()
        norm2 = (tensors.A[:n] @ contexts.block.Q32[at].T).double()
        score = score_of(margin, norm2, R, contexts.spread[:many], contexts.cap[:many])
        rank = tensors.tie_rank[tensors.label_of[:n].long()]
        codes, rows = torch.topk(codes_of(score, rank[:, None], grid), min(n, LISTED), dim=0)
        entries = torch.unique(rows)
        e, listed = len(entries), rows.shape[0]
        self.n_entries.fill_(e)
        self.entry_row[:e] = entries.int()
        self.margin[:e, :many], self.norm2[:e, :many] = margin[entries], norm2[entries]
        self.n_listed[:many] = listed
        self.listed[:many, :listed] = torch.searchsorted(entries, rows.T.contiguous()).int()
        self.codes[:many, :listed], self.codes[:many, listed:] = codes.T, EMPTY
        self.tau_grid.fill_(ALL_BELOW)


def functions_for(device: Any) -> Any:
    """The functions for this device: Triton's, or their twins in plain torch."""
    if uses_triton(device):
        from semibandit.models.gpu import scan_triton

        return scan_triton
    from semibandit.models.gpu import scan_twin

    return scan_twin


def upper_bounds(tensors: Tensors, contexts: Contexts, R: float, rows: Any) -> Any:
    """Upper bounds of the scores of these rows at all contexts, from A16 alone: rows×WINDOW.

    The norm of A16 is at most E away, for a q in half precision; the rest is rounding in float32.
    """
    lost = (tensors.d + 16) * UNIT * tensors.w[rows].norm(dim=1)[:, None] * contexts.xx.sqrt()
    more = (1.0 + tensors.A.shape[1] * EVERY) * tensors.E[rows, None]
    margin, width = _rough(tensors, contexts, R, rows, lost.float(), more)
    return margin + width + (R + width) * ROUNDING


def rough_scores(tensors: Tensors, contexts: Contexts, R: float, rows: Any) -> Any:
    """The same without what makes them upper bounds: scores that are off by little."""
    margin, width = _rough(tensors, contexts, R, rows, 0.0, 0.0)
    return margin + width


def _rough(
    tensors: Tensors, contexts: Contexts, R: float, rows: Any, lost: Any, more: Any
) -> tuple[Any, Any]:
    """Margins with `lost` added, and widths with `more` added to the norms."""
    at = contexts.at.long()
    margin = tensors.w[rows] @ contexts.block.X32[at].T + lost
    norm2 = (tensors.A16[rows].float() @ contexts.Q16.float() / SCALE).clamp(min=0.0) + more
    eps = (contexts.spread * contexts.xx.sqrt()).float()
    return margin.clamp(-R, R), torch.minimum(eps * norm2.sqrt(), contexts.cap.float())


def score_of(margin: Any, norm2: Any, R: float, spread: Any, cap: Any) -> Any:
    """clip(margin, -R, R) + min(spread·sqrt(norm2), cap), in float64."""
    width = spread * norm2.clamp(min=0.0).sqrt()
    return margin.clamp(-R, R) + torch.minimum(width, cap)


def codes_of(score: Any, rank: Any, grid: float) -> Any:
    """Scores on the grid and ranks among equals as whole numbers: the best label has the largest.

    Examples
    --------
    >>> best, next, last = codes_of(torch.tensor([0.5, 0.5, 0.25]), torch.tensor([3, 7, 0]), 4.0)
    >>> bool(best > next > last), rank_of(next).item(), (next >> 32).item()
    (True, 7, 2)
    """
    return ((score.double() * grid).round().long() << 32) + (LAST - rank.long())


def rank_of(codes: Any) -> Any:
    """The ranks among equals in `codes_of`."""
    return LAST - (codes & 0xFFFFFFFF)
