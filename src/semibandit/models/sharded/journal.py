"""What a shard was told, so that another can be made in its place: the same to the bit."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeAlias

from semibandit.models.sharded.shard import Change, Checkpoint

__all__ = ["Journal", "Kept"]

log = logging.getLogger("semibandit")

Kept: TypeAlias = Callable[[], Checkpoint]  # reads a checkpoint that is kept somewhere


class Journal:
    """A checkpoint of a shard, and the changes since.

    Changes have numbers, from 0 on. Those before `told` were sent to the shard that is there now.

    Parameters
    ----------
    start : function
        Reads how the shard begins.
    """

    def __init__(self, start: Kept) -> None:
        self.checkpoint = start
        self.first = self.told = 0  # the numbers of the first change, and of the first not sent
        self.changes: list[Change] = []
        self.next: tuple[int, Future[Kept]] | None = None  # a checkpoint in the making
        self.failures = 0  # checkpoints in a row that could not be made

    @property
    def end(self) -> int:
        """The number of the next change."""
        return self.first + len(self.changes)

    def add(self, change: Change) -> None:
        """One more change, which the shard is to make."""
        untold = self.end > self.told
        if untold and change[0] == self.changes[-1][0] == "advance":
            self.changes[-1] = ("advance", self.changes[-1][1] + change[1])
        else:
            self.changes.append(change)

    def is_long(self, changes: int) -> bool:
        """Whether it is time for a checkpoint, if one is made after so many changes."""
        return self.next is None and len(self.changes) >= changes * (1 + self.failures)

    def withdraw(self) -> None:
        """The last change was refused: it has never been."""
        del self.changes[-1]
        self.told = min(self.told, self.end)

    def untold(self) -> tuple[int, list[Change]]:
        """The number of the first change that was not sent yet, and all of these."""
        return self.told, self.changes[self.told - self.first :]

    def forget(self) -> None:
        """Drop what was sent, for a shard that cannot be lost."""
        self._drop(self.told)

    def restart_from(self, checkpoint: Kept) -> None:
        """The shard is as this checkpoint says, and all changes before it are of no use."""
        self.checkpoint, self.next = checkpoint, None
        self.told = self.end
        self._drop(self.end)

    def take_over_next(self) -> None:
        """Go on from the checkpoint that was in the making, if it is complete by now."""
        if self.next is None or not self.next[1].done():
            return
        (number, made), self.next = self.next, None
        why = made.exception()
        if why is None:
            self.checkpoint, self.failures = made.result(), 0
            self._drop(number)
        else:
            self.failures += 1
            log.warning("a checkpoint of a shard could not be made, and is tried again: %r", why)

    def _drop(self, number: int) -> None:
        """Drop the changes before this number."""
        del self.changes[: number - self.first]
        self.first = number
