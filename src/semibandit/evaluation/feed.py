"""The feed of a replay: blocks of rounds, from arrays, sparse matrices or iterators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandit._util.arrays import Array, Bools, Ints
from semibandit.errors import InputError, UnknownLabel
from semibandit.evaluation.named_contexts import NamedContexts, named_contexts
from semibandit.policies.labels import Label
from semibandit.theory.slate import read_slots

__all__ = ["Block", "Feed"]

BLOCK_ROUNDS = 1024  # the most rounds of a block: many windows, little memory


@dataclass(frozen=True, eq=False)
class Block:
    """A block of consecutive rounds; labels are columns of Y."""

    first: int  # the number of its first round
    X: Any  # contexts, a row each, as they were given
    ptr: Ints  # the relevant columns of row t are columns[ptr[t]:ptr[t + 1]], sorted
    columns: Ints
    slots: Ints
    mask: Bools  # rounds × K, which labels may be shown; empty if all may

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def contexts(self) -> Any:
        """The contexts as `Learner.encode_contexts` takes them."""
        return self.X.content if isinstance(self.X, NamedContexts) else self.X

    def context(self, t: int) -> Any:
        """The context of row t, as `Learner.rank` takes it."""
        return self.X.row(t) if isinstance(self.X, NamedContexts) else self.X[[t]]

    def relevant(self, t: int) -> Ints:
        """The relevant columns of row t, sorted."""
        return self.columns[self.ptr[t] : self.ptr[t + 1]]


class Feed:
    """The blocks of a replay, one after the other.

    Shapes are checked at once, as far as they are known: an iterator shows its blocks only when it
    is asked for them.

    Parameters
    ----------
    X, Y, slots, candidates
        As `replay` takes them.
    labels : list
        The labels of the learner, in the order of Y's columns.
    """

    def __init__(
        self,
        X: Any,
        Y: Any,
        labels: list[Label],
        slots: int | Sequence[int | None] | None,
        candidates: Iterable[Label] | Array | None,
    ) -> None:
        self.labels, self.K = labels, len(labels)
        self._X, self._Y = _source(X, "X"), _source(Y, "Y")
        self.length: int | None = None if isinstance(self._X, Iterator) else int(self._X.shape[0])
        if not isinstance(self._Y, Iterator):
            rows = self._Y.shape[0] if self.length is None else self.length
            if self._Y.shape != (rows, self.K):
                raise InputError(
                    f"Y has shape {self._Y.shape}, but there are {rows} rounds and {self.K} "
                    f"labels: expected ({rows}, {self.K})"
                )
        self._slots = self._read_slots(slots)
        self._mask = self._read_candidates(candidates)
        self.most = (
            int(self._slots.max(initial=0)) if isinstance(self._slots, np.ndarray) else self._slots
        )

    def __iter__(self) -> Iterator[Block]:
        X_reader, Y_reader, first = _Reader(self._X), _Reader(self._Y), 0
        while (X := X_reader.next()) is not None:
            rounds = X.shape[0]
            Y = Y_reader.exactly(rounds, first)
            if Y.shape[1] != self.K:
                raise InputError(f"Y has {Y.shape[1]} columns, the learner {self.K} labels")
            ptr, columns = _relevant(Y, first)
            slots, mask = self._slots_of(first, rounds), self._mask_of(first, rounds)
            yield Block(first, X, ptr, columns, slots, mask)
            first += rounds
        if isinstance(self._slots, np.ndarray) and len(self._slots) != first:
            raise InputError(f"slots has {len(self._slots)} entries for {first} rounds")

    def _read_slots(self, slots: Any) -> Ints | int:
        if isinstance(slots, Sequence | np.ndarray) and not isinstance(slots, str):
            each = [read_slots(s) for s in slots]
            if self.length is not None and len(each) != self.length:
                raise InputError(f"slots has {len(each)} entries for {self.length} rounds")
            return np.array([self.K if s is None else min(s, self.K) for s in each], dtype=np.intp)
        limit = read_slots(slots)
        return self.K if limit is None else min(limit, self.K)

    def _slots_of(self, first: int, rounds: int) -> Ints:
        if isinstance(self._slots, np.ndarray):
            some = self._slots[first : first + rounds]
            if len(some) < rounds:
                raise InputError(
                    f"slots has {len(self._slots)} entries for at least {first + rounds} rounds"
                )
            return some
        return np.full(rounds, self._slots, dtype=np.intp)

    def _read_candidates(self, candidates: Any) -> Bools | None:
        if candidates is None:
            return None
        if isinstance(candidates, np.ndarray) and candidates.ndim == 2:
            expected = (candidates.shape[0] if self.length is None else self.length, self.K)
            if candidates.shape != expected:
                raise InputError(f"candidates has shape {candidates.shape}, expected {expected}")
            return candidates.astype(np.bool_, copy=False)
        allowed = set(candidates)
        unknown = allowed - set(self.labels)
        if unknown:
            raise UnknownLabel(
                f"candidates names {unknown.pop()!r}, which is not a label of the learner"
            )
        return np.array([[label in allowed for label in self.labels]], dtype=np.bool_)

    def _mask_of(self, first: int, rounds: int) -> Bools:
        if self._mask is None:
            return np.empty((0, self.K), dtype=np.bool_)
        if len(self._mask) == 1 and self.length != 1:
            return np.repeat(self._mask, rounds, axis=0)
        return self._mask[first : first + rounds]


class _Reader:
    """Reads rows from a source in order: an iterator of blocks, or anything that can be sliced."""

    def __init__(self, source: Any) -> None:
        self._source, self._at = source, 0
        self._rest: Any = None

    def next(self) -> Any:
        """The next rows, at most BLOCK_ROUNDS, or None at the end."""
        if not isinstance(self._source, Iterator):
            some = self._source[self._at : self._at + BLOCK_ROUNDS]
            self._at += some.shape[0]
            return some if some.shape[0] else None
        while self._rest is None or not self._rest.shape[0]:
            block = next(self._source, None)
            if block is None:
                return None
            self._rest = _rows(block, "a block")
        some, self._rest = self._rest[:BLOCK_ROUNDS], self._rest[BLOCK_ROUNDS:]
        return some

    def exactly(self, rows: int, first: int) -> Any:
        """The next rows, as many as X had, in whatever blocks they come."""
        if not isinstance(self._source, Iterator):
            some = self._source[self._at : self._at + rows]
            self._at += some.shape[0]
        else:
            blocks, have = [], 0
            while have < rows and (block := self.next()) is not None:
                needed = block[: rows - have]
                if needed.shape[0] < block.shape[0]:
                    self._rest = _stack([block[rows - have :], self._rest])
                blocks.append(needed)
                have += needed.shape[0]
            some = _stack(blocks) if blocks else np.empty((0, 0))
        if some.shape[0] < rows:
            raise InputError(f"Y ends after {first + some.shape[0]} rounds, X goes on")
        return some


def _source(data: Any, name: str) -> Any:
    return data if isinstance(data, Iterator) else _rows(data, name)


def _rows(data: Any, name: str) -> Any:
    named = named_contexts(data)
    if named is not None:
        return named
    rows = data.tocsr() if hasattr(data, "tocsr") else np.asanyarray(data)
    if rows.ndim != 2:
        raise InputError(f"{name} must have a row per round, got an array of shape {rows.shape}")
    return rows


def _stack(blocks: list[Any]) -> Any:
    """The blocks below each other, without those that are empty."""
    blocks = [block for block in blocks if block is not None and block.shape[0]]
    if len(blocks) == 1:
        return blocks[0]
    if isinstance(blocks[0], np.ndarray):
        return np.concatenate(blocks)
    from scipy.sparse import vstack

    return vstack(blocks, format="csr")


def _relevant(Y: Any, first: int) -> tuple[Ints, Ints]:
    """The columns that are 1, row by row: pointers and columns, as a CSR matrix has them."""
    if isinstance(Y, np.ndarray):
        rows, columns = np.nonzero(Y)
        values = Y[rows, columns]
        ptr = np.searchsorted(rows, np.arange(len(Y) + 1))
    else:
        Y = Y.copy()
        Y.sum_duplicates()
        Y.eliminate_zeros()
        values, columns, ptr = Y.data, np.asarray(Y.indices, dtype=np.intp), Y.indptr
    if not np.all(values == 1):
        at = int(np.flatnonzero(values != 1)[0])
        row = first + int(np.searchsorted(ptr, at, side="right")) - 1
        raise InputError(f"row {row} of Y holds {values[at]}; relevant labels are 1, others 0")
    return np.asarray(ptr, dtype=np.intp), columns
