"""Where shards are, and what happens if one is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from semibandit._util.checks import is_number, shortened, whole_number
from semibandit.errors import InputError
from semibandit.models.sharded.workers import LocalWorkers, Workers

__all__ = ["Shards"]

WHERE = ("ray", "here")
MISSING = ("wait", "raise", "answer")


@dataclass(frozen=True)
class Shards:
    """How many shards the labels of a learner are divided among, where, and what if one is lost.

    Parameters
    ----------
    n : int
        How many shards. There may be more than labels: some have none then.
    on : {"ray", "here"}
        "ray": each is an actor of a Ray cluster. "here": all are in this process.
    address : str, optional
        The Ray cluster, such as "10.0.0.1:6379". By default the one that this process is connected
        to, or that of RAY_ADDRESS or `ray start`; or else one that is started on this machine.
    ray_actor_options : mapping, optional
        For `ray.remote`: num_cpus (1 by default), num_gpus, resources, ...
    missing : {"wait", "raise", "answer"}
        What happens while a shard that died is restored. "wait": whatever needs it waits, up to
        `timeout`, and then raises `ShardLost`. "raise": it raises that at once. "answer": `rank`
        and `rank_many` decide among the labels of the other shards, and `Slate.missing` says how
        many labels were left out; with candidates, and for learners that look at all labels
        (`Thompson`, `EpsilonGreedy`, `Confidit`), they wait. Learning raises.
    timeout : float
        Seconds that a shard may take to start, or to answer.
    checkpoint_every : int
        Changes after which the driver writes a checkpoint of a shard to a temporary file. Those
        since are kept in its memory: together they restore a shard that died, to the bit.

    Raises
    ------
    InputError
        If a value cannot be used.

    Examples
    --------
    >>> Shards(8, on="ray", ray_actor_options={"num_gpus": 1}).n
    8
    """

    n: int
    on: str = "ray"
    address: str | None = None
    ray_actor_options: Mapping[str, Any] = field(default_factory=dict)
    missing: str = "wait"
    timeout: float = 60.0
    checkpoint_every: int = 10_000

    def __post_init__(self) -> None:
        whole_number("shards", self.n, least=1)
        whole_number("checkpoint_every", self.checkpoint_every, least=1)
        for name, known in (("on", WHERE), ("missing", MISSING)):
            value = getattr(self, name)
            if value not in known:
                words = " or ".join(repr(word) for word in known)
                raise InputError(f"{name} = {shortened(value)}, but it must be {words}")
        if not is_number(self.timeout) or not self.timeout > 0:
            raise InputError(
                f"timeout = {shortened(self.timeout)}, but it must be a number of seconds above 0"
            )
        if not isinstance(self.ray_actor_options, Mapping):
            raise InputError(
                f"ray_actor_options = {shortened(self.ray_actor_options)}, but they must be a "
                "mapping such as {'num_gpus': 1}"
            )
        if self.on == "here" and (self.address is not None or self.ray_actor_options):
            raise InputError("on = 'here' takes neither an address nor ray_actor_options")

    def connect(self) -> None:
        """Connect this process to the cluster of the shards; raises what `workers` would."""
        self.workers()

    def workers(self) -> Workers:
        """Where the shards will be.

        Raises
        ------
        MissingExtra
            If Ray is needed and not installed.
        ClusterError
            If the cluster cannot be reached, or is too small for so many shards.
        """
        if self.on == "here":
            return LocalWorkers()
        from semibandit.models.sharded.ray_workers import RayWorkers

        return RayWorkers(self.n, self.address, self.ray_actor_options)
