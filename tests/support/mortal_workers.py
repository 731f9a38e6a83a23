"""Workers in this process that die: at random, or when they are told to."""

from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np

from semibandit.models.sharded.placement import Shards
from semibandit.models.sharded.shard import Checkpoint, Shard
from semibandit.models.sharded.workers import LocalWorkers, WorkerDied


@dataclass
class Worker:
    shard: Shard = field(default_factory=Shard)
    alive: bool = True
    slow: bool = False  # it is not ready before the test says so


class MortalWorkers(LocalWorkers):
    """A message may find its worker dead, or kill it before or after it has done its work."""

    mortal = True
    in_order = True

    def __init__(self, deaths=0.0, seed=0):
        self.deaths, self.random = deaths, np.random.default_rng(seed)
        self.started, self.died = [], 0
        self.restoring = False  # whether workers that are started now are not ready yet

    def start(self, shard):
        self.started.append(Worker(slow=self.restoring))
        return self.started[-1]

    def stop(self, worker):
        worker.alive = False

    def send(self, worker, name, *args):
        """Messages are carried out at once, and answers received later: checkpoints as copies."""
        if self.random.random() < self.deaths / 2:
            self.kill(worker)
        try:
            done = worker.alive and super().send(worker.shard, name, *args)()
            done = deepcopy(done) if isinstance(done, Checkpoint) else done
        except Exception as why:
            done = why
        if self.random.random() < self.deaths / 2:
            self.kill(worker)
        return worker, done, worker.alive

    def is_ready(self, answer):
        return not (answer[0].slow and self.restoring)

    def receive(self, answer, timeout):
        worker, done, was_alive = answer
        if not was_alive:
            raise WorkerDied
        if worker.slow and self.restoring:
            raise TimeoutError
        if isinstance(done, Exception):
            raise done
        return done

    def kill(self, worker):
        self.died += worker.alive
        worker.alive = False


def use_workers(monkeypatch, workers):
    """Have all shards of this test on these workers."""
    monkeypatch.setattr(Shards, "workers", lambda self: workers)
    return workers
