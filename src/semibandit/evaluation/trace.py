"""The trace of a replay: every slate, what was right in it, and its losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semibandit._util.arrays import Array, Bools, Floats, Ints
from semibandit.errors import InputError
from semibandit.theory.cost import Costs
from semibandit.theory.losses import LOSS_KINDS, LossKind

__all__ = ["Recorder", "Trace", "log_spaced"]


@dataclass(frozen=True, eq=False)
class Trace:
    """T rounds, and for each what every loss is made of.

    Attributes
    ----------
    sizes : array of T ints
        How many labels were shown.
    hit : array of T ints
        How many of them were relevant.
    relevant : array of T ints
        How many labels were relevant, shown or not.
    slots : array of T ints
        The most labels that could be shown.
    wrong : array of T floats
        Σ c(j, s) over the shown labels that were not relevant.
    swaps : array of T ints
        Pairs within the slate with an irrelevant label above a relevant one.
    slates : T×S array of ints or None
        The slates, as positions in the learner's labels, padded with -1; None if they were not
        kept.
    hits : T×S array of bools or None
        Which shown labels were relevant; None if the slates were not kept.
    n_labels : int
        The number of labels K.
    a : float
        The weight of missed labels in the loss "ac".

    Examples
    --------
    >>> import semibandit as sb
    >>> trace = sb.replay(sb.SlateUCB(2, 3), [[1, 0], [0, 1]], [[1, 0, 0], [0, 1, 1]], slots=2)
    >>> len(trace), trace.sizes.tolist(), trace.relevant.tolist()
    (2, [2, 2], [1, 2])
    """

    sizes: Ints
    hit: Ints
    relevant: Ints
    slots: Ints
    wrong: Floats
    swaps: Ints
    slates: Array | None
    hits: Bools | None
    n_labels: int
    a: float

    def __len__(self) -> int:
        return len(self.sizes)

    def losses(self, kind: LossKind = "ac") -> Floats:
        """The loss of every round.

        Parameters
        ----------
        kind : {"ac", "hamming", "rank", "p_rank"}
            ℓ_{a,c}, the Hamming loss, the ranking loss, or the ranking loss of Theorem 3.

        Raises
        ------
        InputError
            If there is no such loss.
        """
        missed, bad = self.relevant - self.hit, self.sizes - self.hit
        loss: Array
        if kind == "ac":
            loss = self.a * missed + (1.0 - self.a) * self.wrong
        elif kind == "hamming":
            loss = missed + bad
        elif kind == "p_rank":
            loss = self.swaps + self.slots * missed
        elif kind == "rank":
            hidden = self.n_labels - self.sizes - missed
            loss = self.swaps + missed * bad + 0.5 * missed * hidden
        else:
            raise InputError(f"kind = {kind!r}, but a loss is one of {', '.join(LOSS_KINDS)}")
        return np.asarray(loss, dtype=np.float64)

    def averages(self, kind: LossKind = "ac") -> Floats:
        """The average loss up to every round."""
        losses = self.losses(kind)
        return np.asarray(np.cumsum(losses) / np.arange(1, len(losses) + 1))

    @property
    def precision(self) -> float:
        """The share of shown labels that were relevant."""
        return float(self.hit.sum()) / max(int(self.sizes.sum()), 1)

    @property
    def recall(self) -> float:
        """The share of relevant labels that were shown."""
        return float(self.hit.sum()) / max(int(self.relevant.sum()), 1)


def log_spaced(T: int, most: int) -> Ints:
    """Up to `most` of the rounds 1..T, evenly spaced on a logarithmic axis: the points of a curve.

    >>> log_spaced(1000, 4).tolist()
    [1, 10, 100, 1000]
    """
    if not T:
        return np.empty(0, dtype=np.intp)
    return np.unique(np.geomspace(1, T, most).round().astype(np.intp))


class Recorder:
    """Collects rounds, a block at a time, into a trace."""

    def __init__(self, n_labels: int, a: float, cost: Costs, *, keep_slates: bool = True) -> None:
        self.n_labels, self.a, self.cost, self.keep = n_labels, a, cost, keep_slates
        self._numbers: list[tuple[Array, ...]] = []
        self._slates: list[tuple[Array, Bools]] = []

    def add(self, slates: Array, hits: Bools, sizes: Ints, relevant: Ints, slots: Ints) -> None:
        """Add a block of rounds: slates (one row each) padded with -1, hits False beyond them."""
        width = int(sizes.max(initial=0))
        slates, hits = slates[:, :width], hits[:, :width]
        shown = np.arange(width) < sizes[:, None]
        swaps = (np.cumsum(shown & ~hits, axis=1) * hits).sum(axis=1)
        wrong = np.zeros(len(sizes))
        for s in np.unique(sizes[sizes > 0]):
            same = sizes == s
            wrong[same] = (~hits[same, :s]) @ self.cost.row(int(s))
        limit = np.minimum(slots, self.n_labels)
        self._numbers.append((sizes, hits.sum(axis=1), relevant, limit, wrong, swaps))
        if self.keep:
            self._slates.append((slates.astype(np.int32), hits.copy()))

    def add_round(self, shown: Ints, hit: Bools, relevant: int, slots: int | None) -> None:
        """Add one round: what was shown, which of it was relevant, how much was, and the slots."""
        limit = self.n_labels if slots is None else slots
        sizes, counts, limits = (np.array([n]) for n in (len(shown), relevant, limit))
        self.add(shown[None, :], hit[None, :], sizes, counts, limits)

    def trace(self) -> Trace:
        """The trace of all rounds so far."""
        empty = [(np.empty(0, dtype=np.intp),) * 6]
        columns = [np.concatenate(some) for some in zip(*(self._numbers or empty), strict=True)]
        slates, hits = _padded(self._slates) if self.keep else (None, None)
        return Trace(*columns, slates, hits, self.n_labels, self.a)  # type: ignore[call-arg, arg-type]


def _padded(blocks: list[tuple[Array, Bools]]) -> tuple[Array, Bools]:
    """The slates of all blocks below each other, as wide as the widest."""
    T = sum(len(slates) for slates, _ in blocks)
    width = max((slates.shape[1] for slates, _ in blocks), default=0)
    slates, hits = np.full((T, width), -1, dtype=np.int32), np.zeros((T, width), dtype=np.bool_)
    first = 0
    for some, right in blocks:
        end = first + len(some)
        slates[first:end, : some.shape[1]], hits[first:end, : some.shape[1]] = some, right
        first = end
    return slates, hits
