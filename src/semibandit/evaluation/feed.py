"""The feed of a replay: rounds by the block, from arrays, sparse matrices or iterators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semibandit._util.arrays import Array, Bools, Ints
from semibandit.errors import InputError
from semibandit.policies.labels import Label
from semibandit.theory.slate import read_slots

__all__ = ["Feed", "Rounds"]

BLOCK = 1024  # rounds in a block: many windows, little memory


@dataclass(frozen=True, eq=False)
class Rounds:
    """A block of rounds; labels are columns of Y."""

    first: int  # the number of its first round
    X: Any  # contexts, a row each, as they came
    ptr: Ints  # the relevant columns of row t are columns[ptr[t]:ptr[t + 1]], sorted
    columns: Ints
    slots: Ints
    mask: Bools  # rows × K, what may be shown; empty for all

    def __len__(self) -> int:
        return len(self.slots)

    def relevant(self, t: int) -> Ints:
        return self.columns[self.ptr[t] : self.ptr[t + 1]]


class Feed:
    """Checks shapes where it can see them, and cuts everything into blocks of the same rounds."""

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

    def __iter__(self) -> Iterator[Rounds]:
        X, Y, first = _Reader(self._X), _Reader(self._Y), 0
        while (some := X.next()) is not None:
            rounds = some.shape[0]
            answers = Y.exactly(rounds, first)
            if answers.shape[1] != self.K:
                raise InputError(f"Y has {answers.shape[1]} columns, the learner {self.K} labels")
            ptr, columns = _relevant(answers, first)
            slots, mask = self._slots_of(first, rounds), self._mask_of(first, rounds)
            yield Rounds(first, some, ptr, columns, slots, mask)
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
                raise InputError(f"slots has {len(self._slots)} entries, the rounds are more")
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
        wanted = set(candidates)
        unknown = wanted - set(self.labels)
        if unknown:
            raise InputError(
                f"candidates names {unknown.pop()!r}, which is no label of the learner"
            )
        return np.array([[label in wanted for label in self.labels]], dtype=np.bool_)

    def _mask_of(self, first: int, rounds: int) -> Bools:
        if self._mask is None:
            return np.empty((0, self.K), dtype=np.bool_)
        if len(self._mask) == 1 and self.length != 1:
            return np.repeat(self._mask, rounds, axis=0)
        return self._mask[first : first + rounds]


class _Reader:
    """Takes rows off a source: blocks as an iterator gives them, slices of anything else."""

    def __init__(self, source: Any) -> None:
        self._source, self._at = source, 0
        self._rest: Any = None

    def next(self) -> Any:
        """The next block of at most BLOCK rows, or None at the end."""
        if not isinstance(self._source, Iterator):
            some = self._source[self._at : self._at + BLOCK]
            self._at += some.shape[0]
            return some if some.shape[0] else None
        while self._rest is None or not self._rest.shape[0]:
            block = next(self._source, None)
            if block is None:
                return None
            self._rest = _rows(block, "a block")
        some, self._rest = self._rest[:BLOCK], self._rest[BLOCK:]
        return some

    def exactly(self, rows: int, first: int) -> Any:
        """As many rows as X had, in whatever blocks they come."""
        if not isinstance(self._source, Iterator):
            some = self._source[self._at : self._at + rows]
            self._at += some.shape[0]
        else:
            parts, have = [], 0
            while have < rows and (block := self.next()) is not None:
                part = block[: rows - have]
                if part.shape[0] < block.shape[0]:
                    self._rest = _stack([block[rows - have :], self._rest])
                parts.append(part)
                have += part.shape[0]
            some = _stack(parts) if parts else np.empty((0, 0))
        if some.shape[0] < rows:
            raise InputError(f"Y ends after {first + some.shape[0]} rounds, X goes on")
        return some


def _source(data: Any, name: str) -> Any:
    return data if isinstance(data, Iterator) else _rows(data, name)


def _rows(data: Any, name: str) -> Any:
    rows = data.tocsr() if hasattr(data, "tocsr") else np.asanyarray(data)
    if rows.ndim != 2:
        raise InputError(f"{name} must have a row per round, got an array of shape {rows.shape}")
    return rows


def _stack(parts: list[Any]) -> Any:
    parts = [part for part in parts if part is not None and part.shape[0]]
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return vstack(parts, format="csr")


def _relevant(Y: Any, first: int) -> tuple[Ints, Ints]:
    """The columns that are 1, row by row; anything but zeros and ones is an error."""
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
