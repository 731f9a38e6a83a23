"""The search for many contexts: one pass over the half-precision copy for up to 64 of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from semibandit._util.arrays import Floats, Ints
from semibandit.models.gpu.candidates import EMPTY, ENTRIES, LISTED, CandidateLists
from semibandit.models.gpu.contexts import WINDOW, ContextBlock, Contexts
from semibandit.models.gpu.search import Candidates
from semibandit.models.gpu.tensors import Tensors
from semibandit.models.partial import Aim

__all__ = ["BatchSearch"]

WANTED = 256  # about how many candidates a context has


class BatchSearch:
    """Buffers for many contexts at a time; they serve all tensors on one device."""

    def __init__(self, device: Any) -> None:
        self.lists = CandidateLists.start(device)
        self.without: Ints | None = None
        self.hidden: Any = None

    def fits(self, aims: Sequence[Aim]) -> bool:
        """Whether these aims can be looked for together: all but spread, cap and most are equal."""
        first = aims[0]
        most = max(aim.most for aim in aims)
        return 4 * most <= LISTED and all(
            aim.tie is first.tie
            and aim.without is first.without
            and (aim.R, aim.grid) == (first.R, first.grid)
            for aim in aims
        )

    def candidates(
        self, t: Tensors, xs: Sequence[Floats], aims: Sequence[Aim]
    ) -> list[Candidates | None]:
        """Candidates of each context, among them its best ones; None if there are too many.

        `tie_rank` of the tensors must be that of the aims' ties.
        """
        found: list[Candidates | None] = []
        for first in range(0, len(xs), WINDOW):
            found += self._found(t, xs[first : first + WINDOW], aims[first : first + WINDOW])
        return found

    def _found(
        self, t: Tensors, xs: Sequence[Floats], aims: Sequence[Aim]
    ) -> list[Candidates | None]:
        block = ContextBlock.of(np.array(xs), t.device)
        spread, cap = np.array([(aim.spread, aim.widest) for aim in aims]).T
        contexts = Contexts.of(block, np.arange(len(xs)), spread, cap)
        most = max(aim.most for aim in aims)
        wanted = min(max(WANTED, 4 * most), LISTED // 2)
        self.lists.find(t, contexts, aims[0].R, aims[0].grid, wanted)
        best = self._best(t, contexts.many, min(2 * most + 16, LISTED), aims[0].without)
        return [*map(_taken, best.cpu().numpy(), aims)]

    def _best(self, t: Tensors, many: int, count: int, without: Ints) -> Any:
        """By context: labels, margins and norms of the best candidates, and tau (many×4×count)."""
        lists = self.lists
        place = torch.arange(LISTED, device=t.device)
        there = place < lists.n_listed[:many, None]
        listed = torch.where(there, lists.listed[:many], 0).long()
        labels = t.label_of[lists.entry_row[listed].long()].long()
        if len(without):
            there &= ~self._hidden(t, without)[labels]
        codes = torch.where(there, lists.codes[:many], EMPTY)
        best, place = torch.topk(codes, count, dim=1)
        entry = listed.gather(1, place)
        context = torch.arange(many, device=t.device)[:, None]
        found = torch.empty((many, 4, count), dtype=torch.float64, device=t.device)
        found[:, 0] = torch.where(best == EMPTY, -1, labels.gather(1, place))
        found[:, 1], found[:, 2] = lists.margin[entry, context], lists.norm2[entry, context]
        too_many = (lists.n_listed[:many] > LISTED) | (lists.n_entries > ENTRIES)
        found[:, 3] = torch.where(too_many, torch.inf, lists.tau[:many])[:, None]
        return found

    def _hidden(self, t: Tensors, without: Ints) -> Any:
        """Whether each label may not be shown."""
        if without is not self.without or len(self.hidden) != t.n_labels:
            hidden = np.zeros(t.n_labels, dtype=np.bool_)
            hidden[without] = True
            self.without, self.hidden = without, torch.from_numpy(hidden).to(t.device)
        return self.hidden


def _taken(found: Floats, aim: Aim) -> Candidates | None:
    """One context's part of what came from the device."""
    rest = float(found[3, 0])
    if rest == np.inf:
        return None
    there = found[0] >= 0
    labels, margin, norm2 = found[0, there].astype(np.intp), found[1, there], found[2, there]
    if there.all():  # others may have been left out that are as good as the last
        rest = max(rest, float(aim.scores(margin[-1:], norm2[-1:])[0]))
    return Candidates(labels, margin, norm2, rest)
