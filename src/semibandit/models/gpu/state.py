"""The state of `Full(device=...)`: weights and packed matrices on a GPU, or in torch on a CPU.

Labels that were shown have a row in the tensors; the host knows which. A look at some labels is
exact for the float32 numbers that are kept: sums are in float64.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import numpy as np
import torch

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit._util.ordering import turned
from semibandit.models.fading import Forgetful
from semibandit.models.fused import LossStep
from semibandit.models.gpu.batch_search import BatchSearch
from semibandit.models.gpu.device import find_device, reporting_memory
from semibandit.models.gpu.files import arrays_of, tensors_of
from semibandit.models.gpu.folds import fold
from semibandit.models.gpu.functions import functions_for
from semibandit.models.gpu.looks import Looks
from semibandit.models.gpu.numbers import Clock
from semibandit.models.gpu.packed import unpack
from semibandit.models.gpu.precision import GRID, error_of
from semibandit.models.gpu.ranking import Ranking
from semibandit.models.gpu.search import Candidates, Query, Search
from semibandit.models.gpu.tensors import Tensors
from semibandit.models.gpu.updates import Update, Updates, flags_of
from semibandit.models.model import NO_NORMS, NONE, Arrays, Look, Vector, dense, one_by_one
from semibandit.models.partial import Aim, Found
from semibandit.models.untouched import Untouched

__all__ = ["GpuState"]

NO_LABELS: Ints = np.empty(0, dtype=np.intp)
LARGEST = 1e30  # x·x from which bounds in float32 might overflow
FEW = 64  # rows that are looked at exactly first, if not many labels are wanted


class GpuState(Forgetful):
    """All labels, those that were shown with a row on the device.

    `undecided` counts the searches in which two of the best labels were so close that float32
    cannot tell which is better (`precision.py`), but not equal. A rank with a probe is two.
    """

    grid = GRID

    def __init__(self, n_labels: int, d: int, device: str) -> None:
        self.device = device
        self.t = Tensors.start(n_labels, d, find_device(device))
        self.functions = functions_for(self.t.device)
        self.row_of: Ints = np.full(n_labels, NONE, dtype=np.intp)
        self.undecided = 0
        self._start_work()

    def _start_work(self) -> None:
        """What is not part of what was learned: buffers, and what was found out for ranking."""
        self._untouched = Untouched()
        self._cold: Ints | None = None  # labels without a row, once they are few
        self._forget_tensors()
        self._ranks_of: Floats | None = None  # the ties that `tie_rank` is of
        self._alone = threading.Lock()  # `rank` may run in many threads, the buffers are shared

    def here(self) -> AbstractContextManager[object]:
        """A block in which functions start on the device of this state, if there are several."""
        device = self.t.device
        if device.type != "cuda" or torch.cuda.current_device() == device.index:
            return nullcontext()
        return cast(AbstractContextManager[object], torch.cuda.device(device))

    def _forget_tensors(self) -> None:
        """The tensors are others than before: so must be what works on them."""
        self._search: Search | None = None
        self._looks: Looks | None = None
        self._batch: BatchSearch | None = None
        self._updates: Updates | None = None

    @property
    def d(self) -> int:
        """How many features a context has."""
        return self.t.d

    @property
    def n(self) -> int:
        """How many labels have a row."""
        return self.t.n

    # -- looks ---------------------------------------------------------------------------------

    def look(self, x: Vector) -> Look:
        """Margins w_i·x and squared norms x·A_i⁻¹x, for every label i."""
        return self._look(dense(x), None, norms=True)

    def margins(self, x: Vector) -> Look:
        return self._look(dense(x), None, norms=False)

    def look_many(self, xs: Sequence[Vector]) -> tuple[Floats, Floats]:
        return one_by_one(self, xs)

    def look_at(self, x: Vector, labels: Ints) -> Look:
        return self._look(dense(x), labels, norms=True)

    def margins_at(self, x: Vector, labels: Ints) -> Look:
        return self._look(dense(x), labels, norms=False)

    def look_at_many(self, xs: Sequence[Vector], labels: Sequence[Ints]) -> list[Look]:
        return [self.look_at(x, some) for x, some in zip(xs, labels, strict=True)]

    def _look(self, x: Floats, labels: Ints | None, *, norms: bool) -> Look:
        rows = self.row_of if labels is None else self.row_of[labels]
        with self._alone, self.here():
            if self._looks is None:
                self._looks = Looks(self.t)
            with reporting_memory(self.t.device, self.t.n_labels, self.n, self.d):
                margin, norm2 = self._looks.look(x, self._clock(), rows, norms=norms)
        return Look(x, margin, norm2 if norms else NO_NORMS)

    def _clock(self) -> Clock:
        f = self.fading
        return Clock() if f is None else Clock(f.now, f.rate)

    # -- the best labels -----------------------------------------------------------------------

    def best(self, x: Vector, aim: Aim) -> Found:
        """The labels that are wanted, by a scan of bounds and a look at few rows."""
        if not float(np.dot(dense(x), dense(x))) < LARGEST:
            return self._all(x, aim)
        with self._alone, self.here():
            return self._best(dense(x), aim, None)

    def best_many(self, xs: Sequence[Vector], aims: Sequence[Aim]) -> list[Found]:
        """`best` for many contexts; one scan serves up to 64 of them, if nothing is forgotten."""
        plain = [*map(dense, xs)]
        if not all(float(np.dot(x, x)) < LARGEST for x in plain):
            return [*map(self.best, plain, aims)]
        with self._alone, self.here():
            candidates: list[Candidates | None] = [None] * len(plain)
            if len(plain) > 1 and self.n and self.fading is None:
                with reporting_memory(self.t.device, self.t.n_labels, self.n, self.d):
                    candidates = self._candidates(plain, aims)
            return [*map(self._best, plain, aims, candidates)]

    def _all(self, x: Vector, aim: Aim) -> Found:
        """All labels that may be shown, looked at exactly."""
        labels = np.setdiff1d(np.arange(len(self.row_of)), aim.without)
        return Found(labels, self.look_at(x, labels), len(labels))

    def _candidates(self, xs: Sequence[Floats], aims: Sequence[Aim]) -> list[Candidates | None]:
        """Candidates of all contexts by as few scans as possible; None for those that need more."""
        if self._batch is None:
            self._batch = BatchSearch(self.t.device)
        if not self._batch.fits(aims):
            return [None] * len(xs)
        self.set_ties(aims[0].tie)
        return self._batch.candidates(self.t, xs, aims)

    def _best(self, x: Floats, aim: Aim, candidates: Candidates | None) -> Found:
        """The labels that are wanted: these candidates, if no other can be among them."""
        out = self._rows_of(aim.without)
        cold = len(self.row_of) - self.n - (len(aim.without) - len(out))
        free = self._first_cold(min(aim.most, cold), aim)
        ranking = Ranking(aim, float(np.dot(x, x)), free)
        if self.n > len(out) and (candidates is None or not ranking.complete(candidates)):
            query = Query(x, aim.R, aim.spread, aim.widest, self._clock())
            with reporting_memory(self.t.device, self.t.n_labels, self.n, self.d):
                self._add_rows(ranking, query, out)
        self.undecided += ranking.is_undecided(error_of(aim.R))
        return ranking.found(x)

    def prefers_best(self, contexts: int, most: int) -> bool:
        """Whether `best` is expected to cost less than a look at all labels."""
        return 4 * most <= len(self.row_of)

    def _add_rows(self, ranking: Ranking, query: Query, out: Ints) -> None:
        """Look at more and more rows, until no other can be among the best."""
        if self._search is None:
            self._search = Search(self.t)
        count = FEW
        while count < 4 * (ranking.aim.most + min(len(out), FEW)):
            count *= 4
        # few rows are passed over when they are found; that many are none to begin with
        masked = torch.from_numpy(out).to(self.t.device) if len(out) > FEW else None
        without = ranking.aim.without if 0 < len(out) <= FEW else NO_LABELS
        while True:
            found = self._search.candidates(query, count, masked)
            if ranking.complete(found.except_for(without) if len(without) else found):
                return
            count *= 16

    def _first_cold(self, most: int, aim: Aim) -> Ints:
        """The first labels without a row that may be shown, by their ties."""
        if most <= 0:
            return NO_LABELS
        if len(self.row_of) - self.n > FEW:
            return self._untouched.first(most, self.row_of, aim.tie, aim.without, aim.turn)
        if self._cold is None:  # the last ones: all of them are known
            self._cold = np.flatnonzero(self.row_of < 0)
        labels = self._cold[self.row_of[self._cold] < 0]
        labels = labels[~np.isin(labels, aim.without)]
        return np.asarray(labels[turned(aim.tie[labels], aim.turn).argsort()][:most])

    def _rows_of(self, labels: Ints) -> Ints:
        """The rows of those of these labels that have one."""
        if not len(labels):
            return NO_LABELS
        rows = self.row_of[labels]
        return rows[rows >= 0]

    def set_ties(self, tie: Floats) -> None:
        """Have `tie_rank` on the device say the position of each label in the order of ties."""
        if self._ranks_of is not tie:
            ranks = np.empty(len(tie), dtype=np.int32)
            ranks[np.argsort(tie, kind="stable")] = np.arange(len(tie))
            self.t.tie_rank.copy_(torch.from_numpy(ranks))
            self._ranks_of = tie

    # -- learning ------------------------------------------------------------------------------

    def learn_at(self, x: Vector, labels: Ints, signs: Floats, step: LossStep) -> None:
        """Learn by one function on the device; the host does not wait for it."""
        self._update(dense(x), labels, None, signs, 0.0, step)

    def step_at(self, look: Look, labels: Ints, change: Floats, steps: Floats) -> None:
        self._update(dense(look.x), labels, None, change, steps)

    def step(self, look: Look, moved: Ints, change: Floats, shown: Ints, steps: Floats) -> None:
        labels = np.union1d(moved, shown)
        moves, forward = np.zeros(len(labels)), np.zeros(len(labels))
        learns = np.zeros(len(labels), dtype=np.bool_)
        moves[np.searchsorted(labels, moved)] = change
        places = np.searchsorted(labels, shown)
        forward[places], learns[places] = steps, True
        self._update(dense(look.x), labels, learns, moves, forward)

    def _update(
        self, x: Floats, labels: Ints, learns: Bools | None, change: Floats,
        steps: Floats | float, loss: LossStep | None = None,
    ) -> None:  # fmt: skip
        """Project and update these labels; those without a row get one. `learns` None is all."""
        if not len(labels):
            return
        rows = self.row_of[labels]
        new = (rows < 0).nonzero()[0]
        n = self.n + len(new)
        if len(new):
            rows[new] = np.arange(self.n, n)
            self.reserve(n)
        flags = flags_of(len(labels), new, learns)
        update = Update(x, self._clock(), rows, labels, flags, change, steps, n, loss)
        with self.here(), reporting_memory(self.t.device, self.t.n_labels, n, self.d):
            if self._updates is None:
                self._updates = Updates(self.t)
            self._updates.do(update)
        self.t.n, self.row_of[labels] = n, rows  # nothing can fail any more
        if self.fading is not None:
            self.fading.reserve(self.t.capacity)
            self.fading.touch(rows if learns is None else rows[learns])

    def reserve(self, rows: int) -> None:
        """Make room for so many rows; a `DeviceError` leaves everything as it was."""
        if rows > self.t.capacity:
            self._forget_tensors()
            self.t.reserve(rows)

    def take_rows(self, n: int) -> None:
        """Functions on the device have given rows up to n to labels: know them, too."""
        labels = self.t.label_of[self.n : n].cpu().numpy().astype(np.intp)
        self.row_of[labels] = np.arange(self.n, n)
        self.t.n = n

    # -- labels and files ----------------------------------------------------------------------

    def dimension(self, t: int) -> int:
        return self.d

    def add(self, n: int) -> None:
        self.t.add_labels(n)
        self.row_of = np.concatenate([self.row_of, np.full(n, NONE, dtype=np.intp)])
        self._forget_tensors()
        self._cold = None

    def reset(self, labels: Ints) -> None:
        """Make these labels untouched; the last rows take the places of theirs."""
        gone = self.row_of[labels]
        gone = np.sort(gone[gone >= 0])
        if not len(gone):
            return
        n = self.n - len(gone)
        holes = gone[gone < n]
        last = np.setdiff1d(np.arange(n, self.n), gone)  # as many as there are holes
        moved = self.t.label_of[n : self.n].cpu().numpy().astype(np.intp)[last - n]
        self.t.move_rows(last, holes, n, labels)
        self.row_of[labels] = NONE
        self.row_of[moved] = holes
        if self.fading is not None:
            self.fading.since[holes] = self.fading.since[last]
            self.fading.since[n:] = NONE
        self._untouched.restart()
        self._cold = None

    def arrays(self) -> Arrays:
        return arrays_of(self.t) | ({} if self.fading is None else self.fading.arrays(self.n))

    def restore(self, arrays: Arrays) -> None:
        tensors = tensors_of(arrays, self.t.n_labels, self.d, self.t.device)
        if self.fading is not None:
            self.fading = self.fading.restored(arrays, tensors.n)
            since = torch.from_numpy(self.fading.since.astype(np.int32))
            tensors.since[: tensors.n] = since.to(tensors.device)
            self.fading.reserve(tensors.capacity)
        self.t = tensors
        self.row_of = tensors.row_of.cpu().numpy().astype(np.intp)
        self._start_work()

    def inverse(self, label: int) -> Floats:
        """A_i⁻¹ of one label, as a copy; without the factor c of `fading`, if the state forgets."""
        row = int(self.row_of[label])
        if row < 0:
            return np.eye(self.d, dtype=np.float32)
        return np.asarray(unpack(self.t.A[row : row + 1], self.d)[0].cpu().numpy())

    def _n_matrices(self) -> int:
        return self.t.capacity

    def _fold(self, rows: Ints, g: Floats) -> None:
        fold(self.t, rows, g)
        assert self.fading is not None
        now = torch.tensor(self.fading.now, dtype=torch.int32)
        self.t.since[torch.from_numpy(rows).to(self.t.device)] = now.to(self.t.device)

    def __getstate__(self) -> dict[str, Any]:
        """For copy and pickle: what was learned, as arrays."""
        kept = {"device": self.device, "n_labels": len(self.row_of), "d": self.d}
        return kept | {"fading": self.fading, "arrays": self.arrays(), "undecided": self.undecided}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        GpuState.__init__(self, kept["n_labels"], kept["d"], kept["device"])
        self.fading, self.undecided = kept["fading"], kept["undecided"]
        self.restore(kept["arrays"])
