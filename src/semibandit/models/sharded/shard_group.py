"""All shards of a state: here they are asked and told, and those that die are replaced.

Changes are written to a journal first, and then sent. A shard that dies is started anew from its
last checkpoint and the changes since, and is then the same to the bit. So a change that is in the
journals of its shards has happened, whoever dies meanwhile.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import RLock
from typing import Any, TypeAlias

from semibandit.errors import ClusterError, ShardLost
from semibandit.models.dual import Dual
from semibandit.models.model import Model
from semibandit.models.sharded.journal import Journal, Kept
from semibandit.models.sharded.placement import Shards
from semibandit.models.sharded.shard import Change, Checkpoint
from semibandit.models.sharded.workers import WorkerDied

__all__ = ["ShardGroup"]

log = logging.getLogger("semibandit")
ATTEMPTS = 5  # workers of one shard that may die while one question is asked

# What to ask a shard, by its number and its worker: the name of a method, and its arguments.
Question: TypeAlias = Callable[[int, Any], tuple[Any, ...]]


class ShardGroup:
    """The shards, by their numbers from 0 on.

    Questions may be asked in many threads at once; changes are told while nobody asks.

    Parameters
    ----------
    model : Model
        What each shard starts.
    shards : Shards
        How many, and where.
    sizes : sequence of int
        How many labels each has.
    n_features : int
        How many numbers a context has.

    Raises
    ------
    ClusterError
        If the cluster cannot be reached, or if the shards do not start within the timeout.
    """

    def __init__(self, model: Model, shards: Shards, sizes: Sequence[int], n_features: int) -> None:
        self._model, self._shards, self._n_features = model, shards, n_features
        self._half_life: float | None = None
        self._workers = shards.workers()
        self.in_order = self._workers.in_order
        # a kernel function of the user's own may refuse a step that other shards have made
        self._can_refuse = isinstance(model, Dual)
        self._keeps_all = self._workers.mortal or self._can_refuse
        self._journals = [Journal(self._workers.keep(Checkpoint(size))) for size in sizes]
        self._guard = RLock()  # held while messages are sent, and workers replaced
        self._background = ThreadPoolExecutor(1, "checkpoints") if self._workers.mortal else None
        self._live: list[Any] = [self._workers.start(i) for i in range(shards.n)]
        self._starting: list[Any] = [self._begin(i) for i in range(shards.n)]
        self._told: dict[int, tuple[Any, Any]] = {}  # what was not yet waited for: worker, answer
        self.grid = self._started()

    def ask(
        self, which: Iterable[int], question: Question, missing: str = "wait"
    ) -> dict[int, Any]:
        """Ask these shards, all at once, and give their answers by shard.

        Parameters
        ----------
        which : iterable of int
            Whom to ask.
        question : function
            What to ask each of them.
        missing : {"wait", "raise", "answer"}
            What to do about a shard that is lost, as in `Shards`: "answer" leaves it out.

        Raises
        ------
        ShardLost
            If a shard that is needed does not answer.
        """
        waits, deadline = missing == "wait", time.monotonic() + self._shards.timeout
        to_ask, answers = list(which), dict[int, Any]()
        for _ in range(ATTEMPTS):
            asked = [i for i in to_ask if waits or self._is_back(i)]
            sent = {i: self._send(i, question) for i in asked}
            for i, (worker, answer) in sent.items():
                try:
                    answers[i] = self._receive(i, worker, answer, deadline)
                except WorkerDied:
                    self._replace(i, worker)
            to_ask = [i for i in to_ask if i not in answers]
            if not to_ask or missing == "answer":
                return answers
            if not waits:
                raise ShardLost(self._restoring(to_ask[0]))
        raise ShardLost(f"{self._called(to_ask[0])} has died {ATTEMPTS} times while it was asked")

    @property
    def problem(self) -> str | None:
        """Which shard has died and is not there again; None if all are there."""
        lost = next((i for i in range(self._shards.n) if not self._is_back(i)), None)
        return None if lost is None else self._restoring(lost)

    def share(self, value: Any) -> Any:
        """The value in the form in which it is best sent to many shards."""
        return self._workers.share(value)

    def tell(self, changes: Mapping[int, Change]) -> None:
        """Have these shards change, each as it is told: all of them, or if one refuses, none.

        If none can refuse, they are not waited for: they do it before anything that they are asked.
        """
        for i in changes:
            self._finish(i)
        for i, change in changes.items():
            self._journals[i].add(change)
        self._told |= {i: self._send(i, None) for i in changes}
        if self._can_refuse:
            try:
                for i in changes:
                    self._finish(i)
            except Exception:
                for i in changes:
                    self._withdraw(i)
                raise
        for i in changes:
            self._tidy(i)

    def _finish(self, i: int) -> None:
        """Wait until a shard has done what it was told last; if it dies, the journal has it."""
        worker, answer = self._told.pop(i, (None, None))
        try:
            if worker is self._live[i]:
                self._receive(i, worker, answer, time.monotonic() + self._shards.timeout)
        except WorkerDied:
            self._replace(i, worker)
        except ShardLost:  # it will do it
            self._told[i] = worker, answer

    def tell_later(self, change: Change) -> None:
        """Have all shards change before they are asked or told anything else."""
        for journal in self._journals:
            journal.add(change)

    def restore(self, checkpoints: Sequence[Checkpoint]) -> None:
        """Go on from these, one for each shard; if one of them is damaged, everything stays."""
        self.ask(range(self._shards.n), lambda i, _: ("stage", checkpoints[i]))
        kept = [self._workers.keep(one) for one in checkpoints] if self._keeps_all else []
        for i, journal in enumerate(self._journals):
            journal.restart_from(kept[i] if kept else journal.checkpoint)
        deadline = time.monotonic() + self._shards.timeout
        for i, journal in enumerate(self._journals):
            worker = self._live[i]
            try:
                answer = self._workers.send(worker, "use_staged", journal.first)
                self._receive(i, worker, answer, deadline)
            except WorkerDied:
                self._replace(i, worker)

    def set_half_life(self, half_life: float) -> None:
        """Have all shards forget from now on."""
        self._half_life = half_life
        self.tell(dict.fromkeys(range(self._shards.n), ("set_half_life", half_life)))

    # -- messages ------------------------------------------------------------------------------

    def _send(self, i: int, question: Question | None) -> tuple[Any, Any]:
        """Send a shard the changes that it does not know yet, and a question; without waiting."""
        with self._guard:
            worker, journal = self._live[i], self._journals[i]
            asked = () if question is None else question(i, worker)
            answer = self._workers.send(worker, "tell", *journal.untold(), *asked)
            journal.told = journal.end
            return worker, answer

    def _receive(self, i: int, worker: Any, answer: Any, deadline: float) -> Any:
        """The answer of a shard; if it was replaced, it must have been restored before."""
        starting = self._starting[i] if self._live[i] is worker else None
        try:
            for one in (starting, answer):
                if one is not None:
                    got = self._workers.receive(one, max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            raise ShardLost(
                f"{self._called(i)} has not answered for {self._shards.timeout:g} s"
            ) from None
        with self._guard:
            if starting is not None and self._starting[i] is starting:
                self._starting[i] = None
        return got

    # -- starting and replacing ----------------------------------------------------------------

    def _begin(self, i: int) -> Any:
        """Send the worker of a shard all that it has to know."""
        journal = self._journals[i]
        known = self._model, self._n_features, self._half_life, journal.checkpoint()
        answer = self._workers.send(self._live[i], "begin", *known, journal.first, journal.changes)
        journal.told = journal.end
        return answer

    def _started(self) -> float:
        """Wait until all shards are there; the grid on which they compare scores."""
        deadline = time.monotonic() + self._shards.timeout
        try:
            answers = zip(self._live, list(self._starting), strict=True)
            grids = [
                self._receive(i, worker, one, deadline) for i, (worker, one) in enumerate(answers)
            ]
        except BaseException as why:
            for worker in self._live:
                self._workers.stop(worker)
            if isinstance(why, ShardLost | WorkerDied):
                raise ClusterError(
                    f"{self._shards.n} shards could not be started: {why}; now "
                    f"{self._workers.free()}"
                ) from None
            raise
        return float(grids[0])

    def _is_back(self, i: int) -> bool:
        """Whether a shard is there; one that was replaced may not have been restored yet."""
        with self._guard:
            starting = self._starting[i]
            if starting is not None and self._workers.is_ready(starting):
                try:
                    self._workers.receive(starting, None)
                    self._starting[i] = None
                except WorkerDied:
                    self._replace(i, self._live[i])
            return self._starting[i] is None

    def _replace(self, i: int, worker: Any) -> None:
        """Start another worker for a shard, unless this was done already; without waiting."""
        with self._guard:
            if self._live[i] is worker:
                log.warning("%s is started anew, and told all that it knew", self._called(i))
                self._workers.stop(worker)
                self._live[i] = self._workers.start(i)
                self._starting[i] = self._begin(i)

    def _withdraw(self, i: int) -> None:
        """Undo the last change of a shard, since another has refused its part of it."""
        self._told.pop(i, None)
        self._journals[i].withdraw()
        self._replace(i, self._live[i])

    def _tidy(self, i: int) -> None:
        """Keep the journal of a shard short: have a checkpoint made in the background."""
        journal = self._journals[i]
        if not self._keeps_all:
            journal.forget()
            return
        journal.take_over_next()
        if not journal.is_long(self._shards.checkpoint_every):
            return
        _, answer = self._send(i, lambda i, worker: ("arrays",))
        if self._background is None:
            journal.restart_from(self._keep(answer))
        else:
            journal.next = journal.told, self._background.submit(self._keep, answer)

    def _keep(self, answer: Any) -> Kept:
        return self._workers.keep(self._workers.receive(answer, None))

    def _restoring(self, i: int) -> str:
        return f"{self._called(i)} has died and is being restored"

    def _called(self, i: int) -> str:
        return f"shard {i} of {self._shards.n}"
