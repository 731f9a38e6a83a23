"""One shard: the state of its own labels, behind messages.

A message has the changes that the shard has not been told yet, and a question or none. Changes are
numbered: a shard passes over those that it has made already, so a message may repeat some.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from semibandit._util.arrays import Floats, Ints
from semibandit._util.blas import one_thread
from semibandit._util.numba import has_numba
from semibandit._util.ordering import SCORE_GRID
from semibandit.models.dual import DualState
from semibandit.models.model import NO_NORMS, Arrays, Look, Model, Sparse, State, Vector
from semibandit.models.partial import Aim, BestState, Found, PartialState, prefers_best
from semibandit.models.sharded.selection import best_labels

__all__ = ["Answer", "Change", "Checkpoint", "Goal", "Shard"]

LARGE = 1_000_000  # numbers in the matrices of all labels, from which loading numba pays

Change: TypeAlias = tuple[Any, ...]  # the name of a method of `Shard`, and its arguments
Answer: TypeAlias = tuple[Any, ...]  # arrays by label of the shard, and numbers


class Goal(NamedTuple):
    """An `Aim` without the ties, which the shard has."""

    most: int
    R: float
    spread: float
    without: Ints
    grid: float
    cap: float | None
    turn: float

    def aim(self, tie: Floats) -> Aim:
        """The aim with these ties."""
        return Aim(
            self.most, self.R, self.spread, tie, self.without, self.grid, self.cap, self.turn
        )


class Checkpoint(NamedTuple):
    """A shard at one moment: how many labels it has, and its arrays, or None if it is new."""

    n_labels: int
    arrays: Arrays | None = None


class Shard:
    """The state of some labels. They are numbered from 0 here; the driver knows their rows."""

    state: State

    def __init__(self, *, alone: bool = False) -> None:
        self._alone = alone  # in a process of its own
        if alone:
            one_thread()
        self.done = 0  # changes made so far
        self.tie = NO_NORMS  # the order among equal labels

    # -- messages ------------------------------------------------------------------------------

    def begin(
        self, model: Model, n_features: int, half_life: float | None, checkpoint: Checkpoint,
        first: int, changes: Sequence[Change],
    ) -> float:  # fmt: skip
        """Start, as of a checkpoint, and make the changes since; `first` is the next one's number.

        The grid on which scores are compared is returned.
        """
        self.model, self.n_features, self.half_life = model, n_features, half_life
        self.staged: tuple[State, int] | None = None
        self.state, self.n_labels = self._restored(checkpoint), checkpoint.n_labels
        self.done = first
        if self._alone and self.n_labels * n_features**2 > LARGE and has_numba():
            import semibandit.models.compiled_looks  # noqa: F401  # many looks will follow
        self.tell(first, changes)
        return float(getattr(self.state, "grid", SCORE_GRID))

    def tell(
        self, first: int, changes: Sequence[Change], ask: str | None = None, *args: Any
    ) -> Answer | None:
        """Make the changes that are new, and answer a question: the method of that name."""
        if self._alone:
            changes, args = _own(changes), _own(args)
        for number, (name, *given) in enumerate(changes, first):
            if number >= self.done:
                assert number == self.done, "a change is missing"
                getattr(self, name)(*given)
                self.done += 1
        return None if ask is None else getattr(self, ask)(*args)

    def use_staged(self, first: int) -> None:
        """Go on with what was staged; the number of the next change is given."""
        assert self.staged is not None
        (self.state, self.n_labels), self.staged, self.done = self.staged, None, first

    # -- questions -----------------------------------------------------------------------------

    def look(self, x: Vector) -> Answer:
        """Margins and squared norms of all labels."""
        look = self.state.look(x)
        return look.margin, look.norm2

    def margins(self, x: Vector) -> Answer:
        """Margins of all labels."""
        return (self.state.margins(x).margin,)

    def look_many(self, xs: Sequence[Vector]) -> Answer:
        """Margins and squared norms of all labels, a line per context."""
        return self.state.look_many(xs)

    def look_at(self, x: Vector, labels: Ints) -> Answer:
        """Margins and squared norms of these labels."""
        if isinstance(self.state, PartialState):
            look = self.state.look_at(x, labels)
            return look.margin, look.norm2
        look = self.state.look(x)
        return look.margin[labels], look.norm2[labels]

    def margins_at(self, x: Vector, labels: Ints) -> Answer:
        """Margins of these labels."""
        if isinstance(self.state, PartialState):
            return (self.state.margins_at(x, labels).margin,)
        return (self.state.margins(x).margin[labels],)

    def look_at_many(self, xs: Sequence[Vector], labels: Sequence[Ints]) -> list[Answer]:
        """`look_at` for many contexts, each with its own labels."""
        if isinstance(self.state, PartialState):
            looks = self.state.look_at_many(xs, labels)
            return [(look.margin, look.norm2) for look in looks]
        return [self.look_at(x, some) for x, some in zip(xs, labels, strict=True)]

    def best_many(self, xs: Sequence[Vector], goals: Sequence[Goal], tie: Floats | None) -> Answer:
        """For each context its best labels, with margins and norms, and how many were looked at.

        They are one after the other, with how many there are for each context: a few long arrays
        travel faster than many short ones. `tie` is given if it has changed since the last time.
        """
        self.tie = self.tie if tie is None else tie
        found = self._found(xs, [goal.aim(self.tie) for goal in goals])
        labels, margin, norm2 = (
            np.concatenate(arrays)
            for arrays in zip(
                *((f.labels, f.look.margin, f.look.norm2) for f in found), strict=True
            )
        )
        return labels, margin, norm2, [len(f.labels) for f in found], [f.looked for f in found]

    def _found(self, xs: Sequence[Vector], aims: Sequence[Aim]) -> list[Found]:
        most = max(aim.most for aim in aims)
        if prefers_best(self.state, len(xs), most):
            state = cast(BestState, self.state)
            found = [state.best(xs[0], aims[0])] if len(xs) == 1 else state.best_many(xs, aims)
            return [*map(_only_best, found, aims)]
        found = []
        for x, aim, margin, norm2 in zip(xs, aims, *self.state.look_many(xs), strict=True):
            labels = best_labels(margin, norm2, aim)
            found.append(Found(labels, Look(x, margin[labels], norm2[labels]), len(margin)))
        return found

    def arrays(self) -> Checkpoint:
        """The state, for a file or to be restored from."""
        return Checkpoint(self.n_labels, self.state.arrays())

    def stage(self, checkpoint: Checkpoint) -> None:
        """Make a state of this, for `use_staged`; a `FileError` if it is damaged."""
        self.staged = self._restored(checkpoint), checkpoint.n_labels

    # -- changes -------------------------------------------------------------------------------

    def step(self, x: Vector, moved: Ints, change: Floats, shown: Ints, steps: Floats) -> None:
        """As `State.step`."""
        self.state.step(self._look_for_step(x), moved, change, shown, steps)

    def step_at(self, x: Vector, labels: Ints, change: Floats, steps: Floats) -> None:
        """As `PartialState.step_at`."""
        if isinstance(self.state, PartialState):
            dual = isinstance(self.state, DualState)
            look = self.state.margins_at(x, labels) if dual else _just(x)
            self.state.step_at(look, labels, change, steps)
        else:
            moved = change != 0.0
            look = self._look_for_step(x)
            self.state.step(look, labels[moved], change[moved], labels, steps)

    def add(self, n: int) -> None:
        """Add labels, as at the start."""
        self.state.add(n)
        self.n_labels += n

    def set_half_life(self, half_life: float) -> None:
        """As `ForgettingState.set_half_life`."""
        self.half_life = half_life
        self.state.set_half_life(half_life)  # type: ignore[attr-defined]

    def reset(self, labels: Ints) -> None:
        """Reset these labels to how they were at the start."""
        self.state.reset(labels)

    def advance(self, rounds: int) -> None:
        """Move the clock of a state that forgets."""
        self.state.advance(rounds)  # type: ignore[attr-defined]

    def _restored(self, checkpoint: Checkpoint) -> State:
        state = self.model.start(checkpoint.n_labels, self.n_features)
        if self.half_life is not None:
            state.set_half_life(self.half_life)  # type: ignore[attr-defined]
        if checkpoint.arrays is not None:
            state.restore(_own(checkpoint.arrays) if self._alone else checkpoint.arrays)
        return state

    def _look_for_step(self, x: Vector) -> Look:
        """What `step` needs to know of a context: of a kernel function its values, too."""
        return self.state.margins(x) if isinstance(self.state, DualState) else _just(x)


def _just(x: Vector) -> Look:
    return Look(x, NO_NORMS, NO_NORMS)


def _only_best(found: Found, aim: Aim) -> Found:
    """What was found without those that are not among the best: they need not travel."""
    if len(found.labels) <= aim.most:
        return found
    look, none = found.look, np.empty(0, dtype=np.intp)
    tied = aim._replace(tie=aim.tie[found.labels], without=none)
    best = best_labels(look.margin, look.norm2, tied)
    return Found(
        found.labels[best], Look(look.x, look.margin[best], look.norm2[best]), found.looked
    )


def _own(value: Any) -> Any:
    """The same with arrays that can be written: those of a message that came to us cannot.

    States take over the arrays that they are restored from, and compiled functions would be
    compiled once more for arrays that cannot be written.
    """
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    if isinstance(value, Sparse):
        return Sparse(_own(value.index), _own(value.value), value.size)
    if isinstance(value, dict):
        return {name: _own(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        items = [_own(one) for one in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value
