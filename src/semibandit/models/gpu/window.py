"""A window on a device: the next rounds of a replay, played there one after the other, exactly.

1. *Open*: the candidates of all rounds are found at once (`candidates.py`).
2. *Play* (`rounds_twin.py`, `rounds_triton.py`): each round ranks the labels that were shown in
   this window, the first ones never shown, and its candidates; cuts by Lemma 1; is answered; and
   updates the labels shown, with their margins and norms at all later contexts of the window. If a
   label that is no candidate could be in a slate, the window ends before that round.
3. *Close*: A16, F and E of the rows that changed.

While the device plays, the next window is opened already, as if all rounds of this one will be
played and no new label shown. If it turns out otherwise, it is opened again.

Labels are known by their *rank* here: the position in the fixed order among equal labels.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from semibandit._util.arrays import Bools, Floats, Ints
from semibandit.errors import DeviceError
from semibandit.models.gpu.candidates import ENTRIES, LISTED, CandidateLists
from semibandit.models.gpu.contexts import WINDOW, ContextBlock, Contexts
from semibandit.models.gpu.device import reporting_memory
from semibandit.models.gpu.functions import uses_triton
from semibandit.models.gpu.state import GpuState
from semibandit.models.gpu.tensors import Tensors

__all__ = ["MOST_SLOTS", "DeviceBlock", "Rule", "Window"]

TOUCHED = 1024  # the most labels that are shown in a window
MOST_SLOTS = 64  # the most labels of a slate
WANTED = 256  # about how many candidates a context has
# what the rounds say when they end
DONE, USED, SHOWN, HEAD, LAST_ENTRY, ERROR, UNDECIDED = range(7)


class Rule(NamedTuple):
    """How slates are decided and learned, in numbers."""

    R: float  # margins lie in [-R, R]
    logistic: bool  # the surrogate: logistic or square
    c_L2: float  # c''_L, which divides the steps of learning
    a: float  # the weight of missed labels
    at_least: int  # how many labels to show at least
    constant: bool  # constant costs, otherwise decreasing ones
    probe_spread: float  # the spread by which labels to be probed are ordered
    grid: float
    tolerance: float  # slates whose J differ by no more are ties


@dataclass(frozen=True, eq=False)
class DeviceBlock:
    """A block of rounds on the device, and what was shown in them."""

    contexts: ContextBlock
    ptr: Any  # int32: the relevant labels of round t are indices[ptr[t]:ptr[t + 1]], sorted
    indices: Any  # int32
    slates: Any  # int32 (rounds×most), -1 past the end
    hits: Any  # int8 (rounds×most)
    sizes: Any  # int32 (rounds)
    spread: Floats  # on the host, as the following: of each round
    slots: Ints  # how many labels may be shown
    probe: Bools  # whether one more may be shown

    @classmethod
    def of(
        cls, X: Floats, spread: Floats, ptr: Ints, indices: Ints, slots: Ints, probe: Bools,
        most: int, device: Any,
    ) -> DeviceBlock:  # fmt: skip
        """Copy a block to the device."""
        rounds = len(X)
        whole = {"dtype": torch.int32, "device": device}
        return cls(
            contexts=ContextBlock.of(X, device),
            ptr=torch.as_tensor(ptr).to(**whole),
            indices=torch.as_tensor(indices).to(**whole),
            slates=torch.full((rounds, most), -1, **whole),
            hits=torch.zeros((rounds, most), dtype=torch.int8, device=device),
            sizes=torch.zeros(rounds, **whole),
            spread=spread,
            slots=slots,
            probe=probe,
        )


class Window:
    """Plays windows on one state, which nobody else may change meanwhile.

    Parameters
    ----------
    state : GpuState
        The state.
    rule : Rule
        How slates are decided and learned.
    rows : array of int
        The labels that may be shown.
    tie : array of float
        The order among equal labels, by label: the smallest first.
    """

    def __init__(self, state: GpuState, rule: Rule, rows: Ints, tie: Floats) -> None:
        self.state, self.rule, self.wanted = state, rule, WANTED
        self.ahead: Opened | None = None  # the next window, opened while this one is played
        self.steady = False  # whether all of the last window was played, and no new label shown
        state.set_ties(tie)
        with reporting_memory(state.t.device, state.t.n_labels, state.n, state.d):
            self._allocate(rows)

    def _allocate(self, rows: Ints) -> None:
        """Make the tensors of a window, which are the same for all windows."""
        state, t, device = self.state, self.state.t, self.state.t.device
        whole = {"dtype": torch.int32, "device": device}
        rank, n_labels = t.tie_rank.long(), t.n_labels
        self.label_of_rank = torch.empty(n_labels, **whole)
        self.label_of_rank[rank] = torch.arange(n_labels, **whole)
        new = torch.zeros(n_labels, dtype=torch.bool, device=device)
        new[rank[torch.from_numpy(rows[state.row_of[rows] < 0]).to(device)]] = True
        self.queue = new.nonzero().flatten().to(torch.int32)  # ranks of labels never shown
        self.head = 0  # how many of them have been shown since
        self.candidates = CandidateLists.start(device, more=TOUCHED)
        self.entry_of_rank = torch.full((n_labels,), -1, **whole)
        self.place_of = torch.full((ENTRIES + TOUCHED,), -1, **whole)  # entry -> its place below
        self.entry_at = torch.zeros(TOUCHED, **whole)  # the labels shown in this window
        self.codes = torch.empty(WINDOW, TOUCHED, dtype=torch.int64, device=device)
        self.meta = torch.zeros(8, **whole)
        self.barrier = torch.zeros(1, **whole)

    def play(self, block: DeviceBlock, first: int, exact: bool = False) -> int:
        """Play rounds of the block from `first` on: as many as one window has.

        Parameters
        ----------
        block : DeviceBlock
            The rounds.
        first : int
            The first of them.
        exact : bool
            True looks at all rows exactly, for one round: this always plays it.

        Returns
        -------
        int
            How many rounds were played; 0 if the first slate could not be told by bounds.
        """
        opened, self.ahead = self.ahead, None
        if exact or opened is None or opened.block is not block or opened.first != first:
            opened = self._open(block, first, exact)
        plan = opened.plan
        self.state.reserve(self.state.n + min(int(plan.slots.sum()), self._left()))
        functions = functions_for(self.tensors.device)
        functions.begin(self)
        functions.play_rounds(self, block, opened.contexts, plan, first)
        functions.finish(self)
        said = Answer(self.meta)
        if self.steady and first + len(plan.slots) < len(block.slots):
            with suppress(torch.OutOfMemoryError):  # said when the window is opened again
                self.ahead = self._open(block, first + len(plan.slots))
        return self._close(said.numbers(), len(plan.slots))

    def _open(self, block: DeviceBlock, first: int, exact: bool = False) -> Opened:
        """Find the candidates of as many rounds as fit into a window, or exactly those of one."""
        plan = self._plan(block, first, 1 if exact else WINDOW)
        contexts = self._contexts(block, plan)
        look = self.tensors, contexts, self.rule.R, self.rule.grid
        if exact:
            self.candidates.find_exactly(*look)
        else:
            self.candidates.find(*look, self.wanted)
        return Opened(block, first, plan, contexts)

    def _close(self, done: list[int], planned: int) -> int:
        """Take over what the device says of the rounds; return how many were played."""
        if done[ERROR]:
            raise DeviceError(
                "programs on the device waited for each other in vain: does something else use all "
                "of it? The learner is between two rounds: load it from a file"
            )
        self.steady = done[DONE] == planned and done[USED] <= self.state.n
        if not self.steady:
            self.ahead = None
        if done[USED] > self.state.n:
            self.state.take_rows(done[USED])
        self.state.undecided += done[UNDECIDED]
        self.head = done[HEAD]
        self._adapt(done[DONE], planned)
        return done[DONE]

    @property
    def tensors(self) -> Tensors:
        """The tensors of the state."""
        return self.state.t

    def _left(self) -> int:
        """How many labels were never shown."""
        return len(self.queue) - self.head

    def _plan(self, block: DeviceBlock, first: int, most: int) -> Plan:
        """The rounds of a window: their contexts, and those for probes, are `WINDOW` at most."""
        slots, probe = block.slots[first : first + most], block.probe[first : first + most]
        contexts = np.arange(1, len(slots) + 1) + np.cumsum(probe)
        shown = np.cumsum(slots)
        rounds = max(1, int(np.sum((contexts <= WINDOW) & (shown <= TOUCHED))))
        slots, probe = slots[:rounds], probe[:rounds]
        main = np.arange(rounds) + np.cumsum(probe) - probe
        probed = np.where(probe, main + 1, -1)
        round_of = np.repeat(np.arange(rounds), 1 + probe)
        is_probe = np.zeros(len(round_of), dtype=np.bool_)
        is_probe[probed[probe]] = True
        return Plan(slots, main, probed, first + round_of, is_probe)

    def _contexts(self, block: DeviceBlock, plan: Plan) -> Contexts:
        spread, cap = block.spread[plan.round_of], np.full(len(plan.round_of), 2.0 * self.rule.R)
        spread[plan.is_probe], cap[plan.is_probe] = self.rule.probe_spread, np.inf
        enough = self._left() > int(plan.slots.sum()) + MOST_SLOTS
        return Contexts.of(block.contexts, plan.round_of, spread, cap, enough)

    def _adapt(self, done: int, planned: int) -> None:
        """Have more candidates if a window ended early, and fewer again if it did not."""
        if done < planned:
            self.wanted = min(2 * self.wanted, LISTED // 2)
        elif self.wanted > WANTED:
            self.wanted -= (self.wanted - WANTED + 7) // 8


class Plan(NamedTuple):
    """The rounds of a window and their contexts, on the host."""

    slots: Ints  # by round
    main: Ints  # by round: its context
    probed: Ints  # by round: its context for a probe, or -1
    round_of: Ints  # by context: its round in the block
    is_probe: Bools  # by context


class Opened(NamedTuple):
    """A window whose candidates have been found, or will be before anything else is done."""

    block: DeviceBlock
    first: int
    plan: Plan
    contexts: Contexts


class Answer:
    """Whole numbers that come from the device as soon as what was asked before is done.

    What is asked of the device afterwards is not waited for.
    """

    def __init__(self, there: Any) -> None:
        self.host, self.event = there, None
        if there.device.type == "cuda":
            self.host = torch.empty(there.shape, dtype=there.dtype, pin_memory=True)
            self.host.copy_(there, non_blocking=True)
            self.event = torch.cuda.Event()
            self.event.record()

    def numbers(self) -> list[int]:
        """Wait for the numbers."""
        if self.event is not None:
            self.event.synchronize()
        return [int(number) for number in self.host.tolist()]


def functions_for(device: Any) -> Any:
    """The functions for this device: Triton's, or their twins in plain torch."""
    if uses_triton(device):
        from semibandit.models.gpu import rounds_triton

        return rounds_triton
    from semibandit.models.gpu import rounds_twin

    return rounds_twin
