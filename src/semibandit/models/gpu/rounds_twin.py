"""The rounds of a window in plain torch: the twin of `rounds_triton.py`, which it must match."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from semibandit.models.gpu.candidates import (
    EMPTY,
    ENTRIES,
    LISTED,
    codes_of,
    rank_of,
    score_of,
)
from semibandit.models.gpu.contexts import WINDOW, Contexts
from semibandit.models.gpu.packed import pack, unpack
from semibandit.models.gpu.tensors import shadow
from semibandit.models.gpu.window import (
    DONE,
    HEAD,
    LAST_ENTRY,
    SHOWN,
    UNDECIDED,
    USED,
    DeviceBlock,
    Plan,
    Window,
)

__all__ = ["begin", "finish", "play_rounds"]


def begin(window: Window) -> None:
    """Enter the candidates into `entry_of_rank`; nothing has been shown in this window."""
    t, found = window.tensors, window.candidates
    n = min(int(found.n_entries), ENTRIES)
    labels = t.label_of[found.entry_row[:n].long()].long()
    window.entry_of_rank[t.tie_rank[labels].long()] = torch.arange(
        n, dtype=torch.int32, device=t.device
    )
    window.place_of.fill_(-1)


def finish(window: Window) -> None:
    """Close: the half-precision copies of the rows that changed; no label has an entry any more."""
    t, found, meta = window.tensors, window.candidates, window.meta
    entries = window.entry_at[: int(meta[SHOWN])].long()
    rows = found.entry_row[entries].long()
    t.A16[rows], t.F[rows], t.E[rows] = shadow(t.A[rows], t.d)
    window.entry_of_rank.fill_(-1)


def play_rounds(
    window: Window, block: DeviceBlock, contexts: Contexts, plan: Plan, first: int
) -> None:
    """Play the rounds of the plan, of which the first is number `first` of the block."""
    played = Rounds(window, block, contexts, plan, first)
    overflow = int(window.candidates.n_entries) > ENTRIES
    while not overflow and played.t < len(plan.slots) and played.play_round():
        pass
    found = {DONE: played.t, USED: played.n, SHOWN: played.shown, HEAD: played.head}
    found |= {LAST_ENTRY: played.entries, UNDECIDED: played.undecided}
    window.tensors.used.fill_(played.n)
    window.meta.zero_()
    for place, value in found.items():
        window.meta[place] = value


class Picked(NamedTuple):
    """Labels of a slate: their ranks, entries (-1 if they were never shown) and looks."""

    rank: Any
    entry: Any
    margin: Any
    norm2: Any


class Rounds:
    """What the rounds of one window know: counters, and the tensors of the window."""

    def __init__(
        self, window: Window, block: DeviceBlock, contexts: Contexts, plan: Plan, first: int
    ) -> None:
        self.window, self.block, self.contexts, self.plan = window, block, contexts, plan
        self.first, self.t, self.n, self.head = first, 0, window.tensors.n, window.head
        self.entries = min(int(window.candidates.n_entries), ENTRIES)
        self.shown = self.undecided = 0

    def play_round(self) -> bool:
        """Play the next round; False, and nothing changes, if its slate is not certain."""
        rule, plan = self.window.rule, self.plan
        b, S = int(plan.main[self.t]), int(plan.slots[self.t])
        best = torch.topk(self._codes(b, S), S + 1).values
        if S and not self._is_certain(best[S - 1], b):
            return False
        picked = self._picked(best[:S], b)
        c = self.contexts
        score = score_of(picked.margin, picked.norm2, rule.R, c.spread[b], c.cap[b])
        size = max(cut(score, rule), min(rule.at_least, S))
        picked = Picked(*(one[:size] for one in picked))
        probed = int(plan.probed[self.t])
        if probed >= 0 and size < S:
            extra = self._probe(probed, picked)
            if not self._is_certain(extra, probed):
                return False
            last = self._picked(extra[None], probed)
            picked = Picked(*(torch.cat(pair) for pair in zip(picked, last, strict=True)))
        self._learn(picked, b, max(b, probed))
        self.undecided += is_undecided(best)
        self.t += 1
        return True

    def _codes(self, b: int, S: int) -> Any:
        """The codes of all labels that can be shown at context b, and of S that never were."""
        w, found = self.window, self.window.candidates
        n = int(found.n_listed[b])
        if n > LISTED:  # too many for the list: not even the first is certain
            return found.codes.new_full((S + 1,), EMPTY)
        codes = found.codes[b, :n][w.place_of[found.listed[b, :n].long()] < 0]
        untouched = w.queue[self.head : self.head + S + 1]
        score = self.contexts.numbers.new_full((len(untouched),), self.contexts.untouched[b])
        queue = codes_of(score, untouched, w.rule.grid)
        codes = torch.cat([w.codes[b, : self.shown], codes, queue])
        return torch.cat([codes, codes.new_full((max(0, S + 1 - len(codes)),), EMPTY)])

    def _is_certain(self, code: Any, b: int) -> bool:
        """Whether no label that is not a candidate can come before this one."""
        return bool(code != EMPTY and (code >> 32) > self.window.candidates.tau_grid[b])

    def _picked(self, codes: Any, b: int) -> Picked:
        """Look up these labels, and what is known of them at context b."""
        w, found = self.window, self.window.candidates
        rank = rank_of(codes).long()
        entry = w.entry_of_rank[rank].long()
        old, at = entry >= 0, entry.clamp(min=0)
        margin = torch.where(old, found.margin[at, b], 0.0)
        xx = self.contexts.xx[b]
        return Picked(rank, entry, margin, torch.where(old, found.norm2[at, b], xx))

    def _probe(self, b: int, picked: Picked) -> Any:
        """The code of the label to be probed: the best that was not picked, by context b."""
        codes = self._codes(b, len(picked.rank) + 1)
        codes = codes[~torch.isin(rank_of(codes), picked.rank)]
        return codes.max() if len(codes) else codes.new_tensor(EMPTY)

    def _learn(self, picked: Picked, b: int, last: int) -> None:
        """Answer the round and update the labels shown, which changes contexts after `last`."""
        w, t, found, c = self.window, self.window.tensors, self.window.candidates, self.contexts
        labels = w.label_of_rank[picked.rank].long()
        hit = torch.isin(labels.int(), self._relevant())
        self._report(labels, hit)
        if not len(labels):
            return
        new = picked.entry < 0
        entry, row = self._rows(picked, labels, new)
        rule, X = w.rule, c.block.X[c.at.long()]
        A, wi = unpack(t.A[row], t.d).double(), t.w[row].double()
        A[new], wi[new] = torch.eye(t.d, dtype=torch.float64, device=t.device), 0.0
        u = A @ X[b]
        norm2, margin = u @ X[b], picked.margin
        inside = margin.clamp(-rule.R, rule.R)
        move = torch.where(inside != margin, (inside - margin) / norm2, 0.0)
        amount = move + step_size(hit, inside, rule) / (1.0 + norm2)
        v = u / (1.0 + norm2).sqrt()[:, None]
        t.w[row] = (wi + amount[:, None] * u).float()
        t.A[row] = pack(A - v[:, :, None] * v[:, None, :]).float()
        t.count[row] = torch.where(new, 0, t.count[row]) + 1
        later = slice(last + 1, WINDOW)
        m = t.w[row].double() @ X[later].T
        before = torch.where(new[:, None], c.xx[later], found.norm2[entry, later])
        n2 = before - (v @ X[later].T) ** 2
        found.margin[entry, later], found.norm2[entry, later] = m, n2
        score = score_of(m, n2, rule.R, c.spread[later], c.cap[later])
        codes = codes_of(score, picked.rank[:, None], rule.grid)
        w.codes[later, w.place_of[entry].long()] = codes.T

    def _rows(self, picked: Picked, labels: Any, new: Any) -> tuple[Any, Any]:
        """Entries and rows of the labels shown: new ones, if they had none."""
        w, t, found = self.window, self.window.tensors, self.window.candidates
        more = torch.cumsum(new, 0) - 1
        entry = torch.where(new, self.entries + more, picked.entry)
        found.entry_row[entry[new]] = (self.n + more[new]).int()
        row = found.entry_row[entry].long()
        t.row_of[labels[new]], t.label_of[row[new]] = row[new].int(), labels[new].int()
        t.since[row[new]] = -1
        w.entry_of_rank[picked.rank[new]] = entry[new].int()
        fresh = w.place_of[entry] < 0
        place = self.shown + torch.cumsum(fresh, 0) - 1
        w.place_of[entry[fresh]] = place[fresh].int()
        w.entry_at[place[fresh]] = entry[fresh].int()
        many = int(new.sum())
        self.n, self.head = self.n + many, self.head + many
        self.entries, self.shown = self.entries + many, self.shown + int(fresh.sum())
        return entry, row

    def _relevant(self) -> Any:
        t, ptr = self.first + self.t, self.block.ptr
        return self.block.indices[int(ptr[t]) : int(ptr[t + 1])]

    def _report(self, labels: Any, hit: Any) -> None:
        t, block, size = self.first + self.t, self.block, len(labels)
        block.slates[t, :size] = labels.int()
        block.hits[t, :size] = hit.to(torch.int8)
        block.sizes[t] = size


def is_undecided(best: Any) -> bool:
    """Whether scores of the best labels are next to each other on the grid: perhaps float32 cannot
    tell which is better."""
    level = best[best != EMPTY] >> 32
    return bool((level[:-1] - level[1:] == 1).any())


def step_size(hit: Any, inside: Any, rule: Any) -> Any:
    """s·g(s·margin)/c''_L with s = 1 for a relevant label and -1 for another (step 5)."""
    sign = torch.where(hit, 1.0, -1.0)
    m = sign * inside
    slope = 1.0 / (1.0 + m.exp()) if rule.logistic else 1.0 - m
    return sign * slope / rule.c_L2


def cut(score: Any, rule: Any) -> int:
    """Lemma 1: how many labels to show, whose scores are given, best first."""
    if not len(score):
        return 0
    m = score.clamp(-rule.R, rule.R)
    p = 1.0 / (1.0 + (-m).exp()) if rule.logistic else 0.5 * (1.0 + m)
    missed = torch.cumsum(1.0 - p, 0)
    s = torch.arange(1, len(p) + 1, device=p.device)
    wrong = missed if rule.constant else torch.cumsum(missed, 0) / s
    J = (1.0 - rule.a) * wrong - rule.a * torch.cumsum(p, 0)
    good = (J.min().clamp(max=0.0) + rule.tolerance >= J).nonzero()
    return int(good[-1]) + 1 if len(good) else 0
