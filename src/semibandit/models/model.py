"""What a model is: how the weights w_i and matrices A_i of all labels are kept.

A model knows no surrogate, cost or slate. A choice such as `Full()` starts a `State`, which the
learner looks through (`look`) and moves (`step`). Rows are labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from semibandit._util.arrays import Array, Floats, Ints
from semibandit.errors import InputError

__all__ = [
    "Arrays",
    "Look",
    "Model",
    "NO_NORMS",
    "Sparse",
    "State",
    "Vector",
    "dense",
    "one_by_one",
    "take",
]

Arrays: TypeAlias = dict[str, Array]
NO_NORMS: Floats = np.empty(0)


@dataclass(frozen=True, eq=False)
class Sparse:
    """A context by its nonzero entries."""

    index: Ints
    value: Floats
    size: int


Vector: TypeAlias = Floats | Sparse


@dataclass(frozen=True, eq=False)
class Look:
    """A context seen by every label: margins w_i·x and squared norms x·A_i⁻¹x."""

    x: Vector
    margin: Floats
    norm2: Floats  # empty where only margins were asked for
    kernel: Floats | None = None  # Dual: k(points, x)


class State(Protocol):
    """The learned part. `step` computes first and writes last: it happens whole or not at all."""

    def look(self, x: Vector) -> Look: ...

    def margins(self, x: Vector) -> Look:
        """A look without the norms, to the bit: `step` needs no more."""
        ...

    def look_many(self, xs: Sequence[Vector]) -> tuple[Floats, Floats]:
        """Margins and squared norms of many contexts, a row for each: those of `look`, the sums in
        whatever order is fast."""
        ...

    def step(self, look: Look, moved: Ints, change: Floats, shown: Ints, steps: Floats) -> None:
        """Move the margins of labels `moved` by `change` along A⁻¹x (step 2 of Figure 2); then for
        labels `shown` A += x xᵀ and w += steps·A⁻¹x with the new A (step 5)."""
        ...

    def dimension(self, t: int) -> int:
        """The d of the paper's widths in round t."""
        ...

    def add(self, n: int) -> None:
        """n more rows, as at the start."""
        ...

    def forget(self, rows: Ints) -> None:
        """Back to the start for these rows."""
        ...

    def arrays(self) -> Arrays: ...

    def restore(self, arrays: Arrays) -> None: ...


class Model(Protocol):
    """The choice of a model, with its settings."""

    @property
    def sparse(self) -> bool:
        """Whether its states take `Sparse` contexts."""
        ...

    def start(self, n_labels: int, n_features: int) -> State: ...


def one_by_one(state: State, xs: Sequence[Vector]) -> tuple[Floats, Floats]:
    """`look_many` for states that cannot do better."""
    looks = [state.look(x) for x in xs]
    return np.array([look.margin for look in looks]), np.array([look.norm2 for look in looks])


def dense(x: Vector) -> Floats:
    """The context as a plain vector."""
    if isinstance(x, Sparse):
        full = np.zeros(x.size)
        full[x.index] = x.value
        return full
    return x


def take(arrays: Arrays, name: str, shape: tuple[int, ...], dtype: type = np.float64) -> Array:
    """A named array of a snapshot, or an error that says what is wrong with it."""
    if name not in arrays:
        raise InputError(f"the array {name!r} is missing")
    array = arrays[name]
    if array.shape != shape or array.dtype != np.dtype(dtype):
        raise InputError(
            f"the array {name!r} is {array.dtype} of shape {array.shape}, "
            f"expected {np.dtype(dtype)} of shape {shape}"
        )
    return array
