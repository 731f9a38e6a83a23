"""The best labels of a context, found without looking at all of them: exact pruning.

Margins cost O(d) per label, norms O(d²). So all margins are computed, and of the norms upper bounds
(`norm_bounds.py`). Rows are then looked at in the order of their bounds, until the bound of the
next one is below the score of the last label that is wanted. Which rows are looked at depends on
the bounds; which labels are best does not.

Bounds are improved on the way: rows that were looked at in vain get better ones. That takes time,
so it is limited to a share of what a look at all labels costs, and the share follows how often a
new bound would have spared the look.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit._util.numba import use_compiled
from semibandit.models.model import Look, Vector, dense
from semibandit.models.norm_bounds import NormBounds, vectors_of
from semibandit.models.partial import Aim, Found
from semibandit.models.untouched import Untouched

if TYPE_CHECKING:
    from semibandit.models.full import FullState

__all__ = ["BestSearch"]

COMPILED = 100_000  # multiplications of a look from which a compiled search pays
PLAIN = 4_000_000  # and from which one by numpy does
TO_LOAD = 10_000_000_000  # and those in all that are worth loading, or compiling, it
SHARE = 0.4  # of a look's multiplications, from which a search is not worth while
LONGEST = 64  # searches that are left out after many that were not worth while
INVESTED = 0.5  # of a look's time, for better bounds if all of them help
LEAST = 0.02  # and if none does
COSTLY = 2  # vectors of a low-rank matrix for each of its bound, from which a bound is worth while
PRICE, OVERHEAD = 40, 60_000  # of a new bound, in multiplications of a look: 40 d² + 60,000
RECENT = 0.9  # how much the past counts when it is judged if they help


class LookedRows(NamedTuple):
    """Rows that were looked at: their norms and rint(score·grid)."""

    row: Ints
    norm2: Floats
    score: Floats
    last: float  # the score of the last label that is wanted; others are below it

    def joined(self, row: Ints, norm2: Floats, score: Floats, last: float) -> LookedRows:
        """These rows and more of them."""
        row, norm2 = np.concatenate([self.row, row]), np.concatenate([self.norm2, norm2])
        return LookedRows(row, norm2, np.concatenate([self.score, score]), last)


class BestSearch:
    """Searches one state, and remembers what makes that fast: nothing that decisions depend on.

    Parameters
    ----------
    d : int
        How many features a context has.
    dtype : dtype
        The type of the state's numbers.
    """

    def __init__(self, d: int, dtype: object) -> None:
        self.bounds = NormBounds(d, dtype)
        self.untouched = Untouched()
        self._left_out, self._next = 0, 1  # searches to be left out now, and after the next failure
        self._done = 0  # multiplications of looks that a compiled search might have spared
        self._credit, self._help = 0.0, 1.0  # multiplications to invest; how many bounds helped

    def pays(self, state: FullState, most: int) -> bool:
        """Whether a search for so many labels is expected to cost less than a look at all."""
        work = work_of(state)
        if 4 * most > len(state.row_of) or not (self._is_loaded(work) or work >= PLAIN):
            return False
        if self._left_out > 0:
            self._left_out -= 1
            self._earn(state, work)
            return False
        return True

    def _earn(self, state: FullState, work: int) -> None:
        """A slate more: so much may be invested in better bounds."""
        share = LEAST + INVESTED * self._help
        self._credit = min(self._credit + share * work, max(work, price_of(state)))

    def _is_loaded(self, work: int) -> bool:
        """Whether the search is compiled; it is loaded once enough has been done without it."""
        if use_compiled("best", work, least=COMPILED):
            return True
        self._done += work
        if work < COMPILED or not use_compiled("best", self._done, least=0, to_load=TO_LOAD):
            return False
        import semibandit.models.compiled_best  # noqa: F401

        return True

    def find(self, state: FullState, x: Vector, aim: Aim) -> Found:
        """The best labels of a context; see `BestState.best`."""
        plain = dense(x)
        vector = plain.astype(state.w.dtype, copy=False)
        cold = self.untouched.first(aim.most, state.row_of, aim.tie, aim.without, aim.turn)
        margin = np.empty(state.n)
        xx = float(vector @ vector)
        level = float(np.rint(min(aim.spread * math.sqrt(xx), aim.widest) * aim.grid))
        work = work_of(state)
        if use_compiled("best", work, least=COMPILED):
            rows = self._search_compiled(state, vector, aim, level, len(cold), margin)
        else:
            rows = self._search(state, vector, aim, level, len(cold), margin)
        self._earn(state, work)
        if aim.cap is None:  # searches for a label to be probed are wider, and rare
            self._adapt(state, vector, aim, rows, margin)
        row, norm2 = rows.row, rows.norm2
        labels, margin = state.label_of[row], margin[row]
        if len(cold):
            labels = np.concatenate([labels, cold])
            margin = np.concatenate([margin, np.zeros(len(cold))])
            norm2 = np.concatenate([norm2, np.full(len(cold), xx)])
        order = labels.argsort()
        return Found(labels[order], Look(plain, margin[order], norm2[order]), len(row))

    def _search_compiled(
        self, state: FullState, x: Floats, aim: Aim, level: float, n_cold: int, margin: Floats
    ) -> LookedRows:
        from semibandit.models.compiled_best import Scan, find_best

        n, bounds = state.n, self.bounds
        scan = Scan(
            n, aim.most, aim.R, aim.spread, aim.widest, aim.grid, level, n_cold,
            bounds.slack, bounds.drift, SHARE * work_of(state),
            state.count, factors_of(state), rows_out(state, aim),
        )  # fmt: skip
        upper, norm2, score, found = np.empty(n), np.empty(n), np.empty(n), np.empty(n, np.intp)
        table, x32 = bounds.reserve(n), x.astype(np.float32)
        # another thread may give a row a new bound: λ and vectors must be of the same one
        table = table._replace(bound_of=table.bound_of[:n].copy())
        here = margin, upper, found, norm2, score
        looked, last = find_best(x, x32, state.rows(), table, scan, *here)
        if looked < 0:
            return self._all(state, x, aim, level, n_cold, margin)
        return LookedRows(found[:looked], norm2[:looked], score[:looked], last)

    def _search(
        self, state: FullState, x: Floats, aim: Aim, level: float, n_cold: int, margin: Floats
    ) -> LookedRows:
        """The search by numpy: some rows at a time."""
        n = state.n
        margin[:] = state.w[:n] @ x
        upper = self._upper_scores(state, x, aim, margin)
        if not np.isfinite(upper.sum()):
            return self._all(state, x, aim, level, n_cold, margin)
        upper[rows_out(state, aim)] = -np.inf
        upper = upper * aim.grid + 1.0  # rint moves a score by half a step, and sums round
        best = np.full(n_cold, level)
        seen = LookedRows(np.empty(0, np.intp), np.empty(0), np.empty(0), -np.inf)
        some, work, most = 2 * aim.most, work_of(state), aim.most
        while True:
            open_rows = np.flatnonzero((upper >= seen.last) & (upper > -np.inf))
            if not len(open_rows):
                return seen
            if work_at(state, open_rows) > SHARE * work and len(seen.row):
                return self._all(state, x, aim, level, n_cold, margin)
            if len(open_rows) > some:
                open_rows = open_rows[np.argpartition(-upper[open_rows], some)[:some]]
            norm2 = norms_at(state, x, open_rows)
            score = np.rint(aim.scores(margin[open_rows], norm2) * aim.grid)
            best = np.concatenate([best, score])
            last = last_of(best, most)
            upper[open_rows] = -np.inf
            seen, some = seen.joined(open_rows, norm2, score, last), 4 * some

    def _all(
        self, state: FullState, x: Floats, aim: Aim, level: float, n_cold: int, margin: Floats
    ) -> LookedRows:
        """All rows that may be shown, looked at at once."""
        look, labels = state.look(x), state.label_of[: state.n]
        margin[:] = look.margin[labels]
        rows = np.ones(state.n, dtype=np.bool_)
        rows[rows_out(state, aim)] = False
        row = np.flatnonzero(rows)
        norm2 = look.norm2[labels[row]]
        score = np.rint(aim.scores(margin[row], norm2) * aim.grid)
        return LookedRows(row, norm2, score, last_of(np.append(score, [level] * n_cold), aim.most))

    def _adapt(
        self, state: FullState, x: Floats, aim: Aim, rows: LookedRows, margin: Floats
    ) -> None:
        """Leave out searches that are not worth while, and improve bounds that were too loose."""
        if 2 * len(rows.row) < state.n or work_at(state, rows.row) <= SHARE * work_of(state):
            self._next = max(1, self._next // 2)
            self._left_out = self._next - 1
        else:
            self._left_out, self._next = self._next, min(2 * self._next, LONGEST)
        price = price_of(state)
        if self._credit < price or len(rows.row) <= aim.most:
            return
        vain = rows.row[rows.score < rows.last]
        loose = vain[self.bounds.is_stale(vain, state.count) & is_costly(state, vain)]
        many = min(len(loose), int(self._credit / price))
        if not many:
            return
        chosen = loose[:: len(loose) // many][:many]
        self._credit -= price * many
        good = [
            self.bounds.improve(j, state.inverse(state.label_of[j]), int(state.count[j]))
            for j in chosen.tolist()
        ]
        upper = self._upper_scores(state, x, aim, margin)[chosen]
        helped = good & (upper * aim.grid + 1.0 < rows.last)
        self._help = RECENT**many * self._help + (1.0 - RECENT**many) * float(helped.mean())
        if helped.any():
            self._left_out, self._next = 0, 1

    def _upper_scores(self, state: FullState, x: Floats, aim: Aim, margin: Floats) -> Floats:
        """Upper bounds of the scores of all rows."""
        norm2 = self.bounds.upper(x, state.n, state.count)
        if state.fading is not None:
            norm2 = state.fading.capped(norm2, float(x @ x))
        return aim.scores(margin, norm2)


def work_of(state: FullState) -> int:
    """How many multiplications the norms of all labels take."""
    return state.d * (state.dense.n * state.d + state.low_rank.n)


def work_at(state: FullState, rows: Ints) -> int:
    """How many multiplications the norms of these rows take."""
    is_dense = state.dense.block_of[rows] >= 0
    return int(state.d * np.where(is_dense, state.d, state.count[rows]).sum())


def last_of(score: Floats, most: int) -> float:
    """The smallest of the `most` largest scores; -inf if there are fewer."""
    return -np.inf if len(score) < most else float(np.partition(score, -most)[-most])


def price_of(state: FullState) -> float:
    """What a new bound takes, in multiplications of a look."""
    return PRICE * float(state.d) ** 2 + OVERHEAD


def norms_at(state: FullState, x: Floats, rows: Ints) -> Floats:
    """x·A⁻¹x of these rows, as they count if matrices fade."""
    return state.look_at(x, state.label_of[rows]).norm2


def is_costly(state: FullState, rows: Ints) -> Bools:
    """Whether the norms of these rows cost much more than their bounds."""
    return (state.dense.block_of[rows] >= 0) | (state.count[rows] > COSTLY * vectors_of(state.d))


def factors_of(state: FullState) -> Floats:
    """The factors c of all rows if matrices fade; else an empty array."""
    return np.empty(0) if state.fading is None else state.fading.factors(state.n)


def rows_out(state: FullState, aim: Aim) -> Ints:
    """The rows of labels that may not be shown."""
    rows = state.row_of[aim.without]
    return rows[rows >= 0]
