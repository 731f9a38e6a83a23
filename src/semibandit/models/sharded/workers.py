"""Workers: where shards are. Each worker has one shard, and is sent messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from semibandit.models.sharded.shard import Checkpoint, Shard

__all__ = ["LocalWorkers", "WorkerDied", "Workers"]


class WorkerDied(Exception):
    """A worker is gone, and its shard with it: another must be started in its place."""


class Workers(Protocol):
    """Starts workers, and carries messages to their shards; see `Shard`.

    A message is sent without waiting. Messages to one worker arrive in the order in which they
    were sent.
    """

    mortal: bool  # whether a worker may die while this process lives
    in_order: bool  # whether questions, too, are answered in the order in which they were sent

    def start(self, shard: int) -> Any:
        """Start the worker of a shard, without waiting for it."""
        ...

    def send(self, worker: Any, name: str, *args: Any) -> Any:
        """Have the worker's shard call this method; `receive` gives the answer."""
        ...

    def is_ready(self, answer: Any) -> bool:
        """Whether `receive` would not wait."""
        ...

    def receive(self, answer: Any, timeout: float | None) -> Any:
        """The answer to a message, or the exception that the shard raised.

        Raises
        ------
        WorkerDied
            If the worker died before it had answered.
        TimeoutError
            If it has not answered within so many seconds.
        """
        ...

    def share(self, value: Any) -> Any:
        """The value in the form in which it is best sent to many workers."""
        ...

    def keep(self, checkpoint: Checkpoint) -> Callable[[], Checkpoint]:
        """Keep a checkpoint where the death of a worker does not reach it; returns a reader."""
        ...

    def stop(self, worker: Any) -> None:
        """End a worker, whether it lives or not."""
        ...

    def free(self) -> str:
        """What is free for more workers, in words."""
        ...


class LocalWorkers:
    """Shards in this process: plain calls, for one machine without Ray."""

    mortal = False
    in_order = False

    def start(self, shard: int) -> Shard:
        return Shard()

    def send(self, worker: Shard, name: str, *args: Any) -> Callable[[], Any]:
        """Changes are made at once, since their order counts; questions when the answer is read."""
        if name != "tell":
            return partial(getattr(worker, name), *args)
        first, changes, *question = args
        try:
            worker.tell(first, changes)
        except Exception as why:  # whatever it is, it comes out where the answer is read
            return partial(_raise, why)
        return partial(worker.tell, first, (), *question)

    def is_ready(self, answer: Callable[[], Any]) -> bool:
        return True

    def receive(self, answer: Callable[[], Any], timeout: float | None) -> Any:
        return answer()

    def share(self, value: Any) -> Any:
        return value

    def keep(self, checkpoint: Checkpoint) -> Callable[[], Checkpoint]:
        kept = _copied(checkpoint)
        return lambda: _copied(kept)  # who is restored from it takes it over

    def stop(self, worker: Shard) -> None:
        pass

    def free(self) -> str:
        return "this process is all there is"


def _copied(checkpoint: Checkpoint) -> Checkpoint:
    n_labels, arrays = checkpoint
    copied = None if arrays is None else {name: array.copy() for name, array in arrays.items()}
    return Checkpoint(n_labels, copied)


def _raise(why: Exception) -> None:
    raise why
