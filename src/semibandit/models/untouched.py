"""Untouched labels in the order of their ties: all are equal, so only the first ones matter."""

from __future__ import annotations

import numpy as np

from semibandit._util.arrays import Floats, Ints

__all__ = ["Untouched"]

SOME = 1024  # labels that are sorted at first, and looked through at a time
NONE: tuple[Floats, Ints, Floats] = np.empty(0), np.empty(0, dtype=np.intp), np.empty(0)


class Untouched:
    """Finds the first untouched labels by their ties, without sorting all labels each time.

    Of the labels only a beginning is sorted, which grows when it is used up. Labels are touched one
    after another, most of them in this order: what was found touched at the beginning is skipped.
    """

    def __init__(self) -> None:
        none = np.empty(0)
        self._known: tuple[Floats, Ints, int] = none, np.empty(0, dtype=np.intp), 0
        self._sorted = NONE

    def first(self, most: int, row_of: Ints, tie: Floats, without: Ints, turn: float = 0.0) -> Ints:
        """The first `most` labels that have no row and are not among `without`, by their ties.

        The order begins at the ties from `turn` on, and goes on with those before.
        """
        if turn:
            return self._from(turn, most, row_of, tie, without)
        known, order, start = self._known
        if known is not tie:
            order, start = _beginning(tie, SOME), 0
        found: list[Ints] = []
        at, missing, leading = start, most, True
        while missing > 0 and (at < len(order) or len(order) < len(tie)):
            if at == len(order):
                order = _beginning(tie, 4 * len(order))
            some = order[at : at + SOME]
            free = some[row_of[some] < 0]
            if leading:
                start = at + (int(np.argmax(row_of[some] < 0)) if len(free) else len(some))
                leading = not len(free)
            found.append(_allowed(free, without)[:missing])
            missing -= len(found[-1])
            at += len(some)
        self._known = tie, order, start
        return np.concatenate(found) if found else order[:0]

    def _from(self, turn: float, most: int, row_of: Ints, tie: Floats, without: Ints) -> Ints:
        """`first` from a turn on: labels are sorted once, touched ones removed now and then."""
        known, order, ties = self._sorted
        if known is not tie:
            order = np.argsort(tie, kind="stable")
            ties = tie[order]
        n, touched, found = len(order), 0, [order[:0]]
        at, missing = int(np.searchsorted(ties, turn)), most
        for first in range(0, n, SOME):
            some = order[np.arange(at + first, at + min(first + SOME, n)) % n]
            free = some[row_of[some] < 0]
            touched += len(some) - len(free)
            found.append(_allowed(free, without)[:missing])
            missing -= len(found[-1])
            if missing <= 0:
                break
        if 2 * touched > n:
            left = row_of[order] < 0
            order, ties = order[left], ties[left]
        self._sorted = tie, order, ties
        return np.concatenate(found)

    def restart(self) -> None:
        """Labels have become untouched again."""
        tie, order, _ = self._known
        self._known = tie, order, 0
        self._sorted = NONE

    def __reduce__(self) -> tuple[type[Untouched], tuple[()]]:
        """For copy and pickle: all of it can be found again."""
        return Untouched, ()


def _allowed(labels: Ints, without: Ints) -> Ints:
    """Those of these labels that are not among `without`, which is sorted."""
    if not len(without):
        return labels
    place = np.searchsorted(without, labels)
    return np.asarray(labels[without[np.minimum(place, len(without) - 1)] != labels])


def _beginning(tie: Floats, size: int) -> Ints:
    """The first labels by their ties, sorted: `size` of them, or all."""
    if size >= len(tie):
        return np.argsort(tie, kind="stable")
    first = np.argpartition(tie, size - 1)[:size]
    return np.asarray(first[np.argsort(tie[first], kind="stable")])
