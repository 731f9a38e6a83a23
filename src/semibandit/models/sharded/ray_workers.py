"""Workers that are Ray actors: a process each, anywhere in a cluster."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from semibandit._util.checks import shortened
from semibandit._util.npz import save_npz
from semibandit._util.ray_cluster import connect_ray
from semibandit.errors import ClusterError, InputError
from semibandit.models.sharded.shard import Checkpoint, Shard
from semibandit.models.sharded.workers import WorkerDied

__all__ = ["RayWorkers"]

INLINE = 100_000  # bytes up to which Ray sends an argument with its message


class RayWorkers:
    """One actor for each shard.

    Ray does not restart actors that die: what they knew would be gone. The driver starts another
    one, and tells it all (`ShardedState`).

    Parameters
    ----------
    shards : int
        How many there will be.
    address : str, optional
        The cluster; see `connect_ray`.
    actor_options : mapping, optional
        For `ray.remote`: num_cpus (1 by default), num_gpus, resources, ...

    Raises
    ------
    InputError
        If Ray does not take the options.
    ClusterError
        If the cluster cannot be reached, or is too small for so many shards.
    """

    mortal = True
    in_order = True

    def __init__(
        self, shards: int, address: str | None = None,
        actor_options: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._ray = connect_ray(address, "a learner whose shards are on Ray")[0]
        options = {"num_cpus": 1, **(actor_options or {}), "max_restarts": 0}
        try:
            self._actor = self._ray.remote(Shard).options(**options)
        except (TypeError, ValueError) as why:  # Ray's own checks of its options
            raise InputError(f"ray_actor_options = {shortened(actor_options)}: {why}") from None
        self._check_room(shards, options)

    def start(self, shard: int) -> Any:
        return self._actor.remote(alone=True)

    def send(self, worker: Any, name: str, *args: Any) -> Any:
        return getattr(worker, name).remote(*args)

    def is_ready(self, answer: Any) -> bool:
        return bool(self._ray.wait([answer], timeout=0)[0])

    def receive(self, answer: Any, timeout: float | None) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(answer, timeout=timeout)
        except errors.RayTaskError as why:  # what the shard itself raised
            raise why.cause from None
        except errors.GetTimeoutError:
            raise TimeoutError from None
        except errors.RayError as why:
            raise WorkerDied(str(why)) from None

    def share(self, value: Any) -> Any:
        large = isinstance(value, np.ndarray) and value.nbytes > INLINE
        return self._ray.put(value) if large else value

    def keep(self, checkpoint: Checkpoint) -> Callable[[], Checkpoint]:
        """In a file of the driver's machine that has no name, so that it goes with the process.

        The driver's memory may be too small for all shards, and Ray's object store loses what is
        on a machine that is lost.
        """
        return (lambda: checkpoint) if checkpoint.arrays is None else CheckpointFile(checkpoint)

    def stop(self, worker: Any) -> None:
        self._ray.kill(worker, no_restart=True)

    def free(self) -> str:
        free = self._ray.available_resources()
        return f"{free.get('CPU', 0):g} CPUs and {free.get('GPU', 0):g} GPUs are free"

    def _check_room(self, shards: int, options: Mapping[str, Any]) -> None:
        """Refuse a cluster that could never hold all shards: Ray would wait for more for ever."""
        needs = {"CPU": options["num_cpus"], "GPU": options.get("num_gpus") or 0}
        needs |= options.get("resources") or {}
        there = self._ray.cluster_resources()
        for name, each in needs.items():
            if each and there.get(name, 0.0) < each * shards:
                raise ClusterError(
                    f"{shards} shards need {each * shards:g} {name}, and this Ray cluster has "
                    f"{there.get(name, 0.0):g}: take fewer shards, or less for each by "
                    f"ray_actor_options"
                )


class CheckpointFile:
    """A checkpoint in a file without a name; called, it reads it."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        assert checkpoint.arrays is not None
        self._n_labels = checkpoint.n_labels
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # it is read later, if at all
        save_npz(self._file, checkpoint.arrays)

    def __call__(self) -> Checkpoint:
        self._file.seek(0)
        with np.load(self._file, allow_pickle=False) as archive:
            return Checkpoint(self._n_labels, {name: archive[name] for name in archive.files})

    def __del__(self) -> None:
        with suppress(AttributeError):  # the disk was full before there was a file
            self._file.close()
