"""What a model is: how the weights w_i and matrices A_i of all labels are kept.

A model knows no surrogate, cost or slate. A choice such as `Full()` starts a `State`, which the
learner looks at (`look`) and changes (`step`). The label with number i is row i of every array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from semibandit._util.arrays import Array, Floats, Ints
from semibandit.errors import FileError

__all__ = [
    "Arrays",
    "DeterminantState",
    "ForgettingState",
    "Look",
    "Model",
    "NONE",
    "NO_NORMS",
    "Sparse",
    "State",
    "Vector",
    "dense",
    "one_by_one",
    "take",
    "take_index",
    "why_unproven",
]

Arrays: TypeAlias = dict[str, Array]
NO_NORMS: Floats = np.empty(0)
NONE = -1  # in an array of indices: there is none


@dataclass(frozen=True, eq=False)
class Sparse:
    """A context given by its nonzero entries.

    Parameters
    ----------
    index : array of int
        The features that are not zero, each once.
    value : array of float
        Their values.
    size : int
        How many features there are in all.

    Examples
    --------
    >>> dense(Sparse(np.array([2]), np.array([0.5]), 4))
    array([0. , 0. , 0.5, 0. ])
    """

    index: Ints
    value: Floats
    size: int


Vector: TypeAlias = Floats | Sparse


@dataclass(frozen=True, eq=False)
class Look:
    """What a state says of one context x, for every label i.

    Parameters
    ----------
    x : array or Sparse
        The context.
    margin : array of float
        Margins w_i·x.
    norm2 : array of float
        Squared norms x·A_i⁻¹x; empty if only margins were asked for.
    kernel : array of float, optional
        For `Dual`: the values k(points, x) of the kernel function, and last k(x, x).
    """

    x: Vector
    margin: Floats
    norm2: Floats
    kernel: Floats | None = None


class State(Protocol):
    """The learned part of a model: w_i and A_i of every label i.

    `step` computes first and writes last, so that it happens completely or not at all. If your
    own state keeps to these methods, every learner that takes a `model` can use it.
    """

    def look(self, x: Vector) -> Look:
        """Compute margins w_i·x and squared norms x·A_i⁻¹x of all labels.

        Parameters
        ----------
        x : array or Sparse
            A context, which was checked and scaled already.

        Returns
        -------
        Look
            With one margin and one squared norm per label.
        """
        ...

    def margins(self, x: Vector) -> Look:
        """A look without the norms, for `step`.

        What is learned follows from these margins, so their sums should not depend on the CPU
        (`_util/reproducible.py`). Those of `look` may differ by rounding.
        """
        ...

    def look_many(self, xs: Sequence[Vector]) -> tuple[Floats, Floats]:
        """Compute margins and squared norms of many contexts.

        Parameters
        ----------
        xs : sequence of contexts
            At least one.

        Returns
        -------
        margin, norm2 : arrays of float
            Those of `look` up to rounding, one line per context: sums may be in any order.
        """
        ...

    def step(self, look: Look, moved: Ints, change: Floats, shown: Ints, steps: Floats) -> None:
        """Learn from one context: steps 2 and 5 of Figure 2.

        Parameters
        ----------
        look : Look
            The context, as `look` or `margins` of this very state gave it.
        moved, change : arrays
            Labels whose margins are projected, and by how much they move along A⁻¹x.
        shown, steps : arrays
            Labels that are updated: A += x xᵀ, then w += steps·A⁻¹x with the new A.
        """
        ...

    def dimension(self, t: int) -> int:
        """The d of the paper's widths in round t."""
        ...

    def add(self, n: int) -> None:
        """Add n labels, as at the start."""
        ...

    def reset(self, rows: Ints) -> None:
        """Reset these labels to how they were at the start."""
        ...

    def arrays(self) -> Arrays:
        """The state as named arrays, for a file; they may share memory with the state."""
        ...

    def restore(self, arrays: Arrays) -> None:
        """Take over a state that `arrays` gave.

        Raises
        ------
        FileError
            If an array is missing or damaged; the state is then as before.
        """
        ...


@runtime_checkable
class ForgettingState(State, Protocol):
    """A state whose learning can lose its weight over time, for learners with `forget`."""

    def set_half_life(self, half_life: float) -> None:
        """Have what is learned lose half its weight in so many rounds; called at the start."""
        ...

    def advance(self, rounds: int) -> None:
        """Move the clock on: so many rounds have been learned."""
        ...


@runtime_checkable
class DeterminantState(State, Protocol):
    """A state that knows how much each label has seen, for `LogDet`."""

    def log_det(self, labels: Ints | None) -> Floats:
        """Compute ln|A_i| of these labels; None for all."""
        ...


class Model(Protocol):
    """The choice of a model, with its settings: `Full()`, `Diagonal()`, `Dual(...)` or your own.

    Examples
    --------
    >>> from semibandit import Diagonal
    >>> Diagonal().start(n_labels=3, n_features=2).look(np.array([0.6, 0.8])).margin
    array([0., 0., 0.])
    """

    @property
    def sparse(self) -> bool:
        """Whether its states take `Sparse` contexts."""
        ...

    def start(self, n_labels: int, n_features: int) -> State:
        """Start a state in which nothing is learned: w_i = 0 and A_i = I."""
        ...


def why_unproven(model: Model, *, unit_length: bool) -> str | None:
    """Why Lemma 7 does not hold with a model, in words; None if it does.

    A model says so itself, by a property `unproven`; one of your own that has none is taken at the
    worst. With a kernel, `unit_norm` says whether k(x, x) <= 1 for contexts of length up to 1, as
    the width needs with `unit_length`, and `any_length` whether it is so for all contexts.
    """
    why: str | None = getattr(
        model, "unproven", f"the model {model!r} has no `unproven` that says how it keeps A_i"
    )
    if why is None and unit_length and not getattr(model, "unit_norm", True):
        return f"nothing says that k(x, x) <= 1 with the kernel function of {model!r}"
    return why


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
    """A named array of a snapshot; `FileError` if it is missing or of another shape or type."""
    if name not in arrays:
        raise FileError(f"the array {name!r} is missing")
    array = arrays[name]
    if array.shape != shape or array.dtype != np.dtype(dtype):
        raise FileError(
            f"the array {name!r} is {array.dtype} of shape {array.shape}, "
            f"expected {np.dtype(dtype)} of shape {shape}"
        )
    return array


def take_index(
    arrays: Arrays, name: str, size: int, *, limit: int, least: int = 0, once: bool = False
) -> Ints:
    """A named array of whole numbers from `least` to below `limit`; `FileError` if it is not.

    With `once` none may be there twice.
    """
    index = take(arrays, name, (size,), np.int64)
    if np.any(index >= limit) or np.any(index < least):
        raise FileError(f"the array {name!r} has numbers outside of {least}..{limit - 1}")
    if once and len(np.unique(index)) < size:
        raise FileError(f"the array {name!r} has a number twice")
    return index.astype(np.intp)
