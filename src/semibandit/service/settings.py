"""How a service runs: what may be set, and the limits on requests."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from semibandit.errors import InputError

__all__ = ["Limits", "Settings"]


@dataclass(frozen=True)
class Limits:
    """How much a request may ask for, and how many may wait.

    Parameters
    ----------
    body : int
        Bytes of a request's body.
    batch : int
        Requests in one batch.
    slots : int
        Slots of a request.
    labels : int
        Labels that the learner may have.
    queue : int
        Requests that wait to be answered; more are told to come again.
    backlog : int
        Events in the log that are not yet learned; more feedback is told to come again.
    """

    body: int = 1 << 20
    batch: int = 256
    slots: int = 1000
    labels: int = 100_000
    queue: int = 1024
    backlog: int = 10_000


@dataclass(frozen=True)
class Settings:
    """How a service runs; what its learner is, the store knows.

    Parameters
    ----------
    wait : float, optional
        Seconds after which a decision without feedback counts as nothing clicked. By default such
        a decision is not learned from, and feedback may come at any time.
    snapshot_every : int
        Events learned between two snapshots of the learner.
    api_key : str, optional
        The key that every request must have.
    read_key : str, optional
        A second key that may only read.
    limits : Limits
        How much a request may ask for, and how many may wait.

    Raises
    ------
    InputError
        If a value cannot be used.
    """

    wait: float | None = None
    snapshot_every: int = 5000
    api_key: str | None = None
    read_key: str | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.wait is not None and not 0 < self.wait < math.inf:
            raise InputError(f"wait = {self.wait!r}, but it must be a number of seconds above 0")
        if self.snapshot_every < 1:
            raise InputError(f"snapshot_every = {self.snapshot_every}, but it must be at least 1")
        for name in ("api_key", "read_key"):
            key = getattr(self, name)
            if key is not None and (not key or not key.isascii() or not key.isprintable()):
                raise InputError(f"{name} must be printable ASCII, and not empty")
        if self.read_key is not None and self.api_key is None:
            raise InputError("a read_key without an api_key would leave writing open to everyone")
        if self.read_key is not None and self.read_key == self.api_key:
            raise InputError("read_key and api_key are the same: then there is no read-only key")
